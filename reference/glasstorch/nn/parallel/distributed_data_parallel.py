"""What does a program find where PyTorch has the module that several processes train together?

Many programs import DistributedDataParallel, and make one only where they were started in several processes.

Mirrors: torch/nn/parallel/distributed.py
Differs: the class can be imported and asked for by `isinstance`; there are no groups of processes to make one in.
"""

from __future__ import annotations

from typing import Any

from glasstorch.core.errors import ArgumentValueError
from glasstorch.nn.modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """A copy of a module in each process of a group: refused, because there are no groups of processes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise ArgumentValueError(
            "Default process group has not been initialized: glasstorch has no groups of processes, so that no module "
            "can be DistributedDataParallel; train the module itself, in one process"
        )
