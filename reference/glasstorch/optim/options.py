"""Which values may the options of an optimizer have?

Mirrors: the checks at the beginning of each `__init__` in torch/optim
Differs: one table of words; PyTorch writes each check out.
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor

# What an option is called where its value is refused; others are "<name> value".
WORDS = {"lr": "learning rate", "eps": "epsilon value"}


def check_lr(lr: Any) -> None:
    """A learning rate is a number, or a tensor of one element, and not negative."""
    check_single(lr)
    check_not_negative(lr=lr)


def check_single(lr: Any) -> None:
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def check_not_negative(**options: Any) -> None:
    for name, value in options.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {WORDS.get(name, f'{name} value')}: {value}")


def check_betas(betas: Any) -> None:
    """Decay rates of running means lie in [0, 1)."""
    for index in (0, 1):
        beta = betas[index]
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {index}: {beta}")


def check_forms(fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    """A fused step cannot be differentiated, nor be a foreach step too."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
