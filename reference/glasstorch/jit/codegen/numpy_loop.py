"""How does NumPy run a fused loop without full-size temporaries?

Mirrors: what torch/csrc/jit/tensorexpr/llvm_codegen.cpp does, for a machine whose instructions are ufuncs
Differs: an instruction works on a block of elements that fits into the cache, not on a vector register.

A Python function is generated that runs all steps on one block, with one line for each step. Intermediate results are
in scratch arrays of the size of a block, which are reused as soon as their contents are dead. Results are written to
the outputs block by block. The ufuncs are those of the eager kernels, so the results are theirs bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np

from glasstorch.core.dtype import dtype
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import Slot
from glasstorch.jit.codegen.program import Constant, Loop, Operand
from glasstorch.kernels.cpu.pointwise.steps import negative
from glasstorch.kernels.pointwise.vocabulary import VOCABULARY
from glasstorch.kernels.quiet import quietly

BLOCK: Final = 1 << 15  # elements: a few arrays of this size fit into the second-level cache

Body = Callable[..., None]  # body(*reads, *writes, *scratch), all arrays of one block


def cast(out: Array, x: Array) -> None:
    """Write x to `out`, cast to its dtype."""
    np.copyto(out, x, casting="unsafe")


# formula -> the eager kernels' loop that computes it: a ufunc, or loop(out, *inputs)
LOOPS: Final[dict[str, Callable[..., Any] | Slot[..., Any]]] = {
    name: word.numpy for name, word in VOCABULARY.items() if word.numpy is not None
} | {"neg": negative, "cast": cast, "copy": cast}


class NumpyLoop:
    """A loop as a Python function over blocks.

    `source` is the text of `body(*reads, *writes, *scratch)`, which computes a block; `scratch` has the scratch dtypes.
    """

    def __init__(self, loop: Loop, dtypes: Sequence[dtype]) -> None:
        self.source, constants, self.scratch = _write(loop, dtypes)
        names: dict[str, Any] = {
            name: loop.run if isinstance(loop, Slot) else loop for name, loop in LOOPS.items()
        } | constants
        exec(compile(self.source, "<fused loop>", "exec"), names)  # the source has only names in LOOPS and numbers
        self.body: Body = names["body"]

    def __call__(self, sizes: tuple[int, ...], arrays: Sequence[Array]) -> None:
        """Run over arrays of these sizes, the inputs followed by the outputs."""
        quietly(self._run, sizes, arrays)

    def _run(self, sizes: tuple[int, ...], arrays: Sequence[Array]) -> None:
        if prod(sizes) <= BLOCK:
            self.body(*arrays, *[np.empty(sizes, of.numpy) for of in self.scratch])
            return
        for blocks in _blocks(sizes, arrays, self.scratch):
            self.body(*blocks)


def _blocks(sizes: tuple[int, ...], arrays: Sequence[Array], scratch: Sequence[dtype]) -> Iterator[list[Array]]:
    """The arrays split into pieces of about BLOCK elements, with scratch arrays of the pieces' sizes."""
    axis = len(sizes) - 1
    while axis and prod(sizes[axis:]) <= BLOCK:
        axis -= 1
    inner = sizes[axis + 1 :]
    step = max(1, BLOCK // prod(inner))
    own = [np.empty((min(step, sizes[axis]), *inner), of.numpy) for of in scratch]
    for index in product(*map(range, sizes[:axis])):
        rows = [array[index] for array in arrays] if index else arrays
        for start in range(0, sizes[axis], step):
            count = min(step, sizes[axis] - start)
            kept = own if count == step else [array[:count] for array in own]
            yield [*(array[start : start + count] for array in rows), *kept]


# Generating the function -------------------------------------------------------------------------------------------


def _write(loop: Loop, dtypes: Sequence[dtype]) -> tuple[str, dict[str, Array], list[dtype]]:
    """The source of the function, the constants that it names, and the dtypes of its scratch arrays.

    A step may overwrite an operand that dies with it: no loop reads an input after it has written to `out`.
    """
    names = {slot: f"in{slot}" for slot in loop.reads} | {slot: f"out{slot}" for slot in loop.writes}
    parameters = list(dict.fromkeys(names.values()))
    last_use = {operand: i for i, step in enumerate(loop.steps) for operand in step.operands}
    constants: dict[str, Array] = {}
    scratch: list[dtype] = []
    free: dict[dtype, list[str]] = {}
    lines = []
    for i, step in enumerate(loop.steps):
        operands = [_name(operand, names, constants) for operand in step.operands]
        for operand in dict.fromkeys(step.operands):
            if isinstance(operand, int) and last_use[operand] == i and names[operand].startswith("s"):
                free.setdefault(dtypes[operand], []).append(names[operand])
        if step.slot not in names:
            if not free.get(step.dtype):
                free.setdefault(step.dtype, []).append(f"s{len(scratch)}")
                scratch.append(step.dtype)
            names[step.slot] = free[step.dtype].pop()
        lines.append(_call(step.formula, names[step.slot], operands))
    parameters += [f"s{i}" for i in range(len(scratch))]
    return f"def body({', '.join(parameters)}):\n" + "\n".join(lines) + "\n", constants, scratch


def _name(operand: Operand, names: dict[int, str], constants: dict[str, Array]) -> str:
    """The name of an operand in the source; a constant becomes an array, which a ufunc reads faster than a number."""
    if not isinstance(operand, Constant):
        return names[operand]
    name = f"c{len(constants)}"
    constants[name] = np.array(operand.value, operand.dtype.numpy)
    return name


def _call(formula: str, out: str, operands: Sequence[str]) -> str:
    """The line that computes a step: a ufunc takes its output as `out=`, other loops as the first argument."""
    if isinstance(LOOPS[formula], np.ufunc):
        return f"    {formula}({', '.join(operands)}, out={out})"
    return f"    {formula}({', '.join((out, *operands))})"
