"""Is what is registered by an operator's name what PyTorch registers?

Each test runs on both libraries.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

import glasstorch

_numbers = itertools.count()


@pytest.fixture
def ns() -> str:
    """A namespace that no library has used."""
    return f"named_{next(_numbers)}"


@pytest.fixture
def library(torch: Any, ns: str) -> Iterator[Any]:
    """A Library with the operators `f(Tensor x) -> Tensor` and `g_(Tensor(a!) x) -> ()`."""
    with torch.library._scoped_library(ns, "FRAGMENT") as opened:
        opened.define("f(Tensor x) -> Tensor")
        opened.define("g_(Tensor(a!) x) -> ()")
        opened.define("named(Tensor x, *, Tensor y) -> Tensor")
        yield opened


# Operators and kernels --------------------------------------------------------------------------------------------


def test_an_operator_is_defined_and_given_kernels_by_its_name(torch: Any, ns: str) -> None:
    torch.library.define(f"{ns}::f", "(Tensor x) -> Tensor", tags=torch.Tag.pointwise)
    torch.library.impl(f"{ns}::f", "cpu", lambda x: x + 1)

    @torch.library.impl(f"{ns}::f", ("cuda", "Meta"))
    def elsewhere(x):  # type: ignore[no-untyped-def]
        return x + 2

    f = getattr(torch.ops, ns).f
    assert elsewhere is None
    assert f(torch.ones(1)).tolist() == [2.0]
    assert f(torch.ones(1, device="meta")).is_meta
    assert torch.Tag.pointwise in f.default.tags


def test_default_stands_for_all_devices(torch: Any, ns: str) -> None:
    torch.library.define(f"{ns}::f", "(Tensor x) -> Tensor")
    torch.library.impl(f"{ns}::f", "default", lambda x: x + 1)
    assert getattr(torch.ops, ns).f.default.has_kernel_for_dispatch_key(torch._C.DispatchKey.CompositeExplicitAutograd)


def test_a_library_may_decorate(torch: Any, library: Any, ns: str) -> None:
    @torch.library.define(library, "h(Tensor x) -> Tensor")
    def h(x: Any) -> Any:
        return x * 3

    @torch.library.impl(library, "f", "CPU")
    def f(x: Any) -> Any:
        return x * 2

    assert getattr(torch.ops, ns).h(torch.ones(1)).tolist() == [3.0]
    assert getattr(torch.ops, ns).f(torch.ones(1)).tolist() == f(torch.ones(1)).tolist()


@pytest.mark.parametrize("name", ["str", "overload"])
def test_a_kernel_is_registered_for_a_name_and_an_overload(torch: Any, library: Any, ns: str, name: str) -> None:
    f = getattr(torch.ops, ns).f.default
    torch.library.register_kernel(f"{ns}::f" if name == "str" else f, "cpu", lambda x: x + 1, lib=library)
    assert f(torch.ones(1)).tolist() == [2.0]


def test_a_kernel_is_registered_for_all_devices(torch: Any, library: Any, ns: str) -> None:
    torch.library.register_kernel(f"{ns}::f", None, lambda x: x + 1, lib=library)
    assert getattr(torch.ops, ns).f(torch.ones(1)).tolist() == [2.0]


REFUSED: list[tuple[Callable[[Any, str], Any], type[Exception], str]] = [
    (lambda lib, ns: lib.define(3, "(Tensor x) -> Tensor"), ValueError, "expected qualname to be instance of str"),
    (lambda lib, ns: lib.define("f", "(Tensor x) -> Tensor"), ValueError, 'of the form "namespace::name", but got f'),
    (lambda lib, ns: lib.define(f"{ns}::h", "Tensor x -> Tensor"), ValueError, "expected schema to look like e.g."),
    (lambda lib, ns: lib.impl(f"{ns}::f", "nowhere", len), RuntimeError, "Expected one of cpu, cuda, ipu, xpu"),
    (lambda lib, ns: lib.register_kernel(3, "cpu", len), ValueError, r"register_kernel\(3\): got unexpected type"),
    (lambda lib, ns: lib.register_fake(3), ValueError, r"register_fake\(3\): got unexpected type for op"),
    (lambda lib, ns: lib.register_fake(f"{ns}::nope", len), RuntimeError, "operator .*::nope does not exist"),
    (lambda lib, ns: lib.register_autograd(f"{ns}::nope", len), AttributeError, "object has no attribute 'nope'"),
    (lambda lib, ns: lib.register_autograd(f"{ns}::g_", len), RuntimeError, "formula for non-functional operator"),
    (lambda lib, ns: lib.register_autograd(f"{ns}::named", len), NotImplementedError, "register_autograd with kwarg-"),
    (lambda lib, ns: lib.register_vmap(f"{ns}::named", len), NotImplementedError, "register_vmap with kwarg-only"),
    (lambda lib, ns: lib.register_vmap(f"{ns}::nope", len), AttributeError, "object has no attribute 'nope'"),
    (lambda lib, ns: lib.get_kernel(3, "CPU"), ValueError, r"get_kernel\(3\): got unexpected type for op"),
    (lambda lib, ns: lib.get_kernel("aten::add.Tensor", "Nope"), ValueError, "Invalid dispatch key: Nope"),
    (lambda lib, ns: lib.get_kernel("aten::nope", "CPU"), RuntimeError, "operator aten::nope does not exist"),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED, ids=[words for *_, words in REFUSED])
def test_what_cannot_be_registered_is_refused(
    torch: Any, library: Any, ns: str, call: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        call(torch.library, ns)


# What else an operator has ----------------------------------------------------------------------------------------


def test_a_fake_kernel_by_name_runs_on_meta_and_may_be_replaced(torch: Any, library: Any, ns: str) -> None:
    @torch.library.register_fake(f"{ns}::f", lib=library)
    def fake(x: Any) -> Any:
        return x.new_empty(3)

    f = getattr(torch.ops, ns).f
    assert f(torch.ones(1, device="meta")).shape == (3,)
    torch.library.register_fake(f"{ns}::f", lambda x: x.new_empty(4), lib=library)
    assert f(torch.ones(1, device="meta")).shape == (4,)
    with pytest.raises(
        RuntimeError, match=r"register_fake\(\.\.\.\): the operator .*::f already has a fake impl regis"
    ):
        torch.library.register_fake(f"{ns}::f", fake, lib=library, allow_override=False)


def test_a_fake_kernel_goes_with_its_library(torch: Any, library: Any, ns: str) -> None:
    with torch.library._scoped_library(ns, "FRAGMENT") as other:
        torch.library.register_fake(f"{ns}::f", lambda x: x.new_empty(3), lib=other)
    with pytest.raises(NotImplementedError, match="::f"):
        getattr(torch.ops, ns).f(torch.ones(1, device="meta"))


def test_the_old_name_of_a_fake_kernel_warns(torch: Any, library: Any, ns: str) -> None:
    with pytest.warns(
        FutureWarning, match="`torch.library.impl_abstract` was renamed to `torch.library.register_fake`"
    ):
        torch.library.impl_abstract(f"{ns}::f", lambda x: x, lib=library)


def test_a_gradient_by_name(torch: Any, library: Any, ns: str) -> None:
    library.impl("f", lambda x: x.detach() * 2, "CPU")

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(output)

    torch.library.register_autograd(
        f"{ns}::f", lambda ctx, grad: grad * ctx.saved_tensors[0], setup_context=setup_context, lib=library
    )
    x = torch.ones(2, requires_grad=True)
    y = getattr(torch.ops, ns).f(x)
    assert y.grad_fn.name() == f"GeneratedBackwardFor_{ns}_f_defaultBackward"
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_a_rule_for_a_batch_by_name(torch: Any, library: Any, ns: str) -> None:
    library.impl("f", lambda x: x * 2, "CPU")
    seen: list[Any] = []

    @torch.library.register_vmap(f"{ns}::f", lib=library)
    def rule(info: Any, in_dims: Any, x: Any) -> Any:
        seen.append((info.batch_size, in_dims))
        return x * 2, in_dims[0]

    assert torch.vmap(getattr(torch.ops, ns).f)(torch.ones(2, 3)).tolist() == [[2.0] * 3] * 2
    assert seen == [(2, (0,))]


def test_autocast_by_name(torch: Any, library: Any, ns: str) -> None:
    library.impl("f", lambda x: x.clone(), "CPU")
    torch.library.register_autocast(f"{ns}::f", "cpu", torch.bfloat16, lib=library)
    f = getattr(torch.ops, ns).f
    with torch.autocast("cpu"):
        assert f(torch.ones(1)).dtype == torch.bfloat16
    assert f(torch.ones(1)).dtype == torch.float32
    with pytest.raises(ValueError, match=r"Device type 'meta' does not support autocast."):
        torch.library.register_autocast(f"{ns}::f", "meta", torch.bfloat16)


@pytest.mark.filterwarnings("ignore:Warning only once for all operators")
def test_a_kernel_is_kept_by_who_asks_for_it(torch: Any, library: Any, ns: str) -> None:
    library.impl("f", lambda x: x + 1, "CPU")
    kernel = torch.library.get_kernel(f"{ns}::f", "CPU")
    with torch.library._scoped_library(ns, "IMPL") as other:
        other.impl("f", lambda keys, x: kernel.call_boxed(keys, x) * 10, "CPU", with_keyset=True, allow_override=True)
        assert getattr(torch.ops, ns).f(torch.ones(1)).tolist() == [20.0]
    assert "SafeKernelFunction(debug='" in repr(kernel)


@pytest.mark.parametrize("by", ["name", "definition"])
def test_an_operator_says_what_it_does_under_a_class_of_modes(torch: Any, ns: str, by: str) -> None:
    from importlib import import_module

    python_dispatch = import_module(f"{torch.__name__}.utils._python_dispatch")

    class Mode(python_dispatch.TorchDispatchMode):  # type: ignore[misc, name-defined]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    function = lambda x: x + 1  # noqa: E731
    function.__annotations__ = {"x": torch.Tensor, "return": torch.Tensor}
    made = torch.library.custom_op(f"{ns}::f", function, mutates_args=())
    seen: list[Any] = []

    def rule(mode: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        seen.append((type(mode).__name__, func._opname, len(args), kwargs))
        return func(*args) * 10

    if by == "name":
        torch.library.register_torch_dispatch(f"{ns}::f", Mode, rule)
    else:
        made.register_torch_dispatch(Mode)(rule)
    with Mode():
        assert made(torch.ones(1)).tolist() == [20.0]
    assert made(torch.ones(1)).tolist() == [2.0]
    assert seen == [("Mode", "f", 1, {})]


def test_a_kernel_of_the_librarys_own_can_be_asked_for(torch: Any) -> None:
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
    for name in ("aten::add.Tensor", torch.ops.aten.add.Tensor):
        kernel = torch.library.get_kernel(name, torch._C.DispatchKey.CPU)
        assert kernel.call_boxed(keys, torch.ones(1), torch.ones(1), alpha=3).tolist() == [4.0]


def test_outside_of_a_fake_kernel_there_is_no_context(torch: Any) -> None:
    assert torch.library.get_ctx() is None


# What is not here ---------------------------------------------------------------------------------------------------


def test_triton_is_said_to_be_missing() -> None:
    for call in (
        lambda: glasstorch.library.wrap_triton(len),
        lambda: glasstorch.library.triton_op("a::b", mutates_args=()),
    ):
        with pytest.raises(ModuleNotFoundError, match=r"No module named 'triton': .*glasstorch cannot run"):
            call()


def test_a_size_that_depends_on_the_elements_is_said_to_be_missing() -> None:
    def places(x: glasstorch.Tensor) -> glasstorch.Tensor:
        return x.nonzero()

    def fake(x: glasstorch.Tensor) -> glasstorch.Tensor:
        return x.new_empty(glasstorch.library.get_ctx().new_dynamic_size(), x.dim())

    places.__annotations__ = {"x": glasstorch.Tensor, "return": glasstorch.Tensor}
    made = glasstorch.library.custom_op("sizes::places", places, mutates_args=())
    made.register_fake(fake)
    with pytest.raises(glasstorch._subclasses.DynamicOutputShapeException, match=r"sizes\.places\.default"):
        with glasstorch._subclasses.FakeTensorMode():
            made(glasstorch.ones(2))
    with pytest.raises(
        Exception, match=r"test_faketensor failed with .* opcheck compares with fake tensors whose sizes are numbers"
    ):
        glasstorch.library.opcheck(made, (glasstorch.ones(2),))


def test_a_size_that_depends_on_the_elements_is_a_symbol(require: Any) -> None:
    def sizes(t: Any) -> list[Any]:
        def positive(x: Any) -> Any:
            return x[x > 0].clone()

        symbolic = import_module(f"{t.__name__}.fx.experimental.symbolic_shapes")
        make_fx = import_module(f"{t.__name__}.fx.experimental.proxy_tensor").make_fx
        positive.__annotations__ = {"x": t.Tensor, "return": t.Tensor}
        made = t.library.custom_op("sizes::positive", positive, mutates_args=())
        found: list[Any] = []
        asked = {"min": 0}
        made.register_fake(lambda x: x.new_empty(t.library.get_ctx().new_dynamic_size(**asked)))
        for options in ({}, {"min": 2, "max": 5}):
            asked = options
            with t._subclasses.FakeTensorMode(shape_env=symbolic.ShapeEnv()) as mode:
                (size,) = (made(t.ones(3)) * 2).shape
            found += [str(size), int(mode.shape_env.var_to_range[size.node.expr].lower)]
        for options in ({"min": -1}, {"max": size}):
            asked = options
            with (
                t._subclasses.FakeTensorMode(shape_env=symbolic.ShapeEnv()),
                pytest.raises(ValueError, match="new_dynamic_size") as error,
            ):
                made(t.ones(3))
            found.append(str(error.value))
        asked = {}
        with pytest.raises(t._subclasses.fake_tensor.DynamicOutputShapeException), t._subclasses.FakeTensorMode():
            made(t.ones(3))
        graph = make_fx(lambda x: made(x) * 2, tracing_mode="symbolic")(t.ones(3))
        compiled = t.compile(lambda x: made(x) * 2, backend="aot_eager")
        for run in (graph, compiled):
            found += [run(t.tensor([1.0, -1.0, 2.0])).tolist(), run(t.ones(4)).tolist()]
        return found

    assert sizes(glasstorch) == sizes(require("torch"))
