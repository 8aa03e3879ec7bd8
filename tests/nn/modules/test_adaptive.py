"""Is the adaptive softmax a softmax over all classes, and does it answer as PyTorch's?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import Program, assert_same

Require = Callable[[str], Any]


def made(torch: Any, **options: Any) -> Any:
    torch.manual_seed(0)
    return torch.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 7], **options)


def inputs(torch: Any) -> tuple[Any, Any]:
    torch.manual_seed(1)
    return torch.rand(6, 8) * 4 - 2, torch.tensor([0, 11, 4, 2, 8, 3])


def test_probabilities_add_up_and_hold_the_outputs(torch: Any) -> None:
    module, (x, y) = made(torch, div_value=2.0), inputs(torch)
    every = module.log_prob(x)
    assert every.shape == (6, 12)
    assert torch.allclose(every.exp().sum(1), torch.ones(6))
    found = module(x, y)
    assert torch.allclose(found.output, every[range(6), y])
    assert torch.allclose(found.loss, -found.output.mean())
    assert module.predict(x).tolist() == every.argmax(1).tolist()
    assert module.predict(x[:0]).shape == (0,)


def test_one_sample_without_a_batch(torch: Any) -> None:
    module, (x, y) = made(torch, div_value=2.0), inputs(torch)
    alone = module(x[1], y[1])
    assert alone.output.shape == ()
    assert torch.allclose(alone.output, module(x, y).output[1])


def initial_weights(torch: Any) -> Any:
    module = made(torch, head_bias=True)
    before = [(name, w.tolist()) for name, w in module.state_dict().items()]
    module.reset_parameters()
    return before, [(name, w.tolist()) for name, w in module.state_dict().items()], repr(module)


def rounded(tensor: Any) -> Any:
    return [round(number, 5) for number in tensor.flatten().tolist()]


def results_and_gradients(torch: Any) -> Any:
    module, (x, y) = made(torch), inputs(torch)
    x.requires_grad_()
    found = module(x, y)
    found.loss.backward()
    return rounded(found.output), rounded(x.grad), [rounded(p.grad) for p in module.parameters()]


def no_cutoffs(torch: Any) -> Any:
    return torch.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [])


def falling_cutoffs(torch: Any) -> Any:
    return torch.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [7, 3])


def cutoffs_beyond_the_classes(torch: Any) -> Any:
    return torch.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 12])


def a_class_too_many(torch: Any) -> Any:
    return made(torch)(torch.rand(2, 8), torch.tensor([0, 12]))


def targets_of_two_dimensions(torch: Any) -> Any:
    return made(torch)(torch.rand(2, 8), torch.tensor([[0], [1]]))


def targets_of_another_batch(torch: Any) -> Any:
    return made(torch)(torch.rand(2, 8), torch.tensor([0, 1, 2]))


def a_batch_with_one_target(torch: Any) -> Any:
    return made(torch)(torch.rand(2, 8), torch.tensor(0))


PROGRAMS = [
    initial_weights, results_and_gradients, no_cutoffs, falling_cutoffs, cutoffs_beyond_the_classes, a_class_too_many,
    targets_of_two_dimensions, targets_of_another_batch, a_batch_with_one_target,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_does_as_pytorchs(program: Program, require: Require) -> None:
    assert_same(program, require("torch"))
