"""Which operators does a program become that writes to nothing? PyTorch says it, wherever it is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import pytest

import glasstorch

# A program, a statement after another, and the operators that run below `functionalize`; `detach` is not counted.
PROGRAMS = {
    "x.add_(1); return x": "add.Tensor copy_",
    "y = x.view(-1); y.add_(1); return x * 2": "view add.Tensor view view mul.Tensor copy_",
    "y = x[1:]; y.mul_(2); return x": "slice.Tensor mul.Tensor slice_scatter slice.Tensor copy_",
    "y = x[0]; y.mul_(2); return x.sum()": "select.int mul.Tensor select_scatter select.int sum copy_",
    "y = x[0][1:]; y.mul_(2); z = x.t(); return z + 1": "select.int slice.Tensor mul.Tensor select.int slice_scatter "
    "select_scatter select.int slice.Tensor t t add.Tensor copy_",
    "x = x.clone(); x[0] = 1.0; return x": "clone lift_fresh select.int fill.Tensor select_scatter select.int",
    "x = x.clone(); x[:, 0] = x[:, 1]; return x": "clone select.int select.int copy select_scatter select.int",
    "y = torch.zeros(2, 3); y.copy_(x); return y": "zeros copy",
    "y = torch.empty(2, 3); torch.add(x, x, out=y); return y": "empty.memory_format add.Tensor",
    "y = x.clone(); y.zero_(); return y": "clone zero",
    "y = x.clone(); y.fill_(3); return y": "clone fill.Scalar",
    "y = x.diagonal(); y.add_(1); return x": "diagonal add.Tensor diagonal_scatter diagonal copy_",
    "a, b = x.chunk(2); a.add_(b); return x": "split.Tensor add.Tensor slice_scatter split.Tensor copy_",
    "a, b = x.split([1, 1]); b.add_(a); return x": "split_with_sizes add.Tensor slice_scatter split_with_sizes copy_",
    "a, b = x.unbind(); a.add_(b); return x": "unbind.int add.Tensor select_scatter unbind.int copy_",
    "y = x.permute(1, 0); y.add_(torch.ones(3, 2)); return x": "permute ones add.Tensor permute permute copy_",
    "y = x[0].expand(2, 3); return y + 1": "select.int expand add.Tensor",
    "y = x[0].expand(2, 3); y.add_(1); return x": "select.int expand add.Tensor select.int sub.Tensor sum.dim_IntList "
    "view add.Tensor select_scatter select.int expand copy_",
    "y = x.unsqueeze(0).squeeze(); y.add_(1); return x": "unsqueeze squeeze add.Tensor unsqueeze unsqueeze squeeze.dim "
    "unsqueeze squeeze copy_",
    "y = x.as_strided((2,), (1,), 1); y.add_(1); return x": "as_strided add.Tensor as_strided_scatter as_strided copy_",
    "return x.reshape(3, 2).sum(0)": "view sum.dim_IntList",
    "y = x.detach(); y.add_(1); return x": "add.Tensor copy_",
    "x = x.clone(); x.t_(); return x + 1": "clone t add.Tensor",
    "x = x.clone(); x.unsqueeze_(0); x.add_(1); return x": "clone unsqueeze add.Tensor squeeze.dim unsqueeze",
    "y = torch.view_as_complex(torch.zeros(2, 2)); torch.view_as_real(y).add_(1); return y": "zeros view_as_complex "
    "view_as_real add.Tensor view_as_complex view_as_complex view_as_real view_as_complex view_as_real view_as_complex",
    "y = x.view(6); z = x.view(3, 2); y.add_(1); z.mul_(2); return x": "view view add.Tensor view view view mul.Tensor "
    "view view copy_",
    "y = torch.zeros(6); torch.mul(x.view(6), 2, out=y.view(6)); return y": "zeros view view mul.Tensor view view",
    "y = x.narrow(1, 1, 2); y.zero_(); return x": "slice.Tensor zero slice_scatter slice.Tensor copy_",
    "y = x.to(torch.complex64); y.real.zero_(); return y": "_to_copy view_as_real select.int zero view_as_real "
    "select_scatter view_as_complex view_as_real select.int",
    "y = x.mT; y[0] = 3.0; return x": "transpose.int lift_fresh select.int fill.Tensor transpose.int select_scatter "
    "transpose.int transpose.int select.int copy_",
    "return x.unfold(1, 2, 1).sum()": "unfold sum",
    "x[0] += 1; return x": "select.int add.Tensor select_scatter select.int select.int select.int copy select_scatter "
    "select.int copy_",
    "m, v = torch.zeros(3), torch.ones(3); return torch.nn.functional.batch_norm(x, m, v, training=True), m, v": (
        "zeros ones empty.memory_format native_batch_norm"
    ),
    "a, b = torch.empty(3), torch.empty(3, dtype=torch.int64); torch.sort(x[0], out=(a, b)); return a, b": (
        "empty.memory_format empty.memory_format select.int sort"
    ),
    "return torch.nn.functional.relu(x, inplace=True)": "relu copy_",
    "y = x.clone(); y.masked_fill_(y > 0, 0.0); return y": "clone gt.Scalar masked_fill.Scalar",
}


def program(text: str, library: Any) -> Callable[..., Any]:
    names: dict[str, Any] = {"torch": library}
    lines = "\n    ".join(text.split("; "))
    exec(f"def f(x):\n    {lines}", names)
    return names["f"]  # type: ignore[no-any-return]


def logged(library: Any, call: Callable[[], Any]) -> tuple[Any, list[str]]:
    """The result of a call, and the operators that a mode sees."""
    mode = import_module(f"{library.__name__}.utils._python_dispatch").TorchDispatchMode
    operators: list[str] = []

    class Log(mode):  # type: ignore[misc, valid-type]
        def __torch_dispatch__(
            self, func: Any, types: Sequence[Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
        ) -> Any:
            name = str(func).removeprefix("aten.").removesuffix(".default")
            if name != "detach":
                operators.append(name)
            return func(*args, **kwargs or {})

    with Log():
        result = call()
    return result, operators


def values(result: Any) -> Any:
    return [one.tolist() for one in result] if isinstance(result, tuple) else result.tolist()


@pytest.mark.parametrize("text", PROGRAMS)
def test_the_operators_are_pytorchs(text: str, torch: Any) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    _, operators = logged(torch, lambda: torch.func.functionalize(program(text, torch))(x))
    assert operators == PROGRAMS[text].split()


@pytest.mark.parametrize("remove", ["mutations", "mutations_and_views"])
@pytest.mark.parametrize("text", [text for text in PROGRAMS if "expand(2, 3); y.add_" not in text])
def test_the_values_and_the_argument_are_those_of_the_program(text: str, remove: str, torch: Any) -> None:
    x, y = torch.arange(6.0).reshape(2, 3), torch.arange(6.0).reshape(2, 3)
    f = program(text, torch)
    assert values(torch.func.functionalize(f, remove=remove)(x)) == values(f(y))
    assert x.tolist() == y.tolist()


@pytest.mark.parametrize("text", [text for text in PROGRAMS if "expand" not in text])  # whose inverse calls `view`
def test_without_views_no_view_operator_runs(text: str) -> None:
    x = glasstorch.arange(6.0).reshape(2, 3)
    f = glasstorch.func.functionalize(program(text, glasstorch), remove="mutations_and_views")
    _, operators = logged(glasstorch, lambda: f(x))
    views = {"view", "select.int", "slice.Tensor", "t", "transpose.int", "permute", "expand", "split.Tensor", "unfold"}
    assert not views.intersection(operators)


def test_other_transforms_go_inside_and_around(torch: Any) -> None:
    def f(x: Any) -> Any:
        return (x.clone().mul_(2) ** 2).sum()

    functionalize, grad, vmap = torch.func.functionalize, torch.func.grad, torch.func.vmap
    x = torch.ones(2, 3)
    assert functionalize(grad(f))(x).tolist() == grad(functionalize(f))(x).tolist() == [[8] * 3] * 2
    assert functionalize(vmap(f))(x).tolist() == vmap(functionalize(f))(x).tolist() == [12, 12]


def test_autograd_outside_records_what_runs_below(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = torch.func.functionalize(lambda x: (x * x).clone().add_(1))(x)
    y.sum().backward()
    assert (y.tolist(), x.grad.tolist()) == ([2, 2], [2, 2])


def test_a_tree_of_arguments_is_written_to_at_the_end(torch: Any) -> None:
    arguments: dict[str, Any] = {"a": [torch.ones(2)], "b": 3}
    torch.func.functionalize(lambda x, more: more["a"][0].add_(x))(torch.ones(2), more=arguments)
    assert arguments["a"][0].tolist() == [2, 2]


@pytest.mark.parametrize("text", ["x.t_(); return x", "x.unsqueeze_(0).add_(1)", "x.t_(); x[0] = 7.0"])
@pytest.mark.parametrize("remove", ["mutations", "mutations_and_views"])
def test_an_argument_is_given_the_shape_that_it_was_turned_to(text: str, remove: str, torch: Any) -> None:
    x, y = torch.arange(6.0).reshape(2, 3), torch.arange(6.0).reshape(2, 3)
    f = program(text, torch)
    torch.func.functionalize(f, remove=remove)(x)
    f(y)
    assert (x.tolist(), x.shape) == (y.tolist(), y.shape)


def test_what_was_captured_is_written_to_at_once_and_not_wrapped(torch: Any) -> None:
    outside = torch.ones(2)

    def f(x: Any) -> Any:
        outside.add_(1)
        return x.view(-1), outside

    view, same = torch.func.functionalize(f)(torch.ones(2, 2))
    assert (view.shape, same is outside, outside.tolist()) == ((4,), True, [2, 2])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("return x.clone().add_(torch.ones(4, 2, 3))", "doesn't match the broadcast shape"),
        ("return (x * x).sum().backward()", "backward() called inside a functorch transform"),
    ],
)
def test_what_is_refused(text: str, words: str, torch: Any, refused: Callable[[Callable[[], Any]], str]) -> None:
    x = torch.ones(2, 3, requires_grad="backward" in text)
    assert words.lower() in refused(lambda: torch.func.functionalize(program(text, torch))(x)).lower()


def test_a_write_of_functional_values_to_a_captured_tensor_is_refused(
    torch: Any, refused: Callable[[Callable[[], Any]], str]
) -> None:
    outside = torch.ones(2)
    f = torch.func.functionalize(lambda x: outside.add_(x))
    assert "mutating a non-functional tensor with a functional tensor" in refused(lambda: f(torch.ones(2)))
    assert outside.tolist() == [1, 1]


def test_an_option_that_is_none_is_refused_first(torch: Any, refused: Callable[[Callable[[], Any]], str]) -> None:
    assert "invalid argument for remove=views" in refused(lambda: torch.func.functionalize(id, remove="views"))
