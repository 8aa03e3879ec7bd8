"""Of which types are the arguments whose calls nobody else answers?

Mirrors: torch/csrc/utils/disable_torch_function.cpp (check_has_torch_function), THPVariable_CheckTypeExact
Differs: PyTorch looks at each argument of each call. Here a call takes its short way if the types of its arguments are
    in a set; only the other calls look whether an argument, or a mode, answers.

# Note [Plain types]
A class of tensors is plain if its `__torch_function__` is the one that never answers: Tensor itself, Parameter. A
generated function calls its operator at once if all its tensors are of plain types, which is one look into a set and
costs no more than `isinstance` did. All other calls go to `calls/parser.py`, which asks.

A mode of functions answers for all calls. While one is on, in whatever thread, the first three sets below are empty:
every call comes to the parser, which finds the modes of its own thread. Without modes nothing is paid for them.
"""

from __future__ import annotations

import threading
from types import EllipsisType, NoneType
from typing import Final

from glasstorch.core.device import device
from glasstorch.core.dtype import dtype
from glasstorch.core.geometry import Size
from glasstorch.core.layout import layout, memory_format
from glasstorch.core.random.generator import Generator

PLAIN: set[type] = set()  # types of tensors
PLAIN_NUMBERS: set[type] = set()  # types of numbers that may stand for a tensor
SILENT: set[type] = set()  # both, and the other types of arguments that are never asked
QUIET: set[type] = set()  # the types in SILENT while no mode is on
TENSORS: set[type] = set()  # all classes of tensors, those that answer too
HEIRS: set[type] = set()  # those that answer just as Tensor would: they inherit its `__torch_function__`


class Someone:
    """Whether a class of tensors that answers was made in this process, or a mode switched on: most programs do not."""

    answers = False


someone: Final = Someone()
_tensors: set[type] = set()
_numbers = (bool, int, float, complex)
_others = (NoneType, str, slice, EllipsisType, dtype, device, layout, memory_format, Generator, Size)
_lock = threading.Lock()
_modes_on = 0


def _fill() -> None:
    """Fill the sets, or empty them if a mode is on. The caller holds the lock."""
    QUIET.update(_tensors, _numbers, _others)
    for types, members in (PLAIN, _tensors), (PLAIN_NUMBERS, _numbers), (SILENT, QUIET):
        if _modes_on:
            types.clear()
        else:
            types.update(members)


def set_plain(kind: type, plain: bool, heir: bool = False) -> None:
    """Say of a class of tensors whether it is plain, and otherwise whether it answers just as Tensor would."""
    with _lock:
        TENSORS.add(kind)
        (HEIRS.add if heir else HEIRS.discard)(kind)
        if plain:
            _tensors.add(kind)
        else:
            someone.answers = True
            _tensors.discard(kind)
            PLAIN.discard(kind)
            SILENT.discard(kind)
            QUIET.discard(kind)
        _fill()


def count_modes(change: int) -> int:
    """Note that a mode is switched on (1) or off (-1), and return how many are on in all threads."""
    global _modes_on
    with _lock:
        _modes_on += change
        someone.answers = True
        _fill()
        return _modes_on


_fill()
