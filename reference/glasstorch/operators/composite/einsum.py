"""How does einsum become products of matrices?

Mirrors: aten/src/ATen/native/Linear.cpp (einsum, sumproduct_pair)
Differs: the equation is parsed into a value first.

1. The equation names the dimensions of every operand and of the result; repeated names in one operand are a diagonal.
2. Every operand is seen under all names, those of the result first: names that it lacks become dimensions of size 1.
3. Two operands at a time are multiplied, and summed over the names that no other operand needs: a `bmm`, whose batches
   are the names that both have and the result keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.operators.generated import functions

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

ELLIPSIS = "..."


class Equation(NamedTuple):
    """`"...ij,jk->...ik"`: the names of the dimensions of each operand, and of the result, if it says them."""

    operands: list[list[str]]
    result: list[str] | None


# The equation ---------------------------------------------------------------------------------------------------


def parse(equation: str, count: int) -> Equation:
    """The equation of so many operands.

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
    for place, label in enumerate(result):
        if label != ELLIPSIS and (label not in known or label in result[:place]):
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
    place = 0
    while place < len(term):
        letter = term[place]
        if letter == ".":
            if ELLIPSIS in found:
                but = "but an ellipsis (...) was already found"
                raise ArgumentError(
                    f"einsum(): found '.' for {whose} "
                    + (but if whose == "output" else "for which an ellipsis was already found")
                )
            if term[place : place + 3] != ELLIPSIS:
                suffix = " (...)" if whose == "output" else ""
                raise ArgumentError(f"einsum(): found '.' for {whose} that is not part of any ellipsis{suffix}")
            found.append(ELLIPSIS)
            place += 3
            continue
        if letter != " ":
            if not (letter.isascii() and letter.isalpha()):
                raise ArgumentError(
                    f"einsum(): invalid subscript given at index {start + place} in the equation string, subscripts "
                    f"must be in [a-zA-Z]"
                )
            found.append(letter)
        place += 1
    return found


# Alignment ------------------------------------------------------------------------------------------------------


def covered(operands: Sequence[Sequence[str]], tensors: Sequence[Tensor]) -> list[int]:
    """How many dimensions the ellipsis of each operand stands for."""
    counts = []
    for number, (names, tensor) in enumerate(zip(operands, tensors, strict=True)):
        named = len(names) - (ELLIPSIS in names)
        if named > tensor.dim() or (named < tensor.dim() and ELLIPSIS not in names):
            problem = "is more than" if ELLIPSIS in names else "does not match"
            without = "" if ELLIPSIS in names else " and no ellipsis was given"
            raise ShapeError(
                f"einsum(): the number of subscripts in the equation ({named}) {problem} the number of dimensions "
                f"({tensor.dim()}) for operand {number}{without}"
            )
        counts.append(tensor.dim() - named)
    return counts


def ordered_names(equation: Equation, ellipsis: list[str]) -> tuple[list[str], int]:
    """All names, those of the result first, and how many these are. `ellipsis` holds the names that stand for it."""
    used = [label for operand in equation.operands for label in operand if label != ELLIPSIS]
    if equation.result is None:
        kept = [*ellipsis, *sorted(label for label in set(used) if used.count(label) == 1)]
    else:
        kept = [name for label in equation.result for name in (ellipsis if label == ELLIPSIS else [label])]
    summed = [] if equation.result is None or ELLIPSIS in equation.result else ellipsis
    return [*kept, *summed, *sorted(set(used) - set(kept))], len(kept)


def aligned(tensor: Tensor, names: list[str], everything: list[str], number: int) -> Tensor:
    """An operand with one dimension for each name; of a name that stands twice, the diagonal."""
    place = 0
    while place < len(names):
        first = names.index(names[place])
        if first < place:
            sizes = tensor._shape[place], tensor._shape[first]
            if sizes[0] != sizes[1]:
                raise ShapeError(
                    f"einsum(): subscript {names[place]} is repeated for operand {number} but the sizes don't match, "
                    f"{sizes[0]} != {sizes[1]}"
                )
            tensor = tensor.diagonal(0, first, place).movedim(-1, first)
            names = names[:place] + names[place + 1 :]
        else:
            place += 1
    missing = [name for name in everything if name not in names]
    for _ in missing:
        tensor = tensor.unsqueeze(-1)
    order = {name: dim for dim, name in enumerate([*names, *missing])}
    return tensor.permute([order[name] for name in everything])


def check_sizes(tensors: Sequence[Tensor], spelled: Sequence[Sequence[str]]) -> None:
    """Refuse sizes of one name that are neither equal nor 1; an ellipsis is spelled in numbers."""
    seen: dict[str, int] = {}
    for number, (tensor, names) in enumerate(zip(tensors, spelled, strict=True)):
        for dim, (name, size) in enumerate(zip(names, tensor._shape, strict=True)):
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


# Contraction ----------------------------------------------------------------------------------------------------


def einsum(equation: str, tensors: Sequence[Tensor], path: Sequence[int] | None) -> Tensor:
    """The sums of products that the equation names; `path` holds the places of two operands for each product.

    Without a path, products are taken from left to right. Operands that were multiplied leave the list; their product
    stands at its end where there is a path, otherwise at its beginning.
    """
    if not tensors:
        raise ArgumentError("einsum(): must provide at least one operand")
    length = 1 if len(tensors) == 1 else 2 * (len(tensors) - 1)
    if path is not None and len(path) != length:
        raise ArgumentError(
            f"einsum(): expected contraction path given in path parameter to have size {length} but got {len(path)}"
        )
    parsed = parse(equation, len(tensors))
    counts = covered(parsed.operands, tensors)
    width = max((n for names, n in zip(parsed.operands, counts, strict=True) if ELLIPSIS in names), default=0)
    unnamed = [str(d) for d in range(width)]
    names, kept = ordered_names(parsed, unnamed)
    spelled = [
        [name for label in own for name in (unnamed[width - count :] if label == ELLIPSIS else [label])]
        for own, count in zip(parsed.operands, counts, strict=True)
    ]
    check_sizes(tensors, spelled)
    pairs = zip(tensors, spelled, strict=True)
    operands = [aligned(tensor, own, names, number) for number, (tensor, own) in enumerate(pairs)]
    summed = range(kept, len(names))
    if len(operands) == 1:
        return operands[0].sum(list(summed)) if summed else operands[0]
    steps = list(path or ())
    while len(operands) > 1:
        i, j = sorted(steps[:2]) if path is not None else (0, 1)
        del steps[:2]
        if i == j or i < 0 or j >= len(operands):
            problem = "cannot contract an operand with itself" if i == j else "operand index is out of bounds"
            raise ArgumentError(f"einsum(): invalid contraction ({i}, {j}) {problem}")
        right, left = operands.pop(j), operands.pop(i)
        last = [d for d in summed if all(rest._shape[d] == 1 for rest in operands)]
        product = sum_of_products(left, right, last)
        operands.insert(len(operands) if path is not None else 0, product)
    result = operands[0]
    return result.reshape(result._shape[:kept]) if summed else result


def sum_of_products(left: Tensor, right: Tensor, summed: Sequence[int]) -> Tensor:
    """`(left * right).sum(summed, keepdim=True)`, as products of matrices."""
    for tensor, other in ((left, right), (right, left)):
        alone = [d for d in summed if tensor._shape[d] != 1 and other._shape[d] == 1]
        if alone and tensor is left:
            left = left.sum(alone, True)
        elif alone:
            right = right.sum(alone, True)
    inner = [d for d in summed if left._shape[d] != 1 and right._shape[d] != 1]
    if not inner:
        return left * right
    dims = [d for d in range(left.dim()) if d not in summed]
    batch = [d for d in dims if left._shape[d] != 1 and right._shape[d] != 1]
    rows = [d for d in dims if left._shape[d] != 1 and d not in batch]
    columns = [d for d in dims if d not in batch and d not in rows]
    gone = [d for d in summed if d not in inner]  # of size 1 in both
    sizes = [prod(left._shape[d] for d in which) for which in (batch, rows, inner)]
    wide = [d for d in columns if right._shape[d] != 1]
    if rows and wide and wide[0] < rows[0]:  # the other way around the product lies in memory as its names do
        return sum_of_products(right, left, summed)
    width = prod(right._shape[d] for d in columns)
    lefts = left.permute([*batch, *rows, *inner, *columns, *gone]).reshape(sizes)
    rights = right.permute([*batch, *inner, *columns, *rows, *gone]).reshape([sizes[0], sizes[2], width])
    product = functions.bmm(lefts, rights)
    order = [*batch, *rows, *columns, *inner, *gone]
    shape = [left._shape[d] for d in (*batch, *rows)] + [right._shape[d] for d in columns] + [1] * len(summed)
    return product.reshape(shape).permute([order.index(d) for d in range(len(order))])
