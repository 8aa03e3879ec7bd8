"""What does a program find at torch.distributed, in one process?

Programs ask whether there are groups of processes before they use them, and run alone where there are none. Many import
the functions that begin a group and speak in it by name; these can be imported, and called they say that there is none.

Reading order: this file is all there is.

Mirrors: torch/distributed/__init__.py, torch/distributed/distributed_c10d.py
Differs: there are no groups of processes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NoReturn

from glasstorch.core.errors import ArgumentError, ArgumentValueError
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


def init_process_group(*args: Any, **kwargs: Any) -> NoReturn:
    """Begin a group of processes: refused, because there are none."""
    raise ArgumentError(
        "torch.distributed.init_process_group: glasstorch has no groups of processes, as is_available() says; run the "
        "program in one process"
    )


def _needs_a_group(name: str) -> Callable[..., NoReturn]:
    """The function of a group, which PyTorch too refuses before a group was begun."""

    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise ArgumentValueError(
            f"torch.distributed.{name}: Default process group has not been initialized, and glasstorch has no groups "
            f"of processes; call it only where torch.distributed.is_initialized()"
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Refused, because there are no groups of processes."
    return function


all_gather = _needs_a_group("all_gather")
all_reduce = _needs_a_group("all_reduce")
barrier = _needs_a_group("barrier")
broadcast = _needs_a_group("broadcast")
destroy_process_group = _needs_a_group("destroy_process_group")
get_rank = _needs_a_group("get_rank")
get_world_size = _needs_a_group("get_world_size")
reduce = _needs_a_group("reduce")


__getattr__ = refuse_unknown_names(__name__)
