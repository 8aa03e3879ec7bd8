"""Are batches, layers and groups normalized as PyTorch does it, to the refusals?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nn.side_by_side import assert_same

Require = Callable[[str], Any]


def numbers(torch: Any, *shape: int, start: int = 1) -> Any:
    """Doubles that differ, between -1 and 1."""
    count = torch.empty(shape).numel()
    return (torch.arange(start, start + count, dtype=torch.float64) ** 2).sin().view(shape)


def rounded(*tensors: Any) -> list[Any]:
    return [t if t is None else (str(t.dtype)[-7:], (t.double() * 1e5).round().tolist()) for t in tensors]


def channels(torch: Any) -> tuple[Any, ...]:
    """An input of three channels, and their weight, bias, running mean and variance."""
    parts = [numbers(torch, 3, start=start) for start in (5, 9, 13, 17)]
    return numbers(torch, 4, 3, 5), *parts[:3], parts[3] + 2


def moved_in_training(torch: Any) -> list[Any]:
    x, w, b, mean, var = channels(torch)
    results = torch.ops.aten._batch_norm_with_update(x, w, b, mean, var, 0.25, 1e-3)
    return rounded(*results[:3], mean, var) + [list(results[3].shape), str(results[3].dtype)[-5:]]


def numbered(torch: Any) -> Any:
    x, w, b, mean, var = channels(torch)
    *tensors, number = torch.ops.aten._batch_norm_impl_index(x, w, b, mean, var, True, 0.25, 1e-3, True)
    empty = torch.ops.aten._batch_norm_impl_index(x[:0], w, b, mean, var, True, 0.25, 1e-3, True)
    return rounded(*tensors[:3], mean, var), number, list(empty[0].shape), str(empty[1].dtype)[-7:], empty[4]


def versions_of_statistics(torch: Any) -> list[int]:
    """Only instance_norm, which copies, counts as a change."""
    x, w, b, mean, var = channels(torch)
    before = [mean._version, var._version]
    torch.native_batch_norm(x, w, b, mean, var, True, 0.1, 1e-5)
    torch.nn.functional.batch_norm(x, mean, var, training=True)
    return [mean._version - before[0], var._version - before[1]]


def halves(torch: Any) -> list[Any]:
    """Statistics have float32's dtype beside parameters of it, else the input's, by which it is then normalized."""
    x, w, b, *_ = channels(torch)
    x = x.bfloat16()
    plain = torch.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5)
    mixed = torch.native_batch_norm(x, w.float(), b.float(), None, None, True, 0.1, 1e-5)
    layer = torch.native_layer_norm(x, [5], None, None, 1e-5)
    group = torch.native_group_norm(x, w.float(), b.float(), 4, 3, 5, 3, 1e-5)
    return [str(t.dtype) for results in (plain, mixed, layer, group) for t in results]


def nothing_to_normalize(torch: Any) -> Any:
    return [
        [str(t.tolist()) for t in torch.native_layer_norm(torch.ones(2, 0), [0], None, None, 1e-5)],
        [str(t.tolist()) for t in torch.native_group_norm(torch.ones(2, 4, 0), None, None, 2, 4, 0, 2, 1e-5)],
        list(torch.nn.functional.batch_norm(torch.ones(0, 3), None, None, training=True).shape),
    ]


def second_order_of_empty_groups(torch: Any) -> Any:
    x = torch.ones(0, 4, 3, dtype=torch.float64, requires_grad=True)
    w = torch.ones(4, dtype=torch.float64, requires_grad=True)
    (grad,) = torch.autograd.grad(torch.nn.functional.group_norm(x, 2, w).sum(), x, create_graph=True)
    return [list(g.shape) for g in torch.autograd.grad(grad.sum(), (x, w))]


def gradients_of_statistics_of_groups(torch: Any) -> list[Any]:
    x = numbers(torch, 2, 4, 3).requires_grad_()
    _, mean, rstd = torch.native_group_norm(x, None, None, 2, 4, 3, 2, 1e-5)
    return rounded(*torch.autograd.grad((mean * 2 + rstd).sum(), x))


def masked_gradients(torch: Any) -> list[Any]:
    x, w, _, mean, var = channels(torch)
    backward = torch.ops.aten.native_batch_norm_backward
    in_training = backward(x * x, x, w, None, None, mean, var, True, 1e-5, [True, False, True])
    by_running = backward(x * x, x, None, mean, var, None, None, False, 1e-5, [True, True, False])
    return rounded(*in_training, *by_running)


WEIGHTS = [((4, 1, 1), 0), ((1, 1, 5), 2)]  # sizes of g for weights of (4, 3, 5), and the dimension that is kept


def weights(torch: Any) -> list[Any]:
    x = numbers(torch, 4, 3, 5)
    found = []
    for sizes, dim in WEIGHTS:
        g = numbers(torch, *sizes, start=7)
        weight, norms = torch._weight_norm_interface(x, g, dim)
        arguments = (x * x, x, g, norms, dim)
        found += [weight, norms, *torch.ops.aten._weight_norm_interface_backward(*arguments)]
        found += torch.ops.aten._weight_norm_differentiable_backward(*arguments)
    return rounded(*found)


def dtypes_of_weights(torch: Any) -> list[Any]:
    """The norms are float32 beside half precision, and the gradients wide only if the weight is."""
    found = []
    for kind in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        x, g = numbers(torch, 4, 3).to(kind), numbers(torch, 4, 1).to(kind)
        weight, norms = torch._weight_norm_interface(x, g)
        found += [weight, norms, torch._weight_norm(x, g), torch.norm_except_dim(x)]
        if kind is not torch.float16:  # whose norms PyTorch gives another dtype on the meta device
            found += torch._weight_norm_interface(x.to("meta"), g.to("meta"))
        found += torch.ops.aten._weight_norm_interface_backward(weight, x, g, norms, 0)
    return [(str(t.dtype), list(t.shape), t.stride()) for t in found]


def orders_of_weights(torch: Any) -> list[Any]:
    """Whatever the order of the elements of v, the result has its own."""
    x, g = numbers(torch, 3, 4).t(), numbers(torch, 8, 1)[::2]
    found = [torch._weight_norm(x, g), torch._weight_norm(x, g.view(1, 4)[:, :3], 1)]
    return [*rounded(*found), [t.stride() for t in found]]


def norms_over_all_but_one(torch: Any) -> list[Any]:
    x = numbers(torch, 4, 3, 5)
    found = [torch.norm_except_dim(x, power, dim) for power in (0, 1, 2, 3) for dim in (-3, -2, -1, 0, 1, 2)]
    found += [
        torch.norm_except_dim(torch.complex(x, x), 2, 1),
        torch.norm_except_dim(x[0, 0]),
        torch._weight_norm(x, g=x[:, :1, :1]),
    ]
    return [*rounded(*found), [t.stride() for t in found]]


def weights_of_zero(torch: Any) -> list[str]:
    return [str(t.tolist()) for t in torch._weight_norm_interface(torch.zeros(2, 3), torch.ones(2, 1))]


def refused(call: Callable[..., Any]) -> Callable[[Any], Any]:
    """A program that calls a function of the library, the input and the vectors of its channels."""
    return lambda torch: call(torch, *channels(torch)) and None


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "moved in training": moved_in_training,
    "numbered": numbered,
    "versions": versions_of_statistics,
    "dtypes beside half precision": halves,
    "nothing": nothing_to_normalize,
    "second order of empty groups": second_order_of_empty_groups,
    "gradients of statistics": gradients_of_statistics_of_groups,
    "masked gradients": masked_gradients,
    "weights": weights,
    "dtypes of weights": dtypes_of_weights,
    "orders of weights": orders_of_weights,
    "norms over all but one": norms_over_all_but_one,
    "weights of zero": weights_of_zero,
    "a norm of a number": refused(lambda t, x, *_: t.norm_except_dim(x.sum())),
    "a norm without a dimension": refused(lambda t, x, *_: t.norm_except_dim(x, 2, 3)),
    "a norm of integers": refused(lambda t, x, *_: t._weight_norm(x.int(), x.int()[:, :1, :1])),
    "a norm of complex numbers": refused(lambda t, x, *_: t._weight_norm(*[t.complex(x, x)[:, :, 0]] * 2)),
    "a weight and its scale in two dtypes": refused(lambda t, x, *_: t._weight_norm(x, x.float()[:, :1, :1])),
    "a weight and its scale on two devices": refused(lambda t, x, *_: t._weight_norm(x, x.to("meta")[:, :1, :1])),
    "a saved weight in columns": refused(lambda t, x, w, *_: t.ops.aten._weight_norm_interface_backward(
        x, x.mT.contiguous().mT, x[:, :1, :1], w, 0)),
    "saved norms in columns": refused(lambda t, x, w, *_: t.ops.aten._weight_norm_differentiable_backward(
        x, x, w, x[:, :1, :1], 0)),
    "a gradient of a weight's middle": refused(lambda t, x, w, *_: t.ops.aten._weight_norm_differentiable_backward(
        x, x, w, w, 1)),
    "a weight's gradient in another dtype": refused(lambda t, x, w, *_: t.ops.aten._weight_norm_interface_backward(
        x.float(), x, t.ones(4).double(), t.ones(4).double(), 0)),
    "a vector": refused(lambda t, x, w, b, m, v: t.native_batch_norm(w, None, None, m, v, False, 0.1, 1e-5)),
    "a vector in training": refused(lambda t, x, w, b, m, v: t.nn.functional.batch_norm(w, m, v)),
    "an empty batch": refused(lambda t, x, w, b, m, v: t.native_batch_norm(x[:0], w, b, m, v, True, 0.1, 1e-5)),
    "no mean": refused(lambda t, x, w, b, m, v: t.nn.functional.batch_norm(x, None, v)),
    "no variance": refused(lambda t, x, w, b, m, v: t.nn.functional.batch_norm(x, m, None)),
    "one of two statistics": refused(lambda t, x, w, b, m, v: t.batch_norm(x, w, b, m, None, True, 0.1, 1e-5, True)),
    "a mean too long": refused(lambda t, x, w, b, m, v: t.nn.functional.batch_norm(x, t.ones(4), v)),
    "a weight too long": refused(lambda t, x, w, b, m, v: t.nn.functional.batch_norm(x, m, v, t.ones(4))),
    "whole numbers": refused(lambda t, x, w, b, m, v: t.nn.functional.batch_norm(x.long(), m, v)),
    "a narrower weight": refused(lambda t, x, w, b, m, v: t.nn.functional.batch_norm(x, m, v, w.float())),
    "wider parameters": refused(lambda t, x, w, b, m, v: t.nn.functional.batch_norm(x.half(), m, v, w)),
    "one parameter in another dtype": refused(lambda t, x, w, b, m, v: t.batch_norm(
        x, w, b.float(), m, v, True, 0.1, 1e-5, True)),
    "a gradient in another dtype": refused(lambda t, x, w, b, m, v: t.ops.aten.native_batch_norm_backward(
        x.float(), x, w, m, v, m, v, True, 1e-5, [True, True, True])),
    "a layer in another dtype": refused(lambda t, x, *_: t.native_layer_norm(x, [5], t.ones(5), None, 1e-5)),
    "whole numbers in a layer": refused(lambda t, x, *_: t.native_layer_norm(x.long(), [5], None, None, 1e-5)),
    "a root mean square of another width": refused(lambda t, x, *_: t.nn.functional.rms_norm(x, [4])),
    "groups of a vector": refused(lambda t, x, w, *_: t.group_norm(w, 3)),
    "groups that do not divide": refused(lambda t, x, *_: t.native_group_norm(x, None, None, 4, 3, 5, 2, 1e-5)),
    "a weight for other groups": refused(lambda t, x, *_: t.native_group_norm(x, t.ones(4), None, 4, 3, 5, 3, 1e-5)),
    "an instance with one statistic": refused(lambda t, x, w, b, m, v: t.nn.functional.instance_norm(x, m, None)),
}  # fmt: skip


def test_a_weight_of_another_dtype_is_warned_of(require: Require) -> None:
    def program(torch: Any) -> str:
        return str(torch.nn.functional.rms_norm(torch.ones(2, 3), [3], torch.ones(3).double()).dtype)[-7:]

    assert_same(program, require("torch"), words=False)  # PyTorch's also say where it warns
    with pytest.warns(UserWarning, match="input dtype = float, weight dtype = double"):
        program(glasstorch)


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_in_torch(name: str, require: Require) -> None:
    assert_same(PROGRAMS[name], require("torch"))


def test_a_scale_for_each_norm() -> None:
    """PyTorch reads beyond its end."""
    x = numbers(glasstorch, 4, 3)
    with pytest.raises(RuntimeError, match=r"^expected 4 elements, one for each index of dimension 0 of a weight of"):
        glasstorch._weight_norm_interface(x, glasstorch.ones(3).double())
    with pytest.raises(RuntimeError, match=r"^fused kernels can only be applied for first or last dim, got dim -1"):
        glasstorch._weight_norm_interface(x, glasstorch.ones(1).double(), -1)


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize(("sizes", "dim"), [*WEIGHTS, ((1, 3, 1), 1), ((), -1), ((4,), 0)])
def test_derivatives_of_weights_are_those_of_the_formula(sizes: tuple[int, ...], dim: int, twice: bool) -> None:
    """PyTorch's second derivative treats the norms as constants."""

    def by_formula(v: Any, g: Any, dim: int) -> Any:
        over = [axis for axis in range(v.dim()) if axis != dim]
        squares = (v * v).sum(over, keepdim=True) if over else v * v
        return v * (g / squares.sqrt())

    x = numbers(glasstorch, 4, 3, 5) if len(sizes) != 1 else numbers(glasstorch, 4)
    found = []
    for function in (glasstorch._weight_norm, by_formula):
        v, g = x.clone().requires_grad_(), numbers(glasstorch, *sizes, start=7).requires_grad_()
        gradients = glasstorch.autograd.grad(function(v, g, dim).pow(3).sum(), (v, g), create_graph=twice)
        if twice:
            gradients = glasstorch.autograd.grad(sum((x * x).sum() for x in gradients), (v, g), create_graph=True)
            gradients = glasstorch.autograd.grad(sum((x * x).sum() for x in gradients), (v, g))
        found.append(gradients)
    for one, other in zip(*found, strict=True):
        assert one.flatten().tolist() == pytest.approx(other.flatten().tolist(), rel=1e-6, abs=1e-6)


def test_results_of_a_weights_norm_that_have_a_gradient() -> None:
    v = numbers(glasstorch, 4, 3).requires_grad_()
    weight, norms = glasstorch._weight_norm_interface(v, glasstorch.ones(4, 1).double())
    assert weight.requires_grad
    assert not norms.requires_grad
    gradient = glasstorch.ops.aten._weight_norm_interface_backward(weight, v, norms, norms, 0)[0]
    assert gradient.requires_grad
