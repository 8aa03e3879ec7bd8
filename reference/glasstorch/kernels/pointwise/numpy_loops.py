"""How is an expression written as a loop over NumPy arrays?

Mirrors: torch/_inductor/codegen/cpp.py (CppKernel) for a machine whose instructions are ufuncs
Differs: an instruction works on whole arrays, so what matters is to need few of them.

# Note [Where a step may write]
A loop is called as `loop(out, *inputs)`, and `out` may be one of the inputs. A step writes to `out` when no later step
reads an input and `out` holds nothing that is still needed; else to an intermediate array that dies with it and has the
size of the result, since it was computed from all inputs; else to a new array.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import Slot
from glasstorch.kernels.cpu.pointwise import steps
from glasstorch.kernels.pointwise.expression import (
    NUMBERS,
    TENSORS,
    Apply,
    Choice,
    Literal,
    Name,
    Tree,
    names,
    parse,
    replaced,
)
from glasstorch.kernels.pointwise.vocabulary import VOCABULARY, Word, spelled, word_of

Loop = Callable[..., Any]  # loop(out, *inputs), or a ufunc


class InDtype(dict[str, Array]):
    """A number as a 0-dim array of each dtype, by its character: a ufunc reads it faster than a Python number."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __missing__(self, char: str) -> Array:
        found = self[char] = np.array(self.value, char)
        return found


@cache
def numpy_loop(expression: str) -> Loop:
    """The loop that computes an expression: `loop(out, *tensors, *numbers)`, or the ufunc that the expression is.

    >>> numpy_loop("maximum(a, b)")
    <ufunc 'maximum'>
    """
    return loop_of(spelled(parse(expression), "numpy"))


def unscaled_ufunc(expression: str) -> np.ufunc | None:
    """The ufunc that an expression is where its number p is 1, if it is one.

    >>> unscaled_ufunc("a + p * b")
    <ufunc 'add'>
    """
    word = one_word(spelled(replaced(parse(expression), {"p": Literal(1)}), "numpy"))
    return word if isinstance(word, np.ufunc) else None


def one_word(tree: Tree) -> Loop | None:
    """The function that a tree is, if it is one applied to the operands in their order."""
    word = word_of(tree).numpy if isinstance(tree, Apply) and tree.operands == tuple(map(Name, inputs(tree))) else None
    return None if isinstance(word, Slot) else word


def inputs(tree: Tree) -> list[str]:
    """The names that a tree reads, tensors first."""
    read = names(tree)
    return [name for name in (*TENSORS, *NUMBERS) if name in read]


def loop_of(tree: Tree) -> Loop:
    """The loop that computes a tree."""
    word = one_word(tree)
    if word is not None:
        return word
    given = dict(FUNCTIONS)
    exec(compile(source_of(tree, given), f"<the loop of {tree}>", "exec"), given)  # only names of the vocabulary in it
    loop: Loop = given["loop"]
    return loop


# What a loop may name; the word for a minus is NumPy's loop without its fault
FUNCTIONS: Final[dict[str, Any]] = {
    **{name: word.numpy for name, word in VOCABULARY.items()},
    "neg": steps.negative,
    "copyto": np.copyto,
    "empty_like": np.empty_like,
}


def source_of(tree: Tree, given: dict[str, Any] | None = None) -> str:
    """The Python function that computes a tree; numbers that are written in it are added to `given`."""
    given = {} if given is None else given
    tensors = [name for name in inputs(tree) if name in TENSORS]
    head = f"def loop(out, {', '.join(inputs(tree) if tensors else [TENSORS[0], *inputs(tree)])}):"
    return "\n".join([head, *(f"    {line}" for line in _lines(tree, tensors, given))]) + "\n"


def _lines(tree: Tree, tensors: list[str], given: dict[str, Any]) -> list[str]:
    if isinstance(tree, Choice):
        x, y = ([f"    {line}" for line in _lines(part, tensors, given)] for part in (tree.x, tree.y))
        return [f"if {_value(tree.condition)}:", *x, "else:", *y]
    if not isinstance(tree, Apply):
        return [f"copyto(out, {_value(tree)}, casting='unsafe')"]
    return _Steps(tree, tensors, given).lines


def _value(tree: Tree) -> str:
    """An expression of numbers as one Python expression."""
    if isinstance(tree, Apply):
        return f"{tree.word}({', '.join(map(_value, tree.operands))})"
    return tree.name if isinstance(tree, Name) else str(tree[0])


class _Steps:
    """The lines of a tree, one for each word in it. See Note [Where a step may write]."""

    def __init__(self, tree: Apply, tensors: list[str], given: dict[str, Any]) -> None:
        self.tree, self.tensors, self.given = tree, set(tensors), given
        self.lines: list[str] = []
        self.left = inside_out(tree)  # the steps that are not written yet
        self.new = 0  # the number of new arrays
        self.out_is_held = False  # whether it holds what a later step needs
        self._write(tree)

    def _write(self, tree: Tree, reader: Word | None = None) -> str:
        """Write the lines of a tree, for the word that reads it; returns the name of the array with its value."""
        if isinstance(tree, Name):
            return tree.name
        if isinstance(tree, Literal):
            return str(tree.value) if reader is not None and reader.truth else self._constant(tree)
        assert isinstance(tree, Apply), "a choice stands above everything else"
        word = word_of(tree)
        operands = [self._write(operand, word) for operand in tree.operands]
        del self.left[0]
        self.out_is_held &= "out" not in operands
        target = self._target(tree, word, operands)
        self.out_is_held |= target == "out"
        if isinstance(word.numpy, np.ufunc) and word.numpy is not np.negative:
            if target is None:
                self.lines.append(f"{(target := self._array())} = {tree.word}({', '.join(operands)})")
            else:
                self.lines.append(f"{tree.word}({', '.join(operands)}, out={target})")
        else:
            if target is None:
                self.lines.append(f"{(target := self._array())} = empty_like(out)")
            function = f"{tree.word}.run" if isinstance(word.numpy, Slot) else tree.word
            self.lines.append(f"{function}({', '.join((target, *operands))})")
        return target

    def _target(self, tree: Apply, word: Word, operands: list[str]) -> str | None:
        """The array that a step may write to, if there is one."""
        if not self.left:
            return "out"
        if word.truth or word_of(self.tree).truth or not names(tree) & self.tensors:
            return None
        to_read = {operand.name for step in self.left for operand in step.operands if isinstance(operand, Name)}
        if not to_read & self.tensors and not self.out_is_held:
            return "out"
        for name, operand in zip(operands, tree.operands, strict=True):
            if name.startswith("t") and names(operand) >= self.tensors and not word_of(operand).truth:
                return name
        return None

    def _array(self) -> str:
        self.new += 1
        return f"t{self.new}"

    def _constant(self, number: Literal) -> str:
        """The name of an array that holds a number; a line at the top looks it up by the dtype."""
        text = str(number.value)
        name = "k" + "".join(one if one.isalnum() else "_" for one in text)
        if name not in self.given:
            self.given[name] = None
            self.given[name.upper()] = InDtype(number.value)
            self.lines.insert(0, f"{name} = {name.upper()}[out.dtype.char]")
        return name


def inside_out(tree: Tree) -> list[Apply]:
    """The steps of a tree in the order in which they are computed."""
    if not isinstance(tree, Apply):
        return []
    return [*(step for operand in tree.operands for step in inside_out(operand)), tree]
