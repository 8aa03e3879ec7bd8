"""What does a program find at torch.distributed, in one process?

Programs ask whether there are groups of processes before they use them, and run alone where there are none.

Reading order: this file is all there is.

Mirrors: torch/distributed/__init__.py, torch/distributed/distributed_c10d.py
Differs: there are no groups of processes, as in a PyTorch that was built without them.
"""

from __future__ import annotations

import os

from glasstorch.core.unknown_names import refuse_unknown_names


def is_available() -> bool:
    """Whether there can be groups of processes: no."""
    return False


def is_initialized() -> bool:
    """Whether this process is in a group: no."""
    return False


def is_torchelastic_launched() -> bool:
    """Whether `torchrun` started this process, as its environment says."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def is_nccl_available() -> bool:
    """Whether groups can speak through NCCL: no."""
    return False


def is_gloo_available() -> bool:
    """Whether groups can speak through Gloo: no."""
    return False


def is_mpi_available() -> bool:
    """Whether groups can speak through MPI: no."""
    return False


__getattr__ = refuse_unknown_names(__name__)
