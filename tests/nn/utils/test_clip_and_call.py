"""Are gradients clipped, parameters joined and modules called with other parameters as PyTorch does it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nn.side_by_side import assert_same
from tests.refusals import same_refusal


def network(torch: Any) -> Any:
    """Three parameters with gradients of 0, 1, 2 ... and one without."""
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    with torch.no_grad():
        for i, parameter in enumerate(net.parameters()):
            parameter.fill_(i + 1)
            if i < 3:
                parameter.grad = torch.arange(parameter.numel(), dtype=torch.float32).view_as(parameter)
    return net


def gradients(net: Any) -> Any:
    return [None if p.grad is None else [round(x, 5) for x in p.grad.flatten().tolist()] for p in net.parameters()]


def clipped(torch: Any) -> Any:
    net = network(torch)
    total = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    return round(total.item(), 5), gradients(net)


def clipped_by_the_largest(torch: Any) -> Any:
    net = network(torch)
    total = torch.nn.utils.clip_grad_norm_(list(net.parameters()), 2.0, float("inf"), foreach=True)
    return total.item(), gradients(net)


def left_as_they_are(torch: Any) -> Any:
    net = network(torch)
    return round(torch.nn.utils.clip_grad_norm_(net[0].weight, 100.0).item(), 5), gradients(net)


def clipped_values(torch: Any) -> Any:
    net = network(torch)
    torch.nn.utils.clip_grad_value_(net.parameters(), 1.5)
    return gradients(net)


def nothing_to_clip(torch: Any) -> Any:
    return torch.nn.utils.clip_grad_norm_((p for p in ()), 1.0).item()


def not_finite(torch: Any) -> Any:
    net = network(torch)
    net[0].weight.grad[0, 0] = float("nan")
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0, error_if_nonfinite=True)


def joined_and_taken_apart(torch: Any) -> Any:
    net = network(torch)
    vector = torch.nn.utils.parameters_to_vector(net.parameters())
    torch.nn.utils.vector_to_parameters(vector * 2, net.parameters())
    return vector.tolist(), [p.flatten().tolist() for p in net.parameters()]


def of_several_dtypes(torch: Any) -> Any:
    net = network(torch).append(torch.nn.Linear(1, 2).double())
    net[2].weight.grad = torch.ones(2, 1, dtype=torch.float64)
    total = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0, 1.0)
    return str(total.dtype), round(total.item(), 5), gradients(net)


def a_list_in_place_of_a_vector(torch: Any) -> Any:
    torch.nn.utils.vector_to_parameters([1.0], network(torch).parameters())


def a_vector_that_is_too_short(torch: Any) -> Any:
    torch.nn.utils.vector_to_parameters(torch.ones(5), network(torch).parameters())


def no_parameters_to_join(torch: Any) -> Any:
    return torch.nn.utils.parameters_to_vector([])


def parameters_in_another_order(torch: Any) -> Any:
    return torch.nn.utils.parameters_to_vector([torch.ones(2, 3).t()])


def totals(torch: Any) -> Any:
    tensors = [torch.arange(3.0), -torch.ones(2, 2)]
    norms = [round(torch.nn.utils.get_total_norm(tensors, order).item(), 5) for order in (0, 1, 2, 3, float("inf"))]
    return norms, torch.nn.utils.get_total_norm([]).item(), torch.nn.utils.get_total_norm(torch.ones(4)).item()


def scaled_by_a_given_total(torch: Any) -> Any:
    net = network(torch)
    returned = torch.nn.utils.clip_grads_with_norm_(net.parameters(), 1.0, torch.tensor(4.0))
    return returned, gradients(net)


def the_deprecated_name(torch: Any) -> Any:
    net = network(torch)
    return round(torch.nn.utils.clip_grad_norm(net.parameters(), 1.0).item(), 5), gradients(net)


def called_with_other_parameters(torch: Any) -> Any:
    net = network(torch)
    call = torch.nn.utils.stateless.functional_call
    values = {"0.weight": torch.zeros(2, 2), "1.bias": torch.ones(1, requires_grad=True)}
    out = call(net, values, torch.ones(1, 2))
    return out.tolist(), out.requires_grad, net[0].weight.tolist()


def tied(torch: Any, **options: Any) -> Any:
    net = torch.nn.Module()
    net.a = torch.nn.Parameter(torch.ones(1))
    net.b = net.a
    net.forward = lambda: net.a * 10 + net.b
    call = torch.nn.utils.stateless.functional_call
    return lambda values: call(net, values, **options).tolist()


def tied_parameters(torch: Any) -> Any:
    return tied(torch)({"a": torch.zeros(1)}), tied(torch, tie_weights=False)({"a": torch.zeros(1)})


def two_values_for_tied_parameters(torch: Any) -> Any:
    tied(torch)({"a": torch.zeros(1), "b": torch.ones(1)})


def all_names_are_wanted(torch: Any) -> Any:
    net = network(torch)
    values = {"0.weight": torch.ones(2, 2), "0.c": torch.ones(1)}
    torch.nn.utils.stateless.functional_call(net, values, None, strict=True)


PROGRAMS = [
    clipped, clipped_by_the_largest, left_as_they_are, clipped_values, nothing_to_clip, not_finite, of_several_dtypes,
    a_list_in_place_of_a_vector, a_vector_that_is_too_short, no_parameters_to_join, parameters_in_another_order,
    totals, scaled_by_a_given_total, the_deprecated_name, joined_and_taken_apart, called_with_other_parameters,
    tied_parameters, two_values_for_tied_parameters, all_names_are_wanted,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_in_torch(program: Callable[[Any], Any], require: Callable[[str], Any]) -> None:
    assert_same(program, require("torch"))


def test_what_is_no_vector_is_refused_in_pytorchs_words(require: Callable[[str], Any]) -> None:
    same_refusal(require("torch"), lambda torch: torch.nn.utils.vector_to_parameters([1.0], []))


@pytest.mark.parametrize(
    "kind", [list, iter, lambda pair: (one for one in pair)], ids=["list", "iterator", "generator"]
)
@pytest.mark.parametrize(
    ("order", "limit", "total", "left"),
    [
        (2.0, 1.0, 5.0, [0.6, 0.8]),
        (1.0, 1.4, 7.0, [0.6, 0.8]),
        (float("inf"), 2.0, 4.0, [1.5, 2.0]),
        (2.0, 5.5, 5.0, [3.0, 4.0]),
    ],
)
def test_gradients_are_clipped_as_one_vector(
    kind: Callable[[Any], Any], order: float, limit: float, total: float, left: list[float]
) -> None:
    pair = [glasstorch.zeros(1), glasstorch.zeros(1)]
    held = [glasstorch.tensor([3.0]), glasstorch.tensor([4.0])]
    for parameter, gradient in zip(pair, held, strict=True):
        parameter.grad = gradient
    norm = glasstorch.nn.utils.clip_grad_norm_(kind(pair), limit, order)
    assert norm.item() == pytest.approx(total)
    assert [gradient.item() for gradient in held] == pytest.approx(left)


@pytest.mark.parametrize("bad", [float("inf"), float("nan")])
def test_an_error_about_a_norm_leaves_gradients_as_they_are(bad: float) -> None:
    pair = [glasstorch.zeros(1), glasstorch.zeros(1)]
    pair[0].grad, pair[1].grad = glasstorch.tensor([3.0]), glasstorch.tensor([bad])
    with pytest.raises(RuntimeError, match="non-finite"):
        glasstorch.nn.utils.clip_grad_norm_(pair, 1.0, error_if_nonfinite=True)
    assert pair[0].grad.item() == 3.0


def test_the_deprecated_name_clips_too() -> None:
    pair = [glasstorch.zeros(1), glasstorch.zeros(1)]
    pair[0].grad, pair[1].grad = glasstorch.tensor([3.0]), glasstorch.tensor([4.0])
    with pytest.warns(FutureWarning, match="clip_grad_norm_"):
        norm = glasstorch.nn.utils.clip_grad_norm(pair, 1.0)
    assert norm.item() == pytest.approx(5.0)
    assert [one.grad.item() for one in pair] == pytest.approx([0.6, 0.8])
