"""Does an operator made of a function do what PyTorch's does?

Each program runs on PyTorch and here; what it shows, or the class and the first words of its error, is the same.
"""

from __future__ import annotations

import itertools
import logging
import re
import typing
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Optional

import pytest

import glasstorch

Program = Callable[[Any, str], Any]
PROGRAMS: list[Program] = []
_numbers = itertools.count()


def program(function: Program) -> Program:
    """A decorator: the function below is run with each library, and a namespace that is new to it."""
    PROGRAMS.append(function)
    return function


def shown(value: Any) -> Any:
    """A value so that two libraries can be compared: tensors as their elements."""
    if hasattr(value, "tolist"):
        return (tuple(value.shape), str(value.dtype), value.tolist() if value.device.type != "meta" else "meta")
    if isinstance(value, tuple | list):
        return [shown(one) for one in value]
    return value


def outcome(run: Program, library: Any, namespace: str) -> tuple[Any, ...]:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = ("gives", shown(run(library, namespace)))
        except Exception as error:  # noqa: BLE001  (whatever is raised is compared)
            words = re.sub(r"\(.*?\)|'[\w.]+' from|from '[\w./]+'", "", str(error)).split()
            result = ("raises", type(error).__name__, " ".join(words[:6]))
    # PyTorch's C++ prints what it warns of from inside of vmap, instead of giving it to Python.
    warned = [w for w in warned if "performance drop" not in str(w.message)]
    return (*result, [(w.category.__name__, " ".join(str(w.message).split()[:8])) for w in warned])


def annotated(torch: Any, function: Callable[..., Any], **types: Any) -> Callable[..., Any]:
    """The function with annotations of the library under test."""
    function.__annotations__ = {"x": torch.Tensor, "return": torch.Tensor} | types
    return function


def scaled(torch: Any, namespace: str, **options: Any) -> Any:
    """An operator `f(Tensor x, float by=2.0) -> Tensor`."""
    function = annotated(torch, lambda x, by=2.0: x.detach() * by, by=float)
    return torch.library.custom_op(f"{namespace}::f", function, mutates_args=(), **options)


# Calls ------------------------------------------------------------------------------------------------------------


@program
def a_call_by_position_by_name_and_with_a_default(torch: Any, ns: str) -> Any:
    f = scaled(torch, ns)
    x = torch.ones(2)
    return f(x), f(x, 3.0), f(x=x, by=4.0), getattr(torch.ops, ns).f(x), getattr(torch.ops, ns).f.default(x, by=5.0)


@program
def what_it_says_of_itself(torch: Any, ns: str) -> Any:
    f = scaled(torch, ns)
    packet = getattr(torch.ops, ns).f
    return repr(f)[:13], f._opoverload.name().partition("::")[2], packet.overloads(), f._opoverload._overloadname


@program
def a_decorator(torch: Any, ns: str) -> Any:
    @torch.library.custom_op(f"{ns}::g", mutates_args=(), schema="(Tensor x, int n=3) -> Tensor")
    def g(x, n=3):  # type: ignore[no-untyped-def]
        return x + n

    return g(torch.zeros(1)), g(torch.zeros(1), 4)


@program
def several_results(torch: Any, ns: str) -> Any:
    function = annotated(torch, lambda x: (x + 1, x * 2), **{"return": tuple[torch.Tensor, torch.Tensor]})
    return torch.library.custom_op(f"{ns}::f", function, mutates_args=())(torch.ones(2))


@program
def a_list_of_results(torch: Any, ns: str) -> Any:
    function = annotated(torch, lambda x: [x + 1, x * 2], **{"return": list[torch.Tensor]})
    return torch.library.custom_op(f"{ns}::f", function, mutates_args=())(torch.ones(2))


@program
def a_number_as_result(torch: Any, ns: str) -> Any:
    function = annotated(torch, lambda x: 3, **{"return": int})
    return torch.library.custom_op(f"{ns}::f", function, mutates_args=())(torch.ones(2))


@program
def optional_and_listed_arguments(torch: Any, ns: str) -> Any:
    function = annotated(
        torch,
        lambda x, ys, z=None, n=None: sum(ys, x) + (0 if z is None else z) + (0 if n is None else n),
        ys=Sequence[torch.Tensor],
        z=Optional[torch.Tensor],  # noqa: UP045
        n=Optional[int],  # noqa: UP045
    )
    f = torch.library.custom_op(f"{ns}::f", function, mutates_args=())
    x = torch.ones(2)
    return f(x, [x, x]), f(x, [], x), f(x, [x], n=4), f(x, (x,), None, 2)


@program
def arguments_by_name_only(torch: Any, ns: str) -> Any:
    def f(x, *, by=2.0):  # type: ignore[no-untyped-def]
        return x * by

    made = torch.library.custom_op(f"{ns}::f", annotated(torch, f, by=float), mutates_args=())
    return made(torch.ones(1)), made(torch.ones(1), by=5.0)


@program
def an_operator_of_the_same_name_takes_the_place_of_another(torch: Any, ns: str) -> Any:
    scaled(torch, ns)
    torch.library.custom_op(f"{ns}::f", annotated(torch, lambda x: x + 1), mutates_args=())
    return getattr(torch.ops, ns).f(torch.ones(1))


@program
def a_missing_argument(torch: Any, ns: str) -> Any:
    return scaled(torch, ns)()


@program
def one_argument_too_many(torch: Any, ns: str) -> Any:
    return scaled(torch, ns)(torch.ones(1), 1.0, 2.0)


@program
def a_number_where_a_string_is_given(torch: Any, ns: str) -> Any:
    return scaled(torch, ns)(torch.ones(1), "a")


@program
def an_int_where_a_tensor_is_given(torch: Any, ns: str) -> Any:
    function = annotated(torch, lambda x, n: x * n, n=int)
    return torch.library.custom_op(f"{ns}::f", function, mutates_args=())(torch.ones(1), torch.ones(2))


# Memory -----------------------------------------------------------------------------------------------------------


@program
def the_argument_itself_as_result(torch: Any, ns: str) -> Any:
    return torch.library.custom_op("aliases::f", annotated(torch, lambda x: x), mutates_args=())(torch.ones(2))


@program
def a_view_of_the_argument_as_result(torch: Any, ns: str) -> Any:
    return torch.library.custom_op("aliases::f", annotated(torch, lambda x: x[:1]), mutates_args=())(torch.ones(2))


@program
def a_result_twice(torch: Any, ns: str) -> Any:
    function = annotated(torch, lambda x: (x + 1,) * 2, **{"return": tuple[torch.Tensor, torch.Tensor]})
    return torch.library.custom_op("aliases::f", function, mutates_args=())(torch.ones(2))


@program
def a_tensor_of_a_list_as_result(torch: Any, ns: str) -> Any:
    function = annotated(torch, lambda x: x[0], x=list[torch.Tensor])
    return torch.library.custom_op("aliases::f", function, mutates_args=())([torch.ones(2)])


def doubling(torch: Any, ns: str, **options: Any) -> Any:
    def f(x):  # type: ignore[no-untyped-def]
        x.detach().numpy()[...] *= 2

    return torch.library.custom_op(f"{ns}::f", annotated(torch, f, **{"return": None}), mutates_args={"x"}, **options)


@program
def what_is_written_to_gets_a_new_version(torch: Any, ns: str) -> Any:
    x = torch.ones(2)
    result = doubling(torch, ns)(x)
    return result, x, x._version


@program
def each_tensor_of_a_list_that_is_written_to_gets_a_new_version(torch: Any, ns: str) -> Any:
    function = annotated(torch, lambda x: None, x=list[torch.Tensor], **{"return": None})
    f = torch.library.custom_op(f"{ns}::f", function, mutates_args={"x"})
    xs = [torch.ones(1), torch.ones(1)]
    f(xs)
    return [x._version for x in xs]


@program
def every_tensor_may_be_written_to_where_it_is_unknown(torch: Any, ns: str) -> Any:
    function = annotated(torch, lambda x, y, n: None, y=torch.Tensor, n=int, **{"return": None})
    f = torch.library.custom_op(f"{ns}::f", function, mutates_args="unknown")
    x, y = torch.ones(1), torch.ones(1)
    f(x, y, 2)
    return x._version, y._version, str(f._opoverload._schema).partition("(")[2]


@program
def a_saved_tensor_that_was_written_to_is_found(torch: Any, ns: str) -> Any:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    z = y * y
    doubling(torch, ns)(y)
    z.sum().backward()


@program
def a_schema_that_writes_to_more_than_is_said(torch: Any, ns: str) -> Any:
    return torch.library.custom_op(f"{ns}::f", lambda x: None, mutates_args=(), schema="(Tensor(a!) x) -> ()")


@program
def an_operator_in_place(torch: Any, ns: str) -> Any:
    def f(x):  # type: ignore[no-untyped-def]
        x.detach().numpy()[...] += 1
        return x

    made = torch.library.custom_op(f"{ns}::f_", annotated(torch, f), mutates_args={"x"}, tags=torch.Tag.inplace)
    x = torch.ones(2)
    return made(x) is x, x, x._version, str(made._opoverload._schema).partition("(")[2]


@program
def an_operator_in_place_that_returns_another_tensor(torch: Any, ns: str) -> Any:
    function = annotated(torch, lambda x: x.clone())
    f = torch.library.custom_op("aliases::f_", function, mutates_args={"x"}, tags=torch.Tag.inplace)
    return f(torch.ones(1))


@program
def an_operator_with_an_out_argument(torch: Any, ns: str) -> Any:
    def f(x, *, out):  # type: ignore[no-untyped-def]
        out.numpy()[...] = x.numpy() + 1
        return out

    function = annotated(torch, f, out=torch.Tensor)
    made = torch.library.custom_op(f"{ns}::f", function, mutates_args={"out"}, tags=torch.Tag.out)
    out = torch.zeros(2)
    return made(torch.ones(2), out=out) is out, out, out._version


@program
def an_out_argument_has_no_gradient(torch: Any, ns: str) -> Any:
    def f(x, *, out):  # type: ignore[no-untyped-def]
        return out

    function = annotated(torch, f, out=torch.Tensor)
    made = torch.library.custom_op(f"{ns}::f", function, mutates_args={"out"}, tags=torch.Tag.out)
    return made(torch.ones(2, requires_grad=True), out=torch.zeros(2))


@program
def a_tensor_by_name_only(torch: Any, ns: str) -> Any:
    return torch.library.custom_op(f"{ns}::f", lambda x: x, mutates_args=(), schema="(*, Tensor x) -> Tensor")


# Devices ----------------------------------------------------------------------------------------------------------


@program
def a_device_without_a_kernel(torch: Any, ns: str) -> Any:
    return scaled(torch, ns, device_types="cuda")(torch.ones(1))


@program
def a_kernel_for_each_device(torch: Any, ns: str) -> Any:
    f = scaled(torch, ns, device_types="cuda")
    f.register_kernel("cpu")(lambda x, by=2.0: x + by)
    return f(torch.ones(1))


@program
def a_kernel_comes_before_that_for_all_devices(torch: Any, ns: str) -> Any:
    f = scaled(torch, ns)
    before = f(torch.ones(1))
    f.register_kernel(("cpu", "cuda"), lambda x, by=2.0: x - by)
    return before, f(torch.ones(1))


@program
def a_kernel_that_is_replaced(torch: Any, ns: str) -> Any:
    f = scaled(torch, ns)
    f.register_kernel("cpu", lambda x, by=2.0: x - by)
    f.register_kernel("cpu", lambda x, by=2.0: x + by)
    return f(torch.ones(1))


@program
def a_kernel_that_is_switched_off(torch: Any, ns: str) -> Any:
    f = scaled(torch, ns)
    f.register_kernel("cpu", lambda x, by=2.0: x - by)
    x = torch.ones(1)
    with f.set_kernel_enabled("cpu", enabled=False):
        inside = f(x)
        with f.set_kernel_enabled("cpu", enabled=True):
            nested = f(x)
    return inside, nested, f(x)


@program
def no_tensor_and_no_device(torch: Any, ns: str) -> Any:
    function = annotated(torch, lambda n: torch.ones(n), n=int)
    del function.__annotations__["x"]
    return torch.library.custom_op(f"{ns}::f", function, mutates_args=(), device_types="cpu")


def factory(torch: Any, ns: str) -> Any:
    function = annotated(torch, lambda n, device: torch.ones(n, device=device), n=int, device=torch.device)
    del function.__annotations__["x"]
    return torch.library.custom_op(f"{ns}::factory", function, mutates_args=(), device_types="cpu")


@program
def a_device_as_argument_chooses_the_kernel(torch: Any, ns: str) -> Any:
    return factory(torch, ns)(3, torch.device("cpu")), factory(torch, ns)(3, "cpu")


@program
def a_device_as_argument_without_a_kernel(torch: Any, ns: str) -> Any:
    return factory(torch, ns)(3, torch.device("meta"))


# Gradients --------------------------------------------------------------------------------------------------------


@program
def no_gradient(torch: Any, ns: str) -> Any:
    x = torch.ones(2, requires_grad=True)
    y = scaled(torch, "grads")(x)
    return y.requires_grad, y.grad_fn.name(), y.detach()


@program
def backward_without_a_formula(torch: Any, ns: str) -> Any:
    scaled(torch, "grads")(torch.ones(2, requires_grad=True)).sum().backward()


@program
def a_gradient_with_a_context(torch: Any, ns: str) -> Any:
    f = scaled(torch, ns)
    seen: list[Any] = []

    def setup_context(ctx, inputs, output):  # type: ignore[no-untyped-def]
        seen.append((len(inputs), inputs[1], output.requires_grad))
        ctx.by = inputs[1]
        ctx.save_for_backward(inputs[0])

    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        seen.append((ctx.needs_input_grad, ctx.saved_tensors[0].detach()))
        return grad * ctx.by, None

    f.register_autograd(backward, setup_context=setup_context)
    x = torch.ones(2, requires_grad=True)
    f(x).sum().backward()
    first = x.grad.clone()
    f(x, 5.0).sum().backward()
    return first, x.grad, seen


@program
def a_context_with_arguments_by_name(torch: Any, ns: str) -> Any:
    def f(x, *, by=2.0):  # type: ignore[no-untyped-def]
        return x.detach() * by

    made = torch.library.custom_op(f"{ns}::f", annotated(torch, f, by=float), mutates_args=())

    def setup_context(ctx, inputs, keyword_only_inputs, output):  # type: ignore[no-untyped-def]
        ctx.by, ctx.count = keyword_only_inputs["by"], len(inputs)

    made.register_autograd(lambda ctx, grad: grad * ctx.by * ctx.count, setup_context=setup_context)
    x = torch.ones(2, requires_grad=True)
    made(x, by=3.0).sum().backward()
    made(x).sum().backward()
    return x.grad


@program
def gradients_of_several_results(torch: Any, ns: str) -> Any:
    function = annotated(
        torch, lambda x, y: (x.detach() * y.detach(), y.detach() + 0), y=torch.Tensor,
        **{"return": tuple[torch.Tensor, torch.Tensor]},
    )  # fmt: skip
    f = torch.library.custom_op(f"{ns}::f", function, mutates_args=())
    seen: list[Any] = []

    def backward(ctx, product, same):  # type: ignore[no-untyped-def]
        seen.append(ctx.needs_input_grad)
        return product * 2, same * 3

    f.register_autograd(backward)
    x, y = torch.ones(1, requires_grad=True), torch.ones(1)
    product, same = f(x, y)
    product.sum().backward()
    y.requires_grad_()
    product, same = f(x, y)
    (product + same).sum().backward()
    return x.grad, y.grad, seen, product.requires_grad, same.requires_grad


@program
def gradients_of_a_list(torch: Any, ns: str) -> Any:
    function = annotated(torch, lambda x, n: sum(one.detach() for one in x) * n, x=list[torch.Tensor], n=int)
    f = torch.library.custom_op(f"{ns}::f", function, mutates_args=())
    seen: list[Any] = []

    def setup_context(ctx, inputs, output):  # type: ignore[no-untyped-def]
        ctx.count, ctx.n = len(inputs[0]), inputs[1]

    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        seen.append(ctx.needs_input_grad)
        return [grad * ctx.n] * ctx.count, None

    f.register_autograd(backward, setup_context=setup_context)
    x, y = torch.ones(1, requires_grad=True), torch.ones(1)
    f([x, y, x], 4).sum().backward()
    return x.grad, y.grad, seen


@program
def a_list_of_gradients_of_another_length(torch: Any, ns: str) -> Any:
    function = annotated(torch, lambda x: x[0].detach() * 2, x=list[torch.Tensor])
    f = torch.library.custom_op(f"{ns}::f", function, mutates_args=())
    f.register_autograd(lambda ctx, grad: [grad])
    x = torch.ones(1, requires_grad=True)
    f([x, x]).sum().backward()


@program
def a_list_of_results_has_gradients(torch: Any, ns: str) -> Any:
    function = annotated(torch, lambda x: [x.detach() * 2, x.detach() * 3], **{"return": list[torch.Tensor]})
    f = torch.library.custom_op(f"{ns}::f", function, mutates_args=())
    f.register_autograd(lambda ctx, grads: grads[0] * 2 + grads[1] * 3)
    x = torch.ones(1, requires_grad=True)
    first, second = f(x)
    (first + second).sum().backward()
    return x.grad


@program
def an_optional_argument_has_a_gradient(torch: Any, ns: str) -> Any:
    function = annotated(
        torch,
        lambda x, y=None: x.detach() + (0 if y is None else y.detach()),
        y=Optional[torch.Tensor],  # noqa: UP045
    )
    f = torch.library.custom_op(f"{ns}::f", function, mutates_args=())
    f.register_autograd(lambda ctx, grad: (grad, grad * 2 if ctx.needs_input_grad[1] else None))
    x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    f(x).sum().backward()
    f(x, y).sum().backward()
    return x.grad, y.grad


@program
def one_gradient_too_few(torch: Any, ns: str) -> Any:
    f = scaled(torch, "few")
    f.register_autograd(lambda ctx, grad: (grad,))
    f(torch.ones(1, requires_grad=True)).sum().backward()


@program
def a_second_derivative(torch: Any, ns: str) -> Any:
    f = torch.library.custom_op(f"{ns}::f", annotated(torch, lambda x: x.detach() ** 3), mutates_args=())
    f.register_autograd(
        lambda ctx, grad: grad * 3 * ctx.saved_tensors[0] ** 2,
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    x = torch.tensor([2.0], requires_grad=True)
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    return (
        first.detach(),
        second,
        torch.autograd.gradcheck(f, (torch.tensor([2.0, 3.0], dtype=torch.float64).requires_grad_(),)),
    )


@program
def no_gradient_in_no_grad(torch: Any, ns: str) -> Any:
    f = scaled(torch, ns)
    with torch.no_grad():
        return f(torch.ones(1, requires_grad=True)).requires_grad


@program
def a_gradient_of_what_is_written_to(torch: Any, ns: str) -> Any:
    doubling(torch, ns).register_autograd(lambda ctx, grad: grad)


@program
def a_gradient_of_an_operator_without_results(torch: Any, ns: str) -> Any:
    function = annotated(torch, lambda x: None, **{"return": None})
    torch.library.custom_op(f"{ns}::f", function, mutates_args=()).register_autograd(lambda ctx: None)


# Fake kernels, batches, autocast ----------------------------------------------------------------------------------


@program
def no_fake_kernel(torch: Any, ns: str) -> Any:
    return scaled(torch, "fakes")(torch.ones(1, device="meta"))


@program
def a_fake_kernel(torch: Any, ns: str) -> Any:
    f = scaled(torch, ns)
    assert f.register_fake(fake := lambda x, by=2.0: torch.empty_like(x)) is fake
    return f(torch.ones(2, 3, device="meta"))


@program
def what_returns_nothing_needs_no_fake_kernel(torch: Any, ns: str) -> Any:
    return doubling(torch, ns)(torch.ones(1, device="meta"))


@program
def a_fake_kernel_that_asks_for_a_size(torch: Any, ns: str) -> Any:
    f = scaled(torch, "fakes")
    f.register_fake(lambda x, by=2.0: torch.empty(torch.library.get_ctx().new_dynamic_size()))
    return f(torch.ones(1, device="meta"))


@program
def a_fake_kernel_that_an_operator_in_place_does_not_need(torch: Any, ns: str) -> Any:
    function = annotated(torch, lambda x: x)
    f = torch.library.custom_op("fakes::f_", function, mutates_args={"x"}, tags=torch.Tag.inplace)
    x = torch.ones(1, device="meta")
    same = f(x) is x
    f.register_fake(lambda x: x)
    return same


@program
def a_rule_for_a_batch(torch: Any, ns: str) -> Any:
    f = scaled(torch, ns)
    seen: list[Any] = []

    def rule(info, in_dims, x, by=2.0):  # type: ignore[no-untyped-def]
        seen.append((info.batch_size, info.randomness, in_dims))
        return f(x, by), in_dims[0]

    f.register_vmap(rule)
    x = torch.arange(6.0).reshape(2, 3)
    return torch.vmap(f)(x), torch.vmap(f, in_dims=1)(x), torch.vmap(lambda one: f(one, 5.0))(x), seen


@program
def a_rule_for_a_batch_of_two_arguments(torch: Any, ns: str) -> Any:
    function = annotated(torch, lambda x, y: x * y, y=torch.Tensor)
    f = torch.library.custom_op(f"{ns}::f", function, mutates_args=())
    seen: list[Any] = []

    @f.register_vmap
    def rule(info, in_dims, x, y):  # type: ignore[no-untyped-def]
        seen.append(in_dims)
        return x * y, 0

    x, y = torch.ones(2, 3), torch.arange(3.0)
    return torch.vmap(f, in_dims=(0, None))(x, y), torch.vmap(lambda one: f(y, y))(x), seen


@program
def a_batch_without_a_rule(torch: Any, ns: str) -> Any:
    return torch.vmap(scaled(torch, "batches"))(torch.ones(2, 3))


@program
def a_rule_that_returns_one_thing(torch: Any, ns: str) -> Any:
    f = scaled(torch, ns)
    f.register_vmap(lambda info, in_dims, x, by=2.0: x)
    return torch.vmap(f)(torch.ones(2, 3))


@program
def autocast_casts_what_it_is_told_to(torch: Any, ns: str) -> Any:
    seen: list[Any] = []

    def f(x, y):  # type: ignore[no-untyped-def]
        seen.append((str(x.dtype), str(y.dtype)))
        return x.clone()

    made = torch.library.custom_op(f"{ns}::f", annotated(torch, f, y=torch.Tensor), mutates_args=())
    made.register_autocast("cpu", torch.bfloat16)
    x = torch.ones(1)
    with torch.autocast("cpu"):
        made(x, x.double())
        made(x, torch.ones(1, dtype=torch.int64))
    made(x, x)
    return seen


@program
def autocast_on_what_has_none(torch: Any, ns: str) -> Any:
    return scaled(torch, ns).register_autocast("meta", torch.float16)


@program
def autocast_on_what_is_no_name(torch: Any, ns: str) -> Any:
    return scaled(torch, ns).register_autocast(3, torch.float16)


# Which schema is inferred ---------------------------------------------------------------------------------------------


SIGNATURES: list[tuple[str, dict[str, Any]]] = [
    ("x: Tensor, n: int, f: float, b: bool, s: str -> Tensor", {}),
    ("n: types.Number, t: dtype, d: device -> Tensor", {}),
    ("x: Optional[Tensor] -> Tensor", {}),
    ("x: List[Tensor], y: Sequence[Tensor], z: list[Tensor] -> Tensor", {}),
    ("x: List[Optional[Tensor]] -> Tensor", {}),
    ("n: Optional[List[int]], f: Optional[Sequence[float]], b: Optional[list[bool]] -> Tensor", {}),
    ("n: List[int] = None -> Tensor", {}),
    ("n: int = 3, f: float = 2.5, b: bool = True, s: str = 'a' -> Tensor", {}),
    ("t: dtype = float32, d: device = cpu, o: Optional[int] = None -> Tensor", {}),
    ("x: Tensor, *, n: int = 2 -> Tensor", {}),
    ("x: Tensor -> None", {}),
    ("x: Tensor -> Tuple[Tensor, int, float, bool]", {}),
    ("x: Tensor -> Tuple[Tensor]", {}),
    ("x: Tensor -> List[Tensor]", {}),
    ("x: Tensor, y: Tensor -> None", {"mutates_args": {"y"}}),
    ("x: Tensor, y: Optional[Tensor], z: List[Tensor], n: int -> None", {"mutates_args": "unknown"}),
    ("x: Tensor -> Tensor", {"op_name": "name"}),
    ("x: Tensor -> Tensor", {"mutates_args": {"x"}, "tags": "inplace"}),
    ("x: Tensor, *, out: Tensor -> Tensor", {"mutates_args": {"out"}, "tags": "out"}),
    ("x: Tensor, *, a: Tensor, b: Tensor -> Tuple[Tensor, Tensor]", {"mutates_args": {"a", "b"}, "tags": "out"}),
    ("x: 'Tensor', n: 'int' -> 'Tensor'", {}),
    # refused
    ("x -> Tensor", {}),
    ("x: Tensor, /, n: int -> Tensor", {}),
    ("*x: Tensor -> Tensor", {}),
    ("**x: Tensor -> Tensor", {}),
    ("x: object -> Tensor", {}),
    ("x: Tuple[int, int] -> Tensor", {}),
    ("x: Tuple[int, ...] -> Tensor", {}),
    ("x: Dict[str, int] -> Tensor", {}),
    ("x: 'NoSuchType' -> Tensor", {}),
    ("x: '1 +' -> Tensor", {}),
    ("x: Tensor -> object", {}),
    ("x: Tensor -> Tuple[Tensor, str]", {}),
    ("x: Tensor", {}),
    ("x: Tensor, n: int = object() -> Tensor", {}),
    ("x: Tensor -> Tensor", {"mutates_args": {"nope"}}),
    ("x: Tensor -> Tensor", {"mutates_args": "x"}),
    ("x: Tensor, n: int -> Tensor", {"mutates_args": {"n"}}),
    ("x: Tensor -> int", {"mutates_args": {"x"}, "tags": "inplace"}),
    ("n: int, x: Tensor -> Tensor", {"mutates_args": {"x"}, "tags": "inplace"}),
    ("x: Tensor, y: Tensor -> Tensor", {"mutates_args": {"y"}, "tags": "inplace"}),
    ("*, x: Tensor -> Tensor", {"mutates_args": {"x"}, "tags": "inplace"}),
    ("x: Tensor -> Tensor", {"mutates_args": {"x"}, "tags": "out"}),
    ("x: Tensor -> Tensor", {"tags": "out"}),
    ("x: Tensor, *, out: Tensor -> None", {"mutates_args": {"out"}, "tags": "out"}),
    ("x: Tensor, *, out: List[Tensor] -> None", {"mutates_args": {"out"}, "tags": "out"}),
]


def inferred(library: Any, signature: str, options: dict[str, Any]) -> str:
    names = {
        **{name: getattr(typing, name) for name in ("Optional", "List", "Sequence", "Tuple", "Dict")},
        **{name: getattr(library, name) for name in ("Tensor", "dtype", "device", "float32", "types")},
        "cpu": library.device("cpu"),
    }
    parameters, _, returned = signature.partition(" -> ")
    exec(f"def f({parameters}){' -> ' + returned if returned else ''}: ...", names)
    given = {"mutates_args": (), **options}
    if "tags" in given:
        given["tags"] = getattr(library.Tag, given["tags"])
    try:
        return str(library.library.infer_schema(names["f"], **given))
    except Exception as error:  # noqa: BLE001  (whatever is raised is compared)
        words = str(error).replace("glasstorch", "torch").replace("_tensor.", "")
        return f"{type(error).__name__}: {words.partition('The valid types')[0].partition('Got func')[0][:90]}"


@pytest.mark.parametrize(("signature", "options"), SIGNATURES, ids=range(len(SIGNATURES)))
def test_a_schema_is_inferred_or_refused_as_by_pytorch(
    require: Callable[[str], Any], signature: str, options: dict[str, Any]
) -> None:
    assert inferred(glasstorch, signature, options) == inferred(require("torch"), signature, options)


@pytest.mark.parametrize("run", PROGRAMS, ids=lambda run: run.__name__)
def test_a_program_does_what_it_does_under_pytorch(require: Callable[[str], Any], run: Program) -> None:
    namespace = f"custom_{next(_numbers)}"
    theirs = outcome(run, require("torch"), namespace)
    assert outcome(run, glasstorch, namespace) == theirs


def test_switching_what_is_switched_already_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    f = scaled(glasstorch, f"custom_{next(_numbers)}")
    with caplog.at_level(logging.WARNING), f.set_kernel_enabled("cpu", enabled=True):
        pass
    assert [record.getMessage() for record in caplog.records] == [
        "Attempted to enable kernel for cpu but no kernel was registered for this device type.",
        "Attempted to enable kernel for cpu but it was already enabled.",
    ]
