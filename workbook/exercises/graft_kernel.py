"""How does a reader's function take the place of a registered kernel, or of a decomposition in the table?"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from workbook.exercises.catalogue import Piece
from workbook.exercises.graft_refusals import author_error
from workbook.exercises.report import listing

Function = Callable[..., Any]


def graft_kernel(piece: Piece, trampoline_of: Callable[[Function], Function], *, watching: bool) -> str:
    """Register a trampoline in place of the kernel that is active for a key. Returns what was replaced.

    While watching, the kernel stays: only its name in its module leads to the trampoline.
    """
    from glasstorch.core.errors import RegistrationError
    from glasstorch.core.keys import DispatchKey
    from glasstorch.dispatch.library import register
    from glasstorch.dispatch.operator import registry

    try:
        operator = registry.find(piece.target)
        key = DispatchKey[piece.key]
    except RegistrationError as error:
        raise author_error(piece, str(error)) from None
    except KeyError:
        raise author_error(piece, f"there is no dispatch key {piece.key!r}") from None
    in_force = operator.kernels.get(key)
    if not in_force:
        keys = listing([k.name for k, kernels in operator.kernels.items() if kernels])
        raise author_error(piece, f"{piece.target} has no {piece.key} kernel; it has kernels for {keys}")
    kernel = in_force[-1]
    trampoline = trampoline_of(kernel.function)
    holder = sys.modules.get(getattr(kernel.function, "__module__", ""))
    name = getattr(kernel.function, "__name__", "")
    if holder is not None and vars(holder).get(name) is kernel.function:
        setattr(holder, name, trampoline)
    if not watching:
        register(
            piece.target,
            replace(kernel, function=trampoline, where="answer.py", table=None, fast=None),
            allow_override=True,
        )
    return f"the {piece.key} kernel of {piece.target} is yours"


def graft_registered(replaced: Mapping[Function, Function]) -> None:
    """Where a replaced function is registered as a kernel, register its trampoline."""
    from glasstorch.dispatch.operator import registry

    for operator in registry.operators.values():
        for kernels in operator.kernels.values():
            for i, kernel in enumerate(kernels):
                for original, trampoline in replaced.items():
                    if kernel.function is original:
                        kernels[i] = replace(kernel, function=trampoline)
                        registry.changed(operator)


def graft_decomposed(replaced: Mapping[Function, Function]) -> None:
    """Where a replaced function stands in the table of decompositions, put its trampoline there."""
    holder = sys.modules.get("glasstorch.compiler.decompositions.table")
    if holder is None:  # no exercise asks for a decomposition, so nothing has loaded the table
        return
    for operator, function in holder.decomposition_table.items():
        for original, trampoline in replaced.items():
            if function is original:
                holder.decomposition_table[operator] = trampoline
