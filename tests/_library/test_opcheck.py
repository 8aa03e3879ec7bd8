"""Does opcheck pass good operators, and fail faulty ones for the right reason, as PyTorch's does?"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import pytest

UTILS = ("test_schema", "test_autograd_registration", "test_faketensor")
_numbers = itertools.count()

Make = Callable[[Any, str], Any]  # makes an operator and the arguments of a call


def annotated(torch: Any, function: Callable[..., Any], **types: Any) -> Callable[..., Any]:
    function.__annotations__ = {"x": torch.Tensor, "return": torch.Tensor} | types
    return function


# Three good operators ---------------------------------------------------------------------------------------------


def multiplied(torch: Any, ns: str) -> tuple[Any, tuple[Any, ...]]:
    """By NumPy, with a gradient and a fake kernel."""

    def f(x, by):  # type: ignore[no-untyped-def]
        return torch.from_numpy(x.detach().numpy() * by)

    made = torch.library.custom_op(f"{ns}::multiplied", annotated(torch, f, by=float), mutates_args=())
    made.register_fake(lambda x, by: torch.empty_like(x))

    def setup_context(ctx, inputs, output):  # type: ignore[no-untyped-def]
        ctx.by = inputs[1]

    made.register_autograd(lambda ctx, grad: (grad * ctx.by, None), setup_context=setup_context)
    return made, (torch.randn(2, 3, requires_grad=True), 3.0)


def accumulated(torch: Any, ns: str) -> tuple[Any, tuple[Any, ...]]:
    """In place, with nothing returned; it needs no fake kernel."""

    def f(x, y):  # type: ignore[no-untyped-def]
        x.numpy()[...] += y.numpy()

    function = annotated(torch, f, y=torch.Tensor, **{"return": None})
    made = torch.library.custom_op(f"{ns}::accumulated", function, mutates_args={"x"})
    return made, (torch.zeros(3), torch.ones(3))


def summed(torch: Any, ns: str) -> tuple[Any, tuple[Any, ...]]:
    """Two results of a list of tensors, defined by a Library."""
    library = torch.library.Library(ns, "FRAGMENT")
    library.define("summed(Tensor[] x, int n) -> (Tensor, Tensor)")
    KEPT.append(library)

    def f(x, n):  # type: ignore[no-untyped-def]
        total = sum(one.detach() for one in x)
        return total * n, total[:1].clone()

    torch.library.impl(f"{ns}::summed", "cpu", f)
    torch.library.register_fake(f"{ns}::summed", lambda x, n: (torch.empty_like(x[0]), x[0].new_empty(1)))
    torch.library.register_autograd(
        f"{ns}::summed",
        lambda ctx, a, b: ([a * ctx.n + torch.cat([b, torch.zeros(len(a) - 1)])] * ctx.count, None),
        setup_context=lambda ctx, inputs, output: vars(ctx).update(n=inputs[1], count=len(inputs[0])),
    )
    return getattr(torch.ops, ns).summed, ([torch.randn(4, requires_grad=True) for _ in range(3)], 2)


KEPT: list[Any] = []


@pytest.mark.parametrize("make", [multiplied, accumulated, summed], ids=lambda make: make.__name__)
def test_a_good_operator_passes(torch: Any, make: Make) -> None:
    made, arguments = make(torch, f"good_{next(_numbers)}")
    found = torch.library.opcheck(made, arguments, test_utils=UTILS)
    assert found == dict.fromkeys(UTILS, "SUCCESS")


# Four faulty ones, each for one reason ----------------------------------------------------------------------------


def writes_without_saying_so(torch: Any, ns: str) -> tuple[Any, tuple[Any, ...]]:
    def f(x):  # type: ignore[no-untyped-def]
        x.numpy()[...] += 1
        return x.clone()

    made = torch.library.custom_op(f"{ns}::f", annotated(torch, f), mutates_args=())
    made.register_fake(torch.empty_like)
    return made, (torch.zeros(3),)


def fakes_another_shape(torch: Any, ns: str) -> tuple[Any, tuple[Any, ...]]:
    made = torch.library.custom_op(f"{ns}::f", annotated(torch, lambda x: x.detach() * 2), mutates_args=())
    made.register_fake(lambda x: x.new_empty(x.shape[0], 7))
    made.register_autograd(lambda ctx, grad: grad * 2)
    return made, (torch.zeros(3, 2, requires_grad=True),)


def defined(torch: Any, ns: str) -> Any:
    library = torch.library.Library(ns, "FRAGMENT")
    library.define("f(Tensor x) -> Tensor")
    torch.library.register_fake(f"{ns}::f", torch.empty_like, lib=library)
    KEPT.append(library)
    return library


def applies_a_function_below_autograd(torch: Any, ns: str) -> tuple[Any, tuple[Any, ...]]:
    class Doubled(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    defined(torch, ns).impl("f", Doubled.apply, "CPU")
    return getattr(torch.ops, ns).f.default, (torch.ones(3, requires_grad=True),)


def is_composed_below_autograd(torch: Any, ns: str) -> tuple[Any, tuple[Any, ...]]:
    defined(torch, ns).impl("f", lambda x: (x * 2).sin(), "CPU")
    return getattr(torch.ops, ns).f.default, (torch.ones(3, requires_grad=True),)


FAULTY: list[tuple[Make, list[str], str]] = [
    (writes_without_saying_so, ["test_schema"], "Argument x is not defined as mutable but was mutated"),
    (fakes_another_shape, ["test_faketensor"], "[Ss]hape"),
    (
        applies_a_function_below_autograd,
        ["test_autograd_registration", "test_faketensor"],  # which finds that the result requires grad
        "requires_grad=True but the operator does not have an autograd kernel defined at an autograd key",
    ),
    (
        is_composed_below_autograd,
        ["test_autograd_registration"],
        "requires_grad=True but the operator does not have an autograd kernel defined at an autograd key",
    ),
]


@pytest.mark.parametrize(("make", "failing", "words"), FAULTY, ids=[one[0].__name__ for one in FAULTY])
def test_a_faulty_operator_fails_for_its_reason_and_no_other(
    torch: Any, make: Make, failing: list[str], words: str
) -> None:
    made, arguments = make(torch, f"faulty_{next(_numbers)}")
    found = torch.library.opcheck(made, arguments, test_utils=UTILS, raise_exception=False)
    assert [name for name, result in found.items() if result != "SUCCESS"] == failing
    assert re.search(words, str(found[failing[0]])) is not None, found
    if len(failing) > 1:
        assert "mismatched requires_grad-ness of outputs" in str(found[failing[1]])
    with pytest.raises(Exception, match=rf"opcheck\(op, ...\): {failing[0]} failed with ") as error:
        torch.library.opcheck(made, arguments, test_utils=UTILS)
    assert type(error.value).__name__ == "OpCheckError"


# What else is said --------------------------------------------------------------------------------------------------

SCHEMAS: list[tuple[str, Callable[[Any], Any], str]] = [
    ("f(Tensor x) -> Tensor", lambda x: x[:1], "Argument x is not defined to alias output but was aliasing"),
    ("f(Tensor(a) x) -> Tensor(a)", lambda x: x, "not allowed to directly return inputs"),
    ("f(Tensor x) -> (Tensor, Tensor)", lambda x: (x + 1,) * 2, "Outputs 0 and 1 alias unexpectedly"),
    ("f(Tensor self) -> Tensor", lambda x: x.add_(1) + 1, "Argument input is not defined as mutable but was mutated"),
    ("f(Tensor x) -> Tensor", lambda x: x.t_() + 1, "Argument x is not defined as mutable but was mutated"),
]


@pytest.mark.parametrize(("schema", "kernel", "words"), SCHEMAS, ids=range(len(SCHEMAS)))
def test_what_a_schema_does_not_say_is_found(torch: Any, schema: str, kernel: Callable[[Any], Any], words: str) -> None:
    name = f"schemas_{next(_numbers)}"
    with torch.library._scoped_library(name, "DEF") as library:
        library.define(schema)
        library.impl("f", kernel, "CPU")
        found = torch.library.opcheck(
            getattr(torch.ops, name).f, (torch.ones(2, 2),), test_utils="test_schema", raise_exception=False
        )
    assert words in str(found["test_schema"])


def test_a_view_and_what_is_written_to_as_the_schema_says_pass(torch: Any) -> None:
    name = f"schemas_{next(_numbers)}"
    with torch.library._scoped_library(name, "DEF") as library:
        library.define("f(Tensor(a) x) -> Tensor(a)")
        library.impl("f", lambda x: x[:1], "CPU")
        library.define("g_(Tensor(a!) x) -> Tensor(a!)")
        library.impl("g_", lambda x: x.add_(1), "CPU")
        for packet in (getattr(torch.ops, name).f, getattr(torch.ops, name).g_):
            assert torch.library.opcheck(packet, (torch.ones(2),), test_utils="test_schema") == {
                "test_schema": "SUCCESS"
            }


FAKES: list[tuple[str, Callable[[Any], Callable[[Any], Any]]]] = [
    ("there is none", lambda torch: None),  # type: ignore[arg-type, return-value]
    ("dtype", lambda torch: lambda x: torch.empty_like(x, dtype=torch.float64)),
    ("strides", lambda torch: lambda x: torch.empty_like(x).t()),
    ("the number of results", lambda torch: lambda x: (torch.empty_like(x),) * 2),
]


@pytest.mark.parametrize(("what", "fake"), FAKES, ids=[one[0] for one in FAKES])
def test_a_fake_kernel_with_a_fault_is_found(torch: Any, what: str, fake: Any) -> None:
    function = annotated(torch, lambda x: x.detach() * 2)
    made = torch.library.custom_op(f"fakes_{next(_numbers)}::f", function, mutates_args=())
    if (kernel := fake(torch)) is not None:
        made.register_fake(kernel)
    found = torch.library.opcheck(made, (torch.ones(2, 2),), test_utils="test_faketensor", raise_exception=False)
    assert found["test_faketensor"] != "SUCCESS"


@pytest.mark.parametrize(
    "call",
    [
        lambda torch, f: torch.library.opcheck(f, (torch.ones(1),), rtol=1.0),
        lambda torch, f: torch.library.opcheck(f, (torch.ones(1),), test_utils="test_nothing"),
        lambda torch, f: torch.library.opcheck(len, (torch.ones(1),)),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(torch: Any, call: Any) -> None:
    function = annotated(torch, lambda x: x.detach() * 2)
    made = torch.library.custom_op(f"refused_{next(_numbers)}::f", function, mutates_args=())
    with pytest.raises(ValueError, match=r"opcheck\(op, \.\.\."):
        call(torch, made)


def test_several_overloads_are_refused(torch: Any) -> None:
    with pytest.raises(RuntimeError, match=r"opcheck can only test operators without overloads. Got the following ov"):
        torch.library.opcheck(torch.ops.aten.add, (torch.ones(1), torch.ones(1)))


def test_tensors_on_meta_are_passed_by(torch: Any) -> None:
    made, _ = multiplied(torch, f"meta_{next(_numbers)}")
    assert torch.library.opcheck(made, (torch.ones(1, device="meta"), 2.0), test_utils="test_schema") == {
        "test_schema": "SUCCESS"
    }


def test_the_arguments_stay_as_they_are(torch: Any) -> None:
    made, arguments = accumulated(torch, f"kept_{next(_numbers)}")
    torch.library.opcheck(made, arguments, test_utils=UTILS)
    assert arguments[0].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("make", [multiplied, accumulated, summed], ids=lambda make: make.__name__)
def test_a_good_operator_is_the_same_compiled(torch: Any, make: Make) -> None:
    made, arguments = make(torch, f"aot_{next(_numbers)}")
    found = torch.library.opcheck(made, arguments)
    assert found == dict.fromkeys((*UTILS, "test_aot_dispatch_dynamic"), "SUCCESS")


def test_a_formula_that_a_graph_does_not_hold_is_found(torch: Any) -> None:
    factors = iter(range(1, 100))

    def f(x):  # type: ignore[no-untyped-def]
        return x * next(factors)

    scaled = torch.library.custom_op(f"counts_{next(_numbers)}::scaled", annotated(torch, f), mutates_args=())
    scaled.register_fake(torch.empty_like)
    for name in ("test_aot_dispatch_static", "test_aot_dispatch_dynamic"):
        with pytest.raises(Exception, match=rf"{name} failed with Outputs of the operator are different in eager-mode"):
            torch.library.opcheck(scaled, (torch.ones(2),), test_utils=name)
