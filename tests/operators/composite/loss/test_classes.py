"""What are softmax, nll_loss and cross_entropy made of, and is the whole right?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.dispatch.trace import trace

random = np.random.default_rng(0)


def composites(recorded: Any) -> list[str]:
    """The operators of a trace, each once, in the order of their calls."""
    return list(dict.fromkeys(hop.operator.removeprefix("aten::") for hop in recorded))


def test_cross_entropy_is_made_of_pytorchs_operators() -> None:
    with trace() as hops:
        glasstorch.nn.functional.cross_entropy(glasstorch.zeros(2, 3), glasstorch.tensor([0, 1]))
    wanted = ["cross_entropy_loss", "log_softmax.int", "_log_softmax", "nll_loss_nd", "nll_loss", "nll_loss_forward"]
    assert [name for name in composites(hops) if name in wanted] == wanted


def test_rows_and_volumes_are_images() -> None:
    for shape in ((2, 3, 4), (2, 3, 4, 5, 6)):
        with trace() as hops:
            glasstorch.nn.functional.nll_loss(
                glasstorch.zeros(shape), glasstorch.zeros((2, *shape[2:])).long(), reduction="none"
            )
        assert "nll_loss2d_forward" in composites(hops)


def smoothed(log_p: Any, target: Any, smoothing: float) -> Any:
    """The loss of each sample (N, C) by the definition of label smoothing."""
    classes = log_p.shape[1]
    probabilities = np.full(log_p.shape, smoothing / classes)
    probabilities[np.arange(len(target)), target] += 1 - smoothing
    return -(probabilities * log_p).sum(1)


@pytest.mark.parametrize("smoothing", [0.0, 0.3, 1.0])
def test_classes_and_their_probabilities_give_one_answer(torch: Any, smoothing: float) -> None:
    x, t = random.standard_normal((6, 4)), random.integers(0, 4, 6)
    log_p = x - np.log(np.exp(x).sum(1, keepdims=True))
    losses = smoothed(log_p, t, smoothing)
    one_hot = np.eye(4)[t]
    loss = torch.nn.functional.cross_entropy
    for target in (torch.from_numpy(t), torch.from_numpy(one_hot)):
        for reduction, expected in (("none", losses), ("mean", losses.mean()), ("sum", losses.sum())):
            result = loss(torch.from_numpy(x), target, reduction=reduction, label_smoothing=smoothing)
            np.testing.assert_allclose(result.numpy(), expected)


def test_ignored_and_weighted_classes_with_smoothing(torch: Any) -> None:
    x, t = random.standard_normal((5, 3, 2)), random.integers(0, 3, (5, 2))
    t[0] = 1
    weight = np.array([0.5, 2.0, 1.0])
    flat = np.moveaxis(x, 1, 2).reshape(-1, 3)
    log_p = flat - np.log(np.exp(flat).sum(1, keepdims=True))
    kept = t.reshape(-1) != 1
    named = weight[t.reshape(-1)] * -log_p[np.arange(10), t.reshape(-1)] * kept
    equal = -(log_p * weight).sum(1) * kept
    losses = 0.75 * named + 0.25 / 3 * equal
    total = (weight[t.reshape(-1)] * kept).sum()
    for reduction, expected in (("none", losses.reshape(5, 2)), ("sum", losses.sum()), ("mean", losses.sum() / total)):
        result = torch.nn.functional.cross_entropy(
            *map(torch.from_numpy, (x, t, weight)), ignore_index=1, reduction=reduction, label_smoothing=0.25
        )
        np.testing.assert_allclose(result.numpy(), expected)


def test_a_single_sample(torch: Any) -> None:
    x = torch.from_numpy(random.standard_normal(4))
    wanted = -torch.log_softmax(x, 0)[2].item()
    loss = torch.nn.functional.cross_entropy
    for smoothing in (0.0, 1e-15):
        assert loss(x, torch.tensor(2), label_smoothing=smoothing).item() == pytest.approx(wanted)
    assert loss(x, torch.tensor([0, 0, 1, 0]).double()).item() == pytest.approx(wanted)


def test_weighted_probabilities(torch: Any) -> None:
    x, weight = random.standard_normal((2, 3, 4)), np.array([0.5, 2.0, 1.0])
    p = np.exp(random.standard_normal((2, 3, 4)))
    log_p = x - np.log(np.exp(x).sum(1, keepdims=True))
    losses = -(log_p * p * weight[:, None]).sum(1)
    for reduction, expected in (("none", losses), ("mean", losses.mean()), ("sum", losses.sum())):
        result = torch.nn.functional.cross_entropy(*map(torch.from_numpy, (x, p, weight)), reduction=reduction)
        np.testing.assert_allclose(result.numpy(), expected)


def test_nothing_to_average_gives_nan(torch: Any) -> None:
    loss = torch.nn.functional.cross_entropy
    empty = torch.zeros(0, 3)
    assert math.isnan(loss(empty, empty).item())
    assert math.isnan(loss(empty, empty[:, 0].long()).item())
    assert math.isnan(loss(torch.zeros(2, 3), torch.tensor([1, 1]), ignore_index=1, label_smoothing=0.1).item())


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_twice(smoothing: float, weighted: bool) -> None:
    x = glasstorch.from_numpy(random.standard_normal((3, 4))).requires_grad_()
    weight = glasstorch.from_numpy(np.array([0.5, 2.0, 1.0, 0.25])) if weighted else None
    p = glasstorch.from_numpy(random.random((3, 4))).requires_grad_()

    def of_classes(x: Any) -> Any:
        target = glasstorch.tensor([0, 3, 1])
        return glasstorch.nn.functional.cross_entropy(x, target, weight, ignore_index=3, label_smoothing=smoothing)

    def of_probabilities(x: Any, p: Any) -> Any:
        return glasstorch.nn.functional.cross_entropy(x, p, weight, label_smoothing=smoothing)

    assert glasstorch.autograd.gradcheck(of_classes, (x,))
    assert glasstorch.autograd.gradgradcheck(of_classes, (x,))
    assert glasstorch.autograd.gradcheck(of_probabilities, (x, p))
    assert glasstorch.autograd.gradgradcheck(of_probabilities, (x, p))


REFUSED = {
    "integers where probabilities are due": (
        lambda t, loss: loss(t.zeros(2, 3), t.zeros(2, 3).long()),
        "Expected floating point type for target with class probabilities, got Long",
    ),
    "ignoring a class of probabilities": (
        lambda t, loss: loss(t.zeros(2, 3), t.zeros(2, 3), ignore_index=1),
        "ignore_index is not supported for floating point target",
    ),
    "too much smoothing": (
        lambda t, loss: loss(t.zeros(2, 3), t.zeros(2).long(), label_smoothing=1.5),
        r"label_smoothing must be between 0.0 and 1.0. Got: 1.5",
    ),
    "too much smoothing of probabilities": (
        lambda t, loss: loss(t.zeros(2, 3), t.zeros(2, 3), label_smoothing=1.5),
        r"label_smoothing must be between 0.0 and 1.0. Got: 1.5",
    ),
    "too few weights": (
        lambda t, loss: loss(t.zeros(2, 3), t.zeros(2, 3), t.zeros(2)),
        r"cross_entropy: weight tensor should be defined either for all 3 classes or no classes but got .*\[2\]",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(torch: Any, case: str) -> None:
    call, message = REFUSED[case]
    with pytest.raises(RuntimeError, match=message):
        call(torch, torch.nn.functional.cross_entropy)
