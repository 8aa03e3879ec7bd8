"""How is an expression written in CUDA C++?

Mirrors: the strings of aten/src/ATen/native/cuda (jiterator_stringify), which are written by hand
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from glasstorch.kernels.pointwise.expression import Apply, Choice, Literal, Name, Tree, parse
from glasstorch.kernels.pointwise.vocabulary import CLOSED, CONDITIONAL, SIGN, spelled, word_of


@cache
def cuda_text(expression: str) -> str:
    """The C++ expression of an expression, with no more parentheses than it needs.

    >>> cuda_text("where(b <= p, 0, a * (1 - b))")
    'b <= p ? 0 : a * (1 - b)'
    """
    return _written(spelled(parse(expression), "cuda"))[0]


def _written(tree: Tree) -> tuple[str, int]:
    """The text, and how closely it holds together."""
    match tree:
        case Name(name):
            return name, CLOSED
        case Literal(value):
            return (f"(COMPUTE){value}", SIGN) if isinstance(value, float) else (str(value), CLOSED)
        case Choice(condition, x, y):
            return _filled("{0} ? {1} : {2}", (_written(condition), _written(x), _written(y)), CONDITIONAL), CONDITIONAL
        case Apply(name, operands):
            word, parts = word_of(tree), [_written(operand) for operand in operands]
            if name == "where" and not _tests(operands[0]):
                parts[0] = f"{_held(parts[0], CLOSED)} != 0", CLOSED
            assert word.cuda is not None, f"{name} is spelled for CUDA"
            if "{" not in word.cuda:
                typed = (
                    f"(COMPUTE){one.value}" if isinstance(one, Literal) else text
                    for one, (text, _) in zip(operands, parts, strict=True)
                )
                return f"{word.cuda}({', '.join(typed)})", CLOSED
            return _filled(word.cuda, parts, word.binds), word.binds
    raise AssertionError(f"{tree} is a tree")


def _tests(condition: Tree) -> bool:
    return isinstance(condition, Apply) and word_of(condition).truth


def _filled(text: str, parts: Sequence[tuple[str, int]], binds: int) -> str:
    """The operands in their places. Only the first may hold as loosely as the whole: C's signs group to the left."""
    held = [_held(part, binds + (not (at == 0 and text.startswith("{0}")))) for at, part in enumerate(parts)]
    return text.format(*held)


def _held(part: tuple[str, int], binds: int) -> str:
    text, own = part
    return text if own >= binds else f"({text})"
