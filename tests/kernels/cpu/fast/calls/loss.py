"""Which random calls reach the targets that are read fast?"""

from __future__ import annotations

from typing import Any

import numpy as np

import glasstorch as torch
from glasstorch import Tensor
from tests.kernels.cpu.fast.calls.drawing import FLOATS, HALVES, laid_out, one_of
from tests.kernels.cpu.fast.held import Call


def loss_and_gradient(x: Tensor, *arguments: Any) -> Any:
    """nll_loss and its gradient."""
    x = x.detach().requires_grad_()
    loss = torch.nn.functional.nll_loss(x, *arguments)
    return loss, torch.autograd.grad(loss, x, torch.ones_like(loss))


def targets(rng: np.random.Generator) -> Call:
    """Scores of some classes; targets of which none, some or all are ignored, or one is out of bounds."""
    classes, dtype = int(rng.integers(1, 12)), one_of(rng, FLOATS + HALVES)
    places: list[int] = one_of(rng, [[], [int(rng.integers(0, 300))], [3, 7], [2, 5, 6]])
    x = laid_out(rng, [*places[:1], classes, *places[1:]], dtype, 0.01)
    ignored = one_of(rng, [-100, 0, classes - 1])
    target = np.asarray(rng.integers(0, classes, places))
    if not rng.integers(4):
        target = np.where(rng.random(places) < 0.3, ignored, target)
    if not rng.integers(8) and target.size:
        target.reshape(-1)[-1] = one_of(rng, [-1, classes, 2**40])
    weight = laid_out(rng, [classes], dtype) if rng.integers(2) else None
    reduction = one_of(rng, ["none", "mean", "sum"])
    return Call(loss_and_gradient, (x, torch.from_numpy(target), weight, None, ignored, None, reduction))


def batch(rng: np.random.Generator) -> Call:
    """Scores of some classes for each sample; mostly without weights, and with targets that all count."""
    classes, dtype, samples = int(rng.integers(1, 12)), one_of(rng, FLOATS + FLOATS + HALVES), int(rng.integers(0, 90))
    target = np.asarray(rng.integers(0, classes, samples))
    ignored = one_of(rng, [-100, -1, -1, 0, classes])
    if not rng.integers(6) and samples:
        target[rng.integers(samples)] = one_of(rng, [-1, -100, classes, 2**40])
    weight = None if rng.integers(8) else laid_out(rng, [classes], dtype)
    reduction = one_of(rng, ["mean", "mean", "sum", "none"])
    x = laid_out(rng, [samples, classes], dtype, one_of(rng, [0, 0.01]))
    return Call(loss_and_gradient, (x, torch.from_numpy(target), weight, None, ignored, None, reduction))


CALLS = {
    "cpu.loss.classes.named": targets,
    "aten::nll_loss_forward": batch,
    "aten::nll_loss_backward": batch,
}
