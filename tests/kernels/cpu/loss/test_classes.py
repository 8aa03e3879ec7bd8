"""Are losses of classes right for every reduction, weight, ignored class and number of dimensions?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.kernels.cpu.loss.classes import named

random = np.random.default_rng(0)
CLASSES = 4
PLACES = [(), (3,), (2, 5), (2, 3, 4), (2, 2, 3, 2)]  # sizes of targets: one sample, a batch, rows, images, volumes
WEIGHT = np.array([0.5, 1.0, 2.0, 0.25])


def example(places: tuple[int, ...]) -> tuple[Any, Any]:
    """Log probabilities and targets; the first target is 0 and the last 1, so that ignoring 0 leaves some."""
    scores = random.standard_normal((*places[:1], CLASSES, *places[1:])) - 3
    targets = random.integers(0, CLASSES, places)
    if places:
        targets.reshape(-1)[[0, -1]] = 0, 1
    return scores, targets


def wanted(scores: Any, targets: Any, weight: Any, ignored: int, reduction: str) -> Any:
    """nll_loss, one place after the other."""
    moved = np.moveaxis(scores, 1, -1) if scores.ndim > 1 else scores
    losses, weights = np.zeros(targets.shape), np.zeros(targets.shape)
    for place in np.ndindex(targets.shape):
        c = targets[place]
        if c != ignored:
            weights[place] = 1 if weight is None else weight[c]
            losses[place] = -weights[place] * moved[(*place, c)]
    if reduction == "none":
        return losses
    return losses.sum() / (weights.sum() if reduction == "mean" else 1)


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ignored", [-100, 0])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_nll_loss(torch: Any, places: tuple[int, ...], weighted: bool, ignored: int, reduction: str) -> None:
    scores, targets = example(places)
    weight = WEIGHT if weighted else None
    if not places:
        targets = np.array(1)
    x = torch.from_numpy(scores).requires_grad_()
    loss = torch.nn.functional.nll_loss(
        x,
        torch.from_numpy(targets),
        None if weight is None else torch.from_numpy(weight),
        ignore_index=ignored,
        reduction=reduction,
    )
    np.testing.assert_allclose(loss.detach().numpy(), wanted(scores, targets, weight, ignored, reduction))
    loss.backward(torch.full(loss.shape, 2.0, dtype=torch.float64))
    wide = np.zeros_like(scores)
    for index in np.ndindex(scores.shape):  # the loss is linear in the scores: differences are its gradient
        unit = np.zeros_like(scores)
        unit[index] = 1
        wide[index] = 2 * np.sum(wanted(unit, targets, weight, ignored, reduction))
    np.testing.assert_allclose(x.grad.numpy(), wide)


@pytest.mark.parametrize("places", [(3,), (2, 3, 4)])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_second_gradients(places: tuple[int, ...], reduction: str) -> None:
    scores, targets = example(places)
    x, t, w = map(glasstorch.from_numpy, (scores, targets, WEIGHT))
    loss = glasstorch.nn.functional.nll_loss
    # Of a function of the loss that bends: the loss itself is linear.
    assert glasstorch.autograd.gradcheck(lambda x: loss(x, t, w, reduction=reduction) ** 2, (x.requires_grad_(),))
    assert glasstorch.autograd.gradgradcheck(lambda x: loss(x, t, w, reduction=reduction) ** 2, (x,))


def test_the_total_weight_is_returned(torch: Any) -> None:
    scores, targets = example((3,))
    targets = torch.from_numpy(np.array([0, 2, 3]))
    x, w = torch.from_numpy(scores), torch.from_numpy(WEIGHT)
    forward = torch.ops.aten.nll_loss_forward
    assert [forward(x, targets, w, reduction, 2)[1].tolist() for reduction in (0, 1, 2)] == [0.0, 0.75, 0.75]
    assert [forward(x, targets, None, reduction, -100)[1].tolist() for reduction in (0, 1, 2)] == [0.0, 3.0, 3.0]
    assert forward(x[0], targets[1], w, 0, -100)[1].tolist() == 2.0


def test_nothing_to_average_gives_nan(torch: Any) -> None:
    loss = torch.nn.functional.nll_loss
    x, t = torch.zeros(2, 3), torch.tensor([1, 1])
    assert math.isnan(loss(x, t, ignore_index=1).item())
    assert loss(x, t, ignore_index=1, reduction="sum").item() == 0
    assert math.isnan(loss(x[:0], t[:0]).item())
    assert loss(x[:0], t[:0], reduction="none").shape == (0,)
    assert math.isnan(loss(torch.zeros(0, 3, 2, 2), torch.zeros(0, 2, 2).long()).item())
    x.requires_grad_()
    loss(x, t, ignore_index=1).backward()
    assert x.grad.tolist() == [[0.0] * 3] * 2


def test_an_ignored_class_need_not_exist(torch: Any) -> None:
    x = torch.zeros(2, 3)
    x[0, 2] = -1.5
    for number in (-100, 7):
        target = torch.tensor([2, number])
        assert torch.nn.functional.nll_loss(x, target, ignore_index=number).item() == 1.5
    assert torch.nn.functional.nll_loss(x, torch.tensor([2, 7]).to(torch.uint8), ignore_index=7).item() == 1.5


@pytest.mark.parametrize("number", [3, -1, 2**62, -(2**63)])
def test_the_class_that_does_not_exist_is_named(torch: Any, number: int) -> None:
    for target, scores in ((torch.tensor([1, number]), (2, 3)), (torch.tensor([[[1, number]]]), (1, 3, 1, 2))):
        for reduction in ("none", "mean"):
            with pytest.raises(IndexError, match=f"Target {number} is out of bounds"):
                torch.nn.functional.nll_loss(torch.zeros(scores), target, reduction=reduction)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_the_loss_has_the_dtype_of_the_scores(torch: Any, dtype: str) -> None:
    x = torch.full((64, 2), -256.0).to(getattr(torch, dtype)).requires_grad_()
    loss = torch.nn.functional.nll_loss(x, torch.zeros(64).long())
    loss.backward()
    assert loss.dtype == x.grad.dtype == x.dtype
    assert loss.item() == 256
    assert x.grad[:, 0].tolist() == [-1 / 64] * 64


def test_scores_and_targets_of_any_layout(torch: Any) -> None:
    for places in ((5,), (2, 3, 4)):
        scores, targets = example(places)
        x = torch.from_numpy(np.asfortranarray(scores))
        t = torch.from_numpy(np.repeat(targets, 2, 0))[::2]
        loss = torch.nn.functional.nll_loss(x, t, reduction="none")
        np.testing.assert_allclose(loss.numpy(), wanted(scores, targets, None, -100, "none"))


def test_gradients_of_any_layout() -> None:
    scores, targets = example((2, 3, 4))
    x = glasstorch.from_numpy(np.asfortranarray(scores)).requires_grad_()
    loss = glasstorch.nn.functional.nll_loss(x, glasstorch.from_numpy(targets), reduction="none")
    loss.backward(glasstorch.ones(1, dtype=glasstorch.float64).expand(loss.shape))
    assert x.grad.sum().item() == -targets.size


def test_what_targets_name() -> None:
    counted, classes, positions = named.run((2, 3, 2), np.array([[0, 2], [1, 1]]), -100)
    assert np.arange(4)[counted].tolist() == [0, 1, 2, 3]
    assert classes.tolist() == [0, 2, 1, 1]
    assert positions.tolist() == [0, 5, 8, 9]
    counted, classes, positions = named.run((2, 3), np.array([2, 0]), 2)
    assert np.arange(2)[counted].tolist() == [1]
    assert (classes.tolist(), positions.tolist()) == ([0], [3])


# Margins --------------------------------------------------------------------------------------------------------


def test_gradients_of_margins_between_classes(torch: Any) -> None:
    x = torch.tensor([[0.5, 0.2, 0.9], [3.0, 0.0, -2.0]], dtype=torch.float64, requires_grad=True)
    functional = torch.nn.functional
    labels = torch.tensor([[2, 0, -1], [0, -1, 1]])  # what stands behind -1 does not count
    loss = functional.multilabel_margin_loss(x, labels, reduction="sum")
    loss.backward()
    np.testing.assert_allclose(loss.item(), (0.3 + 0.7) / 3)
    np.testing.assert_allclose(x.grad.numpy(), np.array([[-1, 2, -1], [0, 0, 0]]) / 3)
    x.grad = None
    loss = functional.multi_margin_loss(x, torch.tensor([2, 0]), p=2, margin=0.5, weight=torch.ones(3).double() * 2)
    loss.backward()
    np.testing.assert_allclose(loss.item(), 0.1**2 * 2 / 3 / 2)
    np.testing.assert_allclose(x.grad.numpy(), np.array([[0.4, 0, -0.4], [0, 0, 0]]) / 3 / 2, atol=1e-15)


def test_a_class_whose_score_is_nan_lacks_nothing(torch: Any) -> None:
    x = torch.tensor([[0.5, math.nan, 0.9]])
    assert torch.nn.functional.multilabel_margin_loss(x, torch.tensor([[2, -1, 0]])).item() == pytest.approx(0.2)
    assert torch.nn.functional.multi_margin_loss(x, torch.tensor([2])).item() == pytest.approx(0.2)


@pytest.mark.parametrize("number", [3, -2])
def test_labels_that_do_not_exist_are_refused(torch: Any, number: int) -> None:
    with pytest.raises(RuntimeError, match="out of range"):
        torch.nn.functional.multilabel_margin_loss(torch.zeros(1, 3), torch.tensor([[number, -1, -1]]))
    with pytest.raises((RuntimeError, ValueError, IndexError), match="out of range"):
        torch.nn.functional.multi_margin_loss(torch.zeros(1, 3), torch.tensor([number]))
