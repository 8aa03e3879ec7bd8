"""Is ctc_loss the sum over all paths, and its gradient that of the scores behind the logarithms?"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import glasstorch

STEPS, LENGTHS = [4, 3, 4], [2, 1, 0]
TARGETS = np.array([[1, 1], [2, 0], [0, 0]])  # a label twice in a row needs a blank between
random = np.random.default_rng(0)
SCORES = random.standard_normal((4, 3, 3))


def logarithms(scores: Any) -> Any:
    return scores - np.log(np.exp(scores).sum(-1, keepdims=True))


def wanted(scores: Any, blank: int) -> list[float]:
    """The loss of each sequence: from every path there is, without its repetitions, then without blanks."""
    logs = logarithms(scores)
    losses = []
    for n, (steps, length) in enumerate(zip(STEPS, LENGTHS, strict=True)):
        total = 0.0
        for path in itertools.product(range(logs.shape[2]), repeat=steps):
            said = [label for label, _ in itertools.groupby(path) if label != blank]
            if said == list(TARGETS[n, :length]):
                total += math.exp(sum(logs[step, n, label] for step, label in enumerate(path)))
        losses.append(-math.log(total) if total else math.inf)
    return losses


def loss_of(torch: Any, x: Any, **options: Any) -> Any:
    targets = torch.from_numpy(TARGETS)
    return torch.nn.functional.ctc_loss(x.log_softmax(2), targets, STEPS, LENGTHS, **options)


def test_the_loss_is_the_sum_over_all_paths(torch: Any) -> None:
    x = torch.from_numpy(SCORES)
    each = wanted(SCORES, 0)
    np.testing.assert_allclose(loss_of(torch, x, reduction="none").numpy(), each)
    np.testing.assert_allclose(loss_of(torch, x, reduction="sum").item(), sum(each))
    mean = np.mean(np.array(each) / np.maximum(LENGTHS, 1))
    np.testing.assert_allclose(loss_of(torch, x).item(), mean)


def test_the_gradient_of_scores(torch: Any) -> None:
    x = torch.from_numpy(SCORES).requires_grad_()
    loss_of(torch, x, reduction="sum").backward()
    slopes = np.zeros_like(SCORES)
    for place in np.ndindex(SCORES.shape):
        step = np.zeros_like(SCORES)
        step[place] = 1e-6
        slopes[place] = (sum(wanted(SCORES + step, 0)) - sum(wanted(SCORES - step, 0))) / 2e-6
    np.testing.assert_allclose(x.grad.numpy(), slopes, atol=1e-8)


def test_targets_in_a_row_and_lengths_in_tensors(torch: Any) -> None:
    logs = torch.from_numpy(logarithms(SCORES))
    row = torch.tensor([1, 1, 2])
    for steps, lengths in ((STEPS, LENGTHS), (torch.tensor(STEPS), torch.tensor(LENGTHS))):
        loss = torch.nn.functional.ctc_loss(logs, row, steps, lengths, reduction="none")
        np.testing.assert_allclose(loss.numpy(), wanted(SCORES, 0))


def test_targets_that_lie_apart_in_memory() -> None:
    # PyTorch reads past the labels of the first sequence there (https://github.com/pytorch/pytorch/issues/115585).
    logs = glasstorch.from_numpy(logarithms(SCORES))
    apart = glasstorch.tensor([1, 0, 1, 0, 2, 0])[::2]
    loss = glasstorch.nn.functional.ctc_loss(logs, apart, STEPS, LENGTHS, reduction="none")
    np.testing.assert_allclose(loss.numpy(), wanted(SCORES, 0))


def test_an_input_that_is_too_short(torch: Any) -> None:
    x = torch.zeros(2, 1, 3, requires_grad=True)
    logs = x.log_softmax(2)
    call = (torch.tensor([[1, 1]]), [2], [2])
    assert torch.nn.functional.ctc_loss(logs, *call).item() == math.inf
    loss = torch.nn.functional.ctc_loss(logs, *call, zero_infinity=True)
    loss.backward()
    assert loss.item() == 0
    assert x.grad.tolist() == np.zeros((2, 1, 3)).tolist()


def test_one_sequence_without_a_batch(torch: Any) -> None:
    logs = torch.from_numpy(logarithms(SCORES[:, 0]))
    loss = torch.nn.functional.ctc_loss(logs, torch.tensor([1, 1]), torch.tensor(4), torch.tensor(2), reduction="none")
    assert loss.shape == ()
    np.testing.assert_allclose(loss.item(), wanted(SCORES, 0)[0])


@pytest.mark.parametrize(
    ("targets", "steps", "lengths", "blank", "words"),
    [
        ([[1, 1]], [5], [2], 0, "Expected input_lengths to have value at most 4, but got value 5"),
        ([[1, 1]], [4], [3], 0, "Expected tensor to have size at least 3 at dimension 1, but got size 2"),
        ([[1, 1]], [4, 4], [2], 0, "input_lengths must be of size batch_size"),
        ([[1, 1]], [4], [2], 3, "blank must be in label range"),
        ([[1, 1]], [4], [-1], 0, "Expected target_lengths to have value at least 0, but got value -1"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(
    torch: Any, targets: Any, steps: Any, lengths: Any, blank: int, words: str
) -> None:
    with pytest.raises(RuntimeError, match=words):
        torch.nn.functional.ctc_loss(torch.zeros(4, 1, 3), torch.tensor(targets), steps, lengths, blank)


def test_labels_that_do_not_exist_are_refused() -> None:
    with pytest.raises(glasstorch.core.errors.IndexValueError, match="label 7 in targets; expected one from 0 to 2"):
        glasstorch.nn.functional.ctc_loss(glasstorch.zeros(4, 1, 3), glasstorch.tensor([[1, 7]]), [4], [2])
