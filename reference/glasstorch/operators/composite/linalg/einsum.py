"""How does einsum become matrix products?

Mirrors: aten/src/ATen/native/Linear.cpp (einsum, sumproduct_pair)
Differs: the plan depends only on the equation and the sizes; it is a value, computed once and cached.

1. The equation names the dimensions of every operand and of the result; a name repeated in one operand is a diagonal.
2. Two operands at a time are multiplied, and summed over the names that neither the result nor another operand needs:
   a `bmm`, whose batch dimensions are the names of both that are still needed. A dimension of size 1 does not count.
3. What remains has the names of the result; its dimensions are permuted into the result's order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.core.geometry import Shape
from glasstorch.core.symbols import has_symbols
from glasstorch.operators.direct import on_tensor, on_tensors

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

permute = on_tensor("permute")
reshape = on_tensor("reshape")
bmm = on_tensors("bmm")

ELLIPSIS = "..."


class Equation(NamedTuple):
    """`"...ij,jk->...ik"`: the names of the dimensions of each operand, and of the result if given."""

    operands: list[list[str]]
    result: list[str] | None


class View(NamedTuple):
    """How an operand is viewed: dimensions to sum over, then a permutation, then a shape."""

    summed: list[int]
    order: list[int]
    shape: list[int]


class Step(NamedTuple):
    """The product of the operands at `left` and `right`, which leave the list; it is inserted at `to` with this shape.

    If `swapped`, the right one is the first factor.
    """

    left: int
    right: int
    to: int
    swapped: bool
    left_view: View
    right_view: View
    by_bmm: bool
    shape: list[int]


class Plan(NamedTuple):
    """All steps of an einsum: diagonals of each operand (pairs of dimensions), products, and a final view."""

    diagonals: list[list[tuple[int, int]]]
    steps: list[Step]
    result: View


# The equation ---------------------------------------------------------------------------------------------------


def parse(equation: str, count: int) -> Equation:
    """An equation of `count` operands, parsed.

    >>> parse("...ij, jk -> ...ik", 2)
    Equation(operands=[['...', 'i', 'j'], ['j', 'k']], result=['...', 'i', 'k'])
    """
    left, arrow, right = equation.partition("->")
    operands: list[list[str]] = []
    start = 0
    for number, term in enumerate(left.split(",")):
        if number == count:
            raise ArgumentError("einsum(): fewer operands were provided than specified in the equation")
        operands.append(labels(term, f"operand {number}", start))
        start += len(term) + 1
    if len(operands) < count:
        raise ArgumentError("einsum(): more operands were provided than specified in the equation")
    if not arrow:
        return Equation(operands, None)
    result = labels(right, "output", len(left) + 2)
    known = {label for operand in operands for label in operand}
    for position, label in enumerate(result):
        if label != ELLIPSIS and (label not in known or label in result[:position]):
            problem = (
                "appears more than once in the output"
                if label in known
                else "does not appear in the equation for any input operand"
            )
            raise ArgumentError(f"einsum(): output subscript {label} {problem}")
    return Equation(operands, result)


def labels(term: str, whose: str, start: int) -> list[str]:
    """The names in one term; `start` is where it begins in the equation."""
    found: list[str] = []
    position = 0
    while position < len(term):
        letter = term[position]
        if letter == ".":
            if ELLIPSIS in found:
                but = "but an ellipsis (...) was already found"
                raise ArgumentError(
                    f"einsum(): found '.' for {whose} "
                    + (but if whose == "output" else "for which an ellipsis was already found")
                )
            if term[position : position + 3] != ELLIPSIS:
                suffix = " (...)" if whose == "output" else ""
                raise ArgumentError(f"einsum(): found '.' for {whose} that is not part of any ellipsis{suffix}")
            found.append(ELLIPSIS)
            position += 3
            continue
        if letter != " ":
            if not (letter.isascii() and letter.isalpha()):
                raise ArgumentError(
                    f"einsum(): invalid subscript given at index {start + position} in the equation string, subscripts "
                    f"must be in [a-zA-Z]"
                )
            found.append(letter)
        position += 1
    return found


# The plan -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def planned(equation: str, shapes: tuple[Shape, ...], path: tuple[int, ...] | None) -> Plan:
    """The plan for operands of these sizes; refuses an equation or a path that does not fit them."""
    length = 1 if len(shapes) == 1 else 2 * (len(shapes) - 1)
    if path is not None and len(path) != length:
        raise ArgumentError(
            f"einsum(): expected contraction path given in path parameter to have size {length} but got {len(path)}"
        )
    parsed = parse(equation, len(shapes))
    counts = covered(parsed.operands, shapes)
    width = max((n for names, n in zip(parsed.operands, counts, strict=True) if ELLIPSIS in names), default=0)
    unnamed = [str(d) for d in range(width)]
    names, kept = ordered_names(parsed, unnamed)
    spelled = [
        [name for label in own for name in (unnamed[width - count :] if label == ELLIPSIS else [label])]
        for own, count in zip(parsed.operands, counts, strict=True)
    ]
    check_sizes(shapes, spelled)
    diagonals, operands = [], []
    for number, (shape, own) in enumerate(zip(shapes, spelled, strict=True)):
        pairs, sizes = without_repeats(shape, own, number)
        diagonals.append(pairs)
        operands.append(sizes)
    steps = list(products(operands, names, names[:kept], path))
    result = last_view(operands[0], names, kept)
    if not steps:  # a sum of integers is int64, whatever the sizes
        result = result._replace(summed=[d for d, name in enumerate(operands[0]) if name not in names[:kept]])
    return Plan(diagonals, steps, result)


def covered(operands: Sequence[Sequence[str]], shapes: Sequence[Shape]) -> list[int]:
    """How many dimensions the ellipsis of each operand stands for."""
    counts = []
    for number, (names, shape) in enumerate(zip(operands, shapes, strict=True)):
        named = len(names) - (ELLIPSIS in names)
        if named > len(shape) or (named < len(shape) and ELLIPSIS not in names):
            problem = "is more than" if ELLIPSIS in names else "does not match"
            without = "" if ELLIPSIS in names else " and no ellipsis was given"
            raise ShapeError(
                f"einsum(): the number of subscripts in the equation ({named}) {problem} the number of dimensions "
                f"({len(shape)}) for operand {number}{without}"
            )
        counts.append(len(shape) - named)
    return counts


def ordered_names(equation: Equation, ellipsis: list[str]) -> tuple[list[str], int]:
    """All names, those of the result first, and the number of these. `ellipsis` holds the names it stands for."""
    used = [label for operand in equation.operands for label in operand if label != ELLIPSIS]
    if equation.result is None:
        kept = [*ellipsis, *sorted(label for label in set(used) if used.count(label) == 1)]
    else:
        kept = [name for label in equation.result for name in (ellipsis if label == ELLIPSIS else [label])]
    summed = [] if equation.result is None or ELLIPSIS in equation.result else ellipsis
    return [*kept, *summed, *sorted(set(used) - set(kept))], len(kept)


def check_sizes(shapes: Sequence[Shape], spelled: Sequence[Sequence[str]]) -> None:
    """Refuse sizes of one name that are neither equal nor 1; the names of ellipsis dimensions are digits."""
    seen: dict[str, int] = {}
    for number, (shape, names) in enumerate(zip(shapes, spelled, strict=True)):
        for dim, (name, size) in enumerate(zip(names, shape, strict=True)):
            if size == 1 or name in names[:dim]:
                continue
            before = seen.setdefault(name, size)
            if before == size:
                continue
            if name.isdigit():
                raise ShapeError(
                    f"einsum(): dimension {dim} covered by ellipsis in operand {number} has size {size} which does not "
                    f"broadcast with previously seen ellipsis with size {before} for the respective dimension"
                )
            raise ShapeError(
                f"einsum(): subscript {name} has size {size} for operand {number} which does not broadcast with "
                f"previously seen size {before}"
            )


def without_repeats(shape: Shape, names: Sequence[str], number: int) -> tuple[list[tuple[int, int]], dict[str, int]]:
    """The pairs of dimensions that share a name, in the order in which they are merged, and the size of each name."""
    pairs: list[tuple[int, int]] = []
    sizes: dict[str, int] = {}
    for name, size in zip(names, shape, strict=True):
        if name not in sizes:
            sizes[name] = size
            continue
        if size != sizes[name]:
            raise ShapeError(
                f"einsum(): subscript {name} is repeated for operand {number} but the sizes don't match, "
                f"{size} != {sizes[name]}"
            )
        pairs.append((list(sizes).index(name), len(sizes)))
    return pairs, sizes


def products(
    operands: list[dict[str, int]], names: Sequence[str], result: Sequence[str], path: Sequence[int] | None
) -> Iterator[Step]:
    """The steps that multiply two operands at a time until one is left; an operand maps its names to sizes."""
    positions = iter(path or ())
    while len(operands) > 1:
        i, j = (0, 1) if path is None else sorted((next(positions), next(positions)))
        if i == j or i < 0 or j >= len(operands):
            problem = "cannot contract an operand with itself" if i == j else "operand index is out of bounds"
            raise ArgumentError(f"einsum(): invalid contraction ({i}, {j}) {problem}")
        right, left = operands.pop(j), operands.pop(i)
        needed = {*result, *(name for rest in operands for name, size in rest.items() if size != 1)}
        to = 0 if path is None else len(operands)
        step, product = multiplied(left, right, names, needed)
        operands.insert(to, product)
        yield step._replace(left=i, right=j, to=to)


def multiplied(
    left: dict[str, int], right: dict[str, int], names: Sequence[str], needed: set[str]
) -> tuple[Step, dict[str, int]]:
    """The product of two operands, summed over names that are not needed later, and the sizes of its names."""
    ours, theirs = ([name for name in names if sizes.get(name, 1) != 1] for sizes in (left, right))
    batch = [name for name in ours if name in theirs and name in needed]
    inner = [name for name in ours if name in theirs and name not in needed]
    rows = [name for name in ours if name not in theirs and name in needed]
    columns = [name for name in theirs if name not in ours and name in needed]
    sizes = {**{name: left[name] for name in ours}, **{name: right[name] for name in theirs}}

    def count(which: Sequence[str]) -> int:
        return prod(sizes[name] for name in which)

    if not inner:  # nothing to sum over: an elementwise product
        shown = [name for name in names if name in (*batch, *rows, *columns)]
        left_view, right_view = (
            view(own, [name for name in shown if name in mine], [sizes[n] if n in mine else 1 for n in shown])
            for own, mine in ((left, ours), (right, theirs))
        )
        step = Step(0, 0, 0, False, left_view, right_view, False, [sizes[name] for name in shown])
        return step, {name: sizes[name] for name in shown}
    if rows and columns and names.index(columns[0]) < names.index(rows[0]):
        step, product = multiplied(right, left, names, needed)  # so that the product's memory layout follows its names
        return step._replace(swapped=True), product
    left_view = view(left, [*batch, *rows, *inner], [count(batch), count(rows), count(inner)])
    right_view = view(right, [*batch, *inner, *columns], [count(batch), count(inner), count(columns)])
    shown = [*batch, *rows, *columns]
    step = Step(0, 0, 0, False, left_view, right_view, True, [sizes[name] for name in shown])
    return step, {name: sizes[name] for name in shown}


def view(sizes: dict[str, int], order: Sequence[str], shape: list[int]) -> View:
    """The view of an operand with its names in this order and this shape, summed over all other names."""
    own = list(sizes)
    others = [d for d, name in enumerate(own) if name not in order]
    summed = [d for d in others if sizes[own[d]] != 1]
    return View(summed, [*(own.index(name) for name in order), *others], shape)


def last_view(sizes: dict[str, int], names: Sequence[str], kept: int) -> View:
    """The view of what remains in the order of the result's names, with size 1 for missing dimensions."""
    result = [name for name in names[:kept] if name in sizes]
    return view(sizes, result, [sizes.get(name, 1) for name in names[:kept]])


# The work -------------------------------------------------------------------------------------------------------


def einsum(equation: str, tensors: Sequence[Tensor], path: Sequence[int] | None) -> Tensor:
    """The sums of products that the equation specifies; `path` holds the positions of two operands for each product.

    Without a path, products are taken from left to right. Multiplied operands leave the list; their product is appended
    if there is a path, and prepended otherwise.
    """
    if not tensors:
        raise ArgumentError("einsum(): must provide at least one operand")
    shapes = tuple(tensor._shape for tensor in tensors)
    plan = (planned.__wrapped__ if any(map(has_symbols, shapes)) else planned)(
        equation, shapes, None if path is None else tuple(path)
    )
    operands = list(tensors)
    for number, pairs in enumerate(plan.diagonals):
        for first, second in pairs:
            operands[number] = operands[number].diagonal(0, first, second).movedim(-1, first)
    for step in plan.steps:
        right, left = operands.pop(step.right), operands.pop(step.left)
        operands.insert(step.to, product_of(left, right, step))
    result = looked_at(operands[0], plan.result)
    return result if result is not tensors[0] else permute(result, plan.result.order)


def product_of(left: Tensor, right: Tensor, step: Step) -> Tensor:
    """One product, with a dimension for each of its names."""
    if step.swapped:
        left, right = right, left
    left, right = looked_at(left, step.left_view), looked_at(right, step.right_view)
    if not step.by_bmm:
        return left * right
    product: Tensor = bmm(left, right)
    return product if product._shape == tuple(step.shape) else reshape(product, step.shape)


def looked_at(tensor: Tensor, view: View) -> Tensor:
    """A tensor under a view; steps that change nothing are skipped."""
    if view.summed:
        tensor = tensor.sum(view.summed, True)
    if view.order != sorted(view.order):
        tensor = permute(tensor, view.order)
    return tensor if tensor._shape == tuple(view.shape) else reshape(tensor, view.shape)
