"""Which random calls reach the steps of optimizers that are taken in blocks?"""

from __future__ import annotations

from typing import Any

import numpy as np

import glasstorch as torch
from glasstorch import Tensor
from tests.kernels.cpu.fast.calls.drawing import FLOATS, HALVES, laid_out, one_of
from tests.kernels.cpu.fast.held import Call


def step_of(name: str) -> Any:
    """A step on copies, which gives all that it has changed."""

    def stepped(
        params: list[Tensor], grads: list[Tensor], states: list[list[Tensor]], steps: Any, **options: Any
    ) -> Any:
        lists = [[tensor.clone() for tensor in tensors] for tensors in (params, grads, *states)]
        getattr(torch, name)(*lists, [torch.tensor(step) for step in steps], **options)
        return lists

    return stepped


def adam(name: str, rng: np.random.Generator) -> Call:
    """Parameters of some sizes: small ones, one that is cut, or of several dtypes and with other steps."""
    dtype = one_of(rng, [*FLOATS, *FLOATS, *HALVES])
    sizes = [one_of(rng, [[], [3], [2, 5], [64, 64], [0], [40_000]]) for _ in range(int(rng.integers(1, 9)))]
    amsgrad = bool(rng.integers(2))
    params, grads, means = ([laid_out(rng, size, dtype) for size in sizes] for _ in range(3))
    squares, largest = ([laid_out(rng, size, dtype).abs() for size in sizes] for _ in range(2))
    steps = [float(rng.integers(1, 9))] * len(sizes)
    if not rng.integers(4):
        steps[-1] += 1
    if not rng.integers(8):
        params[-1], grads[-1], means[-1] = (each[-1].double() for each in (params, grads, means))
        squares[-1], largest[-1] = squares[-1].double(), largest[-1].double()
    options = {
        "lr": float(rng.choice([1e-3, 0.1])),
        "beta1": float(rng.choice([0.9, 0.3])),
        "beta2": float(rng.choice([0.999, 0.5])),
        "weight_decay": float(rng.choice([0.0, 0.1])),
        "eps": float(rng.choice([1e-8, 0.0])),
        "amsgrad": amsgrad,
        "maximize": bool(rng.integers(2)),
    }
    if not rng.integers(6):
        options["grad_scale"] = torch.tensor(4.0)
    if not rng.integers(6):
        options["found_inf"] = torch.tensor(float(rng.integers(2)))
    states = [means, squares, largest if amsgrad else []]
    return Call(step_of(name), (params, grads, states, steps), options)


def counted(tensors: list[Tensor], number: Any) -> Any:
    """The tensors after a number was added to each."""
    copies = [tensor.clone() for tensor in tensors]
    torch._foreach_add_(copies, number)
    return copies


def add_number(rng: np.random.Generator) -> Call:
    """Counts of steps, mostly; sometimes other tensors, or one with a record."""
    dtype = one_of(rng, [*FLOATS, *FLOATS, *HALVES, "int64"])
    tensors = [laid_out(rng, one_of(rng, [[], [], [3]]), dtype) for _ in range(int(rng.integers(1, 5)))]
    if dtype in FLOATS and not rng.integers(5):
        tensors[0] = tensors[0].clone().requires_grad_()
    return Call(counted, (tensors, one_of(rng, [1, 1, 0.5] if dtype != "int64" else [1])))


CALLS = {
    "aten::_fused_adam_": lambda rng: adam("_fused_adam_", rng),
    "aten::_fused_adamw_": lambda rng: adam("_fused_adamw_", rng),
    "operators.composite.foreach.add_number": add_number,
}
