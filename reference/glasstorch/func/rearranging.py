"""How are the dimensions of a tensor rearranged by a formula such as `b (h w) c -> b h w c`?

Mirrors: functorch/einops/rearrange.py, functorch/einops/_parsing.py
Differs: a view, a permutation and a reshape, where PyTorch binds first-class dimensions (functorch.dim). PyTorch
    refuses a pattern of a single group, `(h w) -> h w`, whose names it takes for so many indices; here it splits.
"""

from __future__ import annotations

import keyword
import math
import warnings
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.operators.generated import functions as f

ELLIPSIS = "\u2026"  # one character, which stands for the three dots of a pattern
Group = tuple[str, ...]  # the names that one dimension is made of; none for a dimension of size 1
Side = list[Group | None]  # of a pattern; None stands for an ellipsis that is not in parentheses


class DimensionBindError(Exception):
    """The sizes of a tensor do not fit the names of a pattern: `functorch.dim.DimensionBindError`."""


def rearrange(tensor: Tensor | Sequence[Tensor], pattern: str, **axes_lengths: int) -> Tensor:
    """The elements of a tensor in other dimensions, as a pattern says: split, permuted and merged.

    A sequence of tensors is stacked first. `axes_lengths` are the sizes of names that a pattern splits from one
    dimension; one of each group may be left out. The result is a view if its layout allows that, else a copy.

    Errors: ValueError for a pattern that cannot be read, or that does not fit the number of dimensions; TypeError for a
    length that is no int; DimensionBindError for sizes that do not fit.

    >>> import glasstorch as torch
    >>> torch.func.rearrange(torch.arange(6), "(h w) -> w h", h=2)
    tensor([[0, 3],
            [1, 4],
            [2, 5]])

    Mirrors: rearrange in functorch/einops/rearrange.py
    """
    whole: Any = tensor if isinstance(tensor, TensorImpl) else f.stack(tensor)
    before, after = _read_pattern(pattern, axes_lengths)
    _check_names(before, after, axes_lengths)
    _check_number(before, len(whole._shape))
    skipped = len(whole._shape) - len(before) + 1  # the dimensions for which an ellipsis stands
    sizes: list[int] = []  # after the split
    places: dict[str, range] = {}  # of each name
    of_one: list[int] = []
    taken = iter(whole._shape)
    for group in before:
        if group is None:
            places[ELLIPSIS] = range(len(sizes), len(sizes) + skipped)
            sizes += islice(taken, skipped)
        elif not group:
            of_one.append(len(sizes))
            sizes.append(next(taken))
        else:
            places.update((name, range(place, place + 1)) for place, name in enumerate(group, len(sizes)))
            sizes += _fitted(next(taken), [axes_lengths.get(name) for name in group], len(sizes))
    if not sizes:
        return whole  # type: ignore[no-any-return]
    order = [place for group in after for place in _places(group, places)]
    split = f.permute(f.view(whole, sizes), [*of_one, *order])
    if of_one:
        split = f.sum(split, list(range(len(of_one))))
    merged: list[int] = []
    for group in after:
        parts = [sizes[place] for place in _places(group, places)]
        merged += parts if group is None else [math.prod(parts)]
    return f.reshape(split, merged)


def _places(group: Group | None, places: dict[str, range]) -> list[int]:
    """The places of a group's names after the split."""
    return [place for name in _named(group) for place in places[name]]


def _fitted(size: int, lengths: list[int | None], first: int) -> list[int]:
    """The sizes of the names that share a dimension; `first` is the number of dimensions before them."""
    names = tuple(f"d{first + i}" for i in range(len(lengths)))
    unknown = [i for i, length in enumerate(lengths) if length is None]
    known = math.prod(length for length in lengths if length is not None)
    if len(unknown) > 1:
        raise DimensionBindError(
            f"cannot infer the sizes of two dimensions at once {names[unknown[0]]} and {names[unknown[1]]}"
        )
    if unknown and size % known:
        wanted = tuple("?" if length is None else length for length in lengths)
        raise DimensionBindError(f"inferred dimension does not evenly fit into larger dimension: {size} vs {wanted}")
    if not unknown and known != size:
        pack = f"({', '.join(names)}{',' if len(names) == 1 else ''})"
        raise DimensionBindError(
            f"Dimension sizes to do not match ({size} != {known}) when matching dimension pack {pack}"
        )
    return [size // known if length is None else length for length in lengths]


# Reading a pattern ----------------------------------------------------------------------------------------------


def _read_pattern(pattern: str, lengths: Mapping[str, int]) -> tuple[Side, Side]:
    """The groups on both sides of the arrow."""
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ValueError("Pattern must contain a single '->' separator")
    if ELLIPSIS in lengths:
        raise ValueError(f"'{ELLIPSIS}' is not an allowed axis identifier")
    before, after = map(_read, sides)
    if ELLIPSIS in _names(after) and ELLIPSIS not in _names(before):
        raise ValueError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    if ELLIPSIS in _names(before) and None not in before:
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    return before, after


def _read(side: str) -> Side:
    """The groups of one side."""
    if "." in side:
        if "..." not in side:
            raise ValueError("Expression may contain dots only inside ellipsis (...)")
        if side.count("...") != 1 or side.count(".") != 3:
            raise ValueError("Expression may contain dots only inside ellipsis (...); only one ellipsis for tensor ")
        side = side.replace("...", ELLIPSIS)
    groups: Side = []
    inside: list[str] | None = None  # the names since an opening parenthesis
    seen: set[str] = set()
    word = ""
    for character in f"{side} ":
        if character.isalnum() or character in ("_", ELLIPSIS):
            word += character
            continue
        if character not in "() ":
            raise ValueError(f"Unknown character '{character}'")
        if word:
            names = _axis(word, seen)
            word = ""
            if inside is None:
                groups.append(None if names == (ELLIPSIS,) else names)
            else:
                inside += names
        if character == "(":
            if inside is not None:
                raise ValueError("Axis composition is one-level (brackets inside brackets not allowed)")
            inside = []
        elif character == ")":
            if inside is None:
                raise ValueError("Brackets are not balanced")
            groups.append(tuple(inside))
            inside = None
    if inside is not None:
        raise ValueError(f"Imbalanced parentheses in expression: '{side}'")
    return groups


def _axis(word: str, seen: set[str]) -> Group:
    """A word as a name that is new, or as none if it is 1."""
    if word in seen:
        raise ValueError(f"Indexing expression contains duplicate dimension '{word}'")
    if word.isdecimal():
        if int(word) < 1:
            raise ValueError(f"Anonymous axis should have positive length, not {int(word)}")
        return () if int(word) == 1 else (word,)
    seen.add(word)
    if word == ELLIPSIS:
        return (word,)
    if not word.isidentifier():
        raise ValueError(f"Invalid axis identifier: {word}\nnot a valid python identifier")
    if word.startswith("_") or word.endswith("_"):
        raise ValueError(f"Invalid axis identifier: {word}\naxis name should should not start or end with underscore")
    if keyword.iskeyword(word):
        warnings.warn(f"It is discouraged to use axes names that are keywords: {word}", RuntimeWarning, stacklevel=5)
    if word == "axis":
        warnings.warn(
            "It is discouraged to use 'axis' as an axis name and will raise an error in future",
            FutureWarning,
            stacklevel=5,
        )
    return (word,)


def _named(group: Group | None) -> Group:
    return (ELLIPSIS,) if group is None else group


def _names(side: Side) -> set[str]:
    return {name for group in side for name in _named(group)}


def _check_names(before: Side, after: Side, lengths: Mapping[str, int]) -> None:
    """Both sides have the same names, and every length belongs to one of them."""
    for length in lengths.values():
        if type(length) is not int:
            raise TypeError(f"rearrange axis lengths must be integers, got: {type(length)}")
    left, right = _names(before), _names(after)
    if any(name.isdecimal() for name in left | right):
        raise ValueError("rearrange only supports unnamed axes of size 1")
    if left != right:
        raise ValueError(f"Identifiers only on one side of rearrange expression (should be on both): {left ^ right}")
    if unknown := lengths.keys() - left:
        raise ValueError(f"Identifiers not found in rearrange expression: {unknown}")


def _check_number(before: Side, ndim: int) -> None:
    """The left side has as many groups as the tensor has dimensions; an ellipsis stands for any number."""
    if None in before:
        number = len(_names(before)) - 1 + before.count(())
        if number > ndim:
            raise ValueError(
                f"Number of dimensions in pattern ({number}) must be less than or equal to the number of dimensions in "
                f"the tensor ({ndim})"
            )
    elif len(before) != ndim:
        raise ValueError(
            f"Number of dimensions in pattern ({len(before)}) must be equal to the number of dimensions in the tensor "
            f"({ndim})"
        )
