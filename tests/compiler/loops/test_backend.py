"""A compiled graph gives what eager mode gives, in C++ and in NumPy: values, strides, dtypes and gradients."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch as torch
from glasstorch._inductor.compile_fx import compile_fx
from glasstorch.compiler.loops import backend
from glasstorch.compiler.loops.backend import CompiledFxGraph
from glasstorch.devices.cpp_compiler import CompileError
from glasstorch.fx.experimental.proxy_tensor import make_fx

F = torch.nn.functional


def without_compiler(*given: object) -> None:
    raise CompileError("no compiler was found")


@pytest.fixture(params=["cpp", "numpy"])
def language(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "numpy":
        monkeypatch.setattr(backend, "compiled", without_compiler)
        monkeypatch.setattr(backend, "tell_once", lambda why: None)
    return request.param


def graph(f: Callable[..., Any], *args: Any) -> CompiledFxGraph:
    return CompiledFxGraph(make_fx(f, tracing_mode="fake")(*args))


def check(f: Callable[..., Any], *args: Any) -> CompiledFxGraph:
    """Compile, run and compare; a function of tensors that gives one or several."""
    compiled = graph(f, *args)
    found, wanted = compiled(list(args)), f(*args)
    wanted = wanted if isinstance(wanted, tuple | list) else [wanted]
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype is other.dtype
        assert one.shape == other.shape
        assert other.numel() == 0 or one.stride() == other.stride()
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6, equal_nan=True)
    return compiled


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "chain": lambda x, y: torch.sin(x) * 2 + torch.exp(-x * x),
    "broadcast": lambda x, y: x[:, :1] * y[0] + torch.tanh(y),
    "views": lambda x, y: (x.t()[1:, ::2] + 1, x.reshape(-1)[3:], y.unsqueeze(0).expand(2, 6, 10).neg()),
    "transposed": lambda x, y: x.t().contiguous() + y.t().exp(),
    "softmax": lambda x, y: (torch.softmax(x, 1), torch.softmax(x, 0), torch.log_softmax(x + y, -1)),
    "layer_norm": lambda x, y: F.layer_norm(x, (10,), y[0], y[1]) * y,
    "reductions": lambda x, y: (x.sum(), x.sum(0), x.mean(1), x.amax((0, 1)), y.amin(1), (x * y).prod(0)),
    "truth": lambda x, y: ((x > y).any(1), (x > -9).all(), (x > 0).sum(), torch.logical_not(x > 0)),
    "variance": lambda x, y: (x.var(1), x.var(), torch.var_mean(y, 0, correction=0)[1]),
    "matmul": lambda x, y: F.gelu(x @ y.t() + 1) @ x,
    "integers": lambda x, y: ((x * 10).int() + 3, (x * 10).long().sum(1), (x * 5).int() & 3),
    "doubles": lambda x, y: (x.double() + y, torch.log1p(x.double().abs()).mean()),
    "half": lambda x, y: (x.half() * y.half() + 1, (x.bfloat16() * 3).sum(1), x.half().float()),
    "filled": lambda x, y: (torch.zeros_like(x) + y, torch.full((3, 4), 2.5) * 2, x * 0 + torch.ones(10)),
    "twice": lambda x, y: [z := x + y, z, z.view(-1)],
    "where": lambda x, y: torch.where(x > 0, x, y * torch.nan).clamp(-1, 1),
    "nothing": lambda x, y: (x[:0] + 1, x[:0].sum(0), x[:, :0].exp().sum()),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str, language: str) -> None:
    torch.manual_seed(3)
    check(PROGRAMS[name], torch.randn(6, 10), torch.randn(6, 10))


def test_large_tensors_are_divided_between_threads(language: str) -> None:
    torch.manual_seed(4)
    x = torch.randn(300, 401)
    check(lambda x: (x.exp() + 1, x.sum(0), x.t().softmax(0), (x * x).flatten() - 1), x)
    found, wanted = graph(lambda x: (x * x).sum(), x)([x]), (x * x).sum()
    torch.testing.assert_close(found[0], wanted, rtol=1e-5, atol=0.0)


def test_nan_and_infinities_stay(language: str) -> None:
    x = torch.tensor([[1.0, torch.nan, 2.0], [torch.inf, -torch.inf, 0.0]])
    check(lambda x: (x.amax(1), x.amin(1), x.softmax(1), torch.maximum(x, x * 0), x.exp(), x.tanh(), x.sum(1)), x)


def test_gradients(language: str) -> None:
    def f(x: Any, w: Any) -> Any:
        return (F.layer_norm(F.gelu(x @ w), (5,)).log_softmax(-1),)

    torch.manual_seed(5)
    x, w = torch.randn(4, 3, requires_grad=True), torch.randn(3, 5, requires_grad=True)
    weights = torch.randn(4, 5)
    compiled = compile_fx(f, [x, w])
    wanted = torch.autograd.grad((f(x, w)[0] * weights).sum(), [x, w])
    found = torch.autograd.grad((compiled(x, w)[0] * weights).sum(), [x, w])
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def test_softmax_of_rows_is_one_group_and_keeps_nothing_in_memory() -> None:
    compiled = graph(lambda x: torch.softmax(x * 2, 1), torch.randn(6, 10))
    (kernel,) = compiled.kernels
    assert len(kernel.groups) == 1
    assert kernel.groups[0].phases == [0, 0, 1, 1, 2]
    assert kernel.workspace == 0
    assert len(kernel.parameters) == 2


def test_the_reason_is_kept_why_loops_do_not_run_as_one() -> None:
    tried = graph(lambda x: (x.sum(0) + 1, x.sum(1)), torch.randn(6, 10)).fusion
    assert any("other" in line for line in tried)
    assert any(line.endswith("joined") for line in tried)


def test_what_a_row_costs_is_told_and_a_row_that_costs_too_much_is_visited_by_several_loops() -> None:
    tried = graph(lambda x: x.softmax(1), torch.randn(6, 10)).fusion
    assert any("3 phases that share 80 bytes of a row; joined" in line for line in tried)
    compiled = check(lambda x: x.softmax(1), torch.randn(2, 140000))
    assert any("passes over a row that takes 560000 bytes would each come from memory" in x for x in compiled.fusion)
    assert len(compiled.kernels[0].groups) > 1


def test_a_number_that_fills_a_tensor_is_not_read() -> None:
    compiled = check(lambda x: torch.where(x > 0, x, torch.zeros(())) + torch.full((3, 4), 2.0), torch.randn(3, 4))
    assert len(compiled.kernels[0].groups) == 1
    assert not compiled.kernels[0].workspace
    (x,) = graph(lambda x: (x * 0 + torch.full((2,), 0.1).half()).half(), torch.ones(2).half())([torch.ones(2).half()])
    assert x.tolist() == [0.0999755859375] * 2


def test_an_input_of_other_strides_is_refused() -> None:
    compiled = graph(lambda x: x + 1, torch.randn(4, 4))
    with pytest.raises(AssertionError, match=r"strides \(1, 4\); it was compiled for"):
        compiled([torch.randn(4, 4).t()])


def test_without_a_compiler_numpy_runs_and_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "compiled", without_compiler)
    backend.tell_once.cache_clear()
    with pytest.warns(UserWarning, match="compiled graphs run in NumPy instead of C[+][+]: no compiler was found"):
        check(lambda x: x + 1, torch.randn(3))
    check(lambda x: x + 2, torch.randn(3))  # warnings are errors


def test_random_numbers_are_those_of_eager_mode() -> None:
    x = torch.ones(50)
    compiled = compile_fx(lambda x: [F.dropout(x * 2, 0.5) + 1], [x])
    torch.manual_seed(6)
    wanted = F.dropout(x * 2, 0.5) + 1
    torch.manual_seed(6)
    assert torch.equal(compiled(x)[0], wanted)


def test_torch_compile_runs_loops() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.Linear(4, 3)

        def forward(self, x: Any) -> Any:
            return F.softmax(self.inner(x).relu(), -1)

    torch.manual_seed(7)
    net, x = Net(), torch.randn(5, 4)
    weights = torch.randn(5, 3)
    (net(x) * weights).sum().backward()
    wanted = [parameter.grad for parameter in net.parameters()]
    net.zero_grad()
    found = torch.compile(net, backend="inductor")(x)
    torch.testing.assert_close(found, net(x))
    (found * weights).sum().backward()
    torch.testing.assert_close([parameter.grad for parameter in net.parameters()], wanted)


def test_an_option_that_is_not_known_is_refused() -> None:
    with pytest.raises(RuntimeError, match="Unexpected optimization option tuned, known options are"):
        compile_fx(lambda x: [x + 1], [torch.ones(2)], options={"tuned": True})


def test_what_depends_on_no_input_is_computed_once() -> None:
    def f(x: Any) -> Any:
        mask = torch.ones(5, 5).tril().bool()
        return x.masked_fill(~mask, -torch.inf).softmax(-1), mask.float().sum() + x.sum()

    compiled = check(f, torch.randn(5, 5))
    assert "tril" not in compiled.source_code
    assert "bitwise_not" in compiled.source_code  # the name of the constant


def test_a_constant_that_is_returned_is_made_each_time() -> None:
    compiled = graph(lambda x: (torch.arange(4).view(2, 2), x + torch.arange(2)), torch.ones(2))
    first = compiled([torch.ones(2)])[0]
    first.zero_()
    assert compiled([torch.ones(2)])[0].tolist() == [[0, 1], [2, 3]]


def test_a_chain_joins_the_group_of_its_readers() -> None:
    """The first loop finds no group, and the reduction that reads it has one already."""
    compiled = graph(lambda x, y: ((z := x * y.exp()) / x.sum(1, keepdim=True)).amax(1) + z.sum(1), X, Y)
    (kernel,) = compiled.kernels
    assert len(kernel.groups) == 1
    check(lambda x, y: ((z := x * y.exp()) / x.sum(1, keepdim=True)).amax(1) + z.sum(1), X, Y)


X, Y = torch.rand(6, 10), torch.rand(6, 10)


@pytest.mark.parametrize("name", ["erf", "log1p", "expm1", "floor", "ceil", "trunc", "round", "sign", "square"])
def test_function_of_numpys_own_kernels(name: str, language: str) -> None:
    compiled = check(getattr(torch, name), torch.tensor([-1.5, -0.5, -0.0, 0.5, 2.5, torch.nan]))
    assert "aten" not in compiled.source_code


def test_an_operator_without_cpp_is_left_to_its_kernel() -> None:
    compiled = check(lambda x: torch.remainder(x, 2) + 1, torch.tensor([-3.0, 5.0]))
    assert "aten_remainder" in compiled.source_code


def test_strides_of_dimensions_with_one_element_do_not_matter() -> None:
    compiled = graph(lambda x: x + 1, torch.ones(1, 3))
    assert compiled([torch.ones(3, 1).t()])[0].tolist() == [[2, 2, 2]]
    other = torch.ones(3).as_strided((1, 3), (77, 1))
    assert compiled([other])[0].tolist() == [[2, 2, 2]]


def test_machine_code_is_unloaded_with_its_last_function() -> None:
    compiled = graph(lambda x: x * 11 + 13, torch.ones(5))
    library = weakref.ref(compiled.call.__globals__["kernel0"].library)
    call = compiled.call
    del compiled
    gc.collect()
    assert call([torch.ones(5)])[0].tolist() == [24] * 5
    assert library() is not None
    del call
    gc.collect()
    assert library() is None


def saved_bytes(f: Callable[..., Any], *args: Any) -> int:
    """The bytes that the backward pass of a compiled function keeps beside the arguments."""
    kept = {tensor.untyped_storage()._cdata for tensor in args}
    saved = compile_fx(f, args)(*args)[0].grad_fn.saved_tensors
    return sum(tensor.nbytes for tensor in saved if tensor.untyped_storage()._cdata not in kept)


def test_backward_computes_again_what_loops_have_for_nothing() -> None:
    def f(x: Any, y: Any) -> Any:
        return [((x * y + x).sigmoid() * y).tanh().relu()]

    x, y = torch.randn(64, requires_grad=True), torch.randn(64, requires_grad=True)
    wanted = torch.autograd.grad(f(x, y)[0].sum(), [x, y])
    assert saved_bytes(f, x, y) == 64  # where the result is 0, a byte for each element
    torch.testing.assert_close(torch.autograd.grad(compile_fx(f, [x, y])(x, y)[0].sum(), [x, y]), wanted)


def test_operators_are_decomposed_unless_their_parts_have_no_loops() -> None:
    def f(x: Any) -> Any:
        return [F.mse_loss(F.hardswish(x), x * 0.5), F.interpolate(x[None, None], scale_factor=2, mode="bilinear")]

    found: list[str] = []

    def compiler(module: Any, examples: Any) -> Any:
        found.extend(CompiledFxGraph(module).externs)
        return module.forward

    compile_fx(f, [torch.randn(4, 4)], compiler)
    assert [line.partition(":")[0] for line in found] == ["upsample_bilinear2d"]
