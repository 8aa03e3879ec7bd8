"""How does a reader's function take the place of a formula of derivatives.yaml?

The library's own generator writes node and kernel of the operator again, from a row whose formula is the function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbook.exercises.answer_file import Refused
from workbook.exercises.asking import line_of
from workbook.exercises.catalogue import Piece
from workbook.exercises.graft_refusals import author_error
from workbook.exercises.report import Refusal, listing

FACTS = ("shape", "dtype", "ndim", "device", "geometry")  # of an argument, that a formula may name by themselves
Function = Callable[..., Any]


def graft_formula(
    piece: Piece, function: Function, trampoline: Function, path: Path, grafted: dict[str, dict[str, str]]
) -> str:
    """Generate the node and kernels of an operator again, and register them. Returns what was replaced.

    `grafted` has the formulas that earlier pieces replaced, by operator and argument: they stay, and this one is added.
    """
    from glasstorch.autograd.generated import autograd_kernels
    from glasstorch.core.errors import SchemaError
    from glasstorch.dispatch.library import KernelTable, register
    from glasstorch.dispatch.operator import Kernel
    from glasstorch.operators.gen.regenerate import load_row, regenerate

    op, _, argument = piece.target.rpartition(".")
    try:
        row = load_row(op, argument)
    except SchemaError as error:
        raise author_error(piece, str(error)) from None
    arguments = formula_arguments(piece, function, row, path)
    name, formulas = helper(op, argument), grafted.setdefault(op, {})
    formulas[argument] = f"{name}({', '.join(arguments)})"
    text = regenerate(row, formulas[argument], *(helper(op, one) for one in formulas), others=formulas)

    class Overriding(KernelTable):
        """Replaces existing registrations."""

        def add(self, name: str, function: Function, where: str | None = None) -> None:
            kernel = Kernel(function, self.key, "answer.py", self.takes_keys, self.calls_operators)
            register(f"aten::{name}", kernel, allow_override=True)

    space = vars(autograd_kernels)
    table = space["AUTOGRAD"]
    space |= {name: trampoline, "AUTOGRAD": Overriding("Autograd")}
    try:
        exec(compile("from __future__ import annotations\n" + text, "<regenerated>", "exec"), space)
    finally:
        space["AUTOGRAD"] = table
    saved = [a.rpartition("=")[2] for a in arguments if a not in ("grad", "grads")]
    keeps = f"its node {row.node} saves {listing(saved)}" if saved else f"its node {row.node} saves nothing"
    return f"the derivative of {op} by {argument} is yours: {keeps}"


def helper(op: str, argument: str) -> str:
    """The name under which a formula calls the reader's function.

    >>> helper("mul.Tensor", "other")
    'yours_mul_Tensor_other'
    """
    return f"yours_{op}_{argument}".replace(".", "_")


def formula_arguments(piece: Piece, function: Function, row: Any, path: Path) -> list[str]:
    """The names in the formula: the parameters of the reader's function, as a row of derivatives.yaml writes them.

    `self_shape` stands for `self.shape`: the fact is saved, and not the tensor.
    """
    known = {"grad": "grad", "grads": "grads", **{name: name for name in (*row.arguments, *row.results)}}
    facts = {f"{owner}_{fact}": f"{owner}.{fact}" for owner in (*row.tensors, *row.results) for fact in FACTS}
    found = []
    for parameter in inspect.signature(function).parameters.values():
        text = known.get(parameter.name) or facts.get(parameter.name)
        if text is None or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise Refused(
                Refusal(
                    asked=f"the derivative of {row.op} by {row.argument}, as a function of what it needs",
                    came=f"{piece.answer}{inspect.signature(function)}: there is nothing called {parameter}",
                    accepted=f"parameters among {listing([*known])}",
                    because="the names of the parameters decide what the node saves",
                    line=line_of(function, path),
                )
            )
        found.append(f"{parameter.name}={text}" if parameter.kind is parameter.KEYWORD_ONLY else text)
    return found
