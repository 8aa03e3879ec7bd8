"""How is a function compiled that writes to one of several arguments with the same memory?

Mirrors: torch/_functorch/_aot_autograd/runtime_wrappers.py (merge_view_inputs, AOTSyntheticBaseWrapper)
Differs: where no gradient is wanted, the base begins at the first byte of the storage, whatever the arguments are views
    of. Parts of different dtypes are refused, and so are parts that become others by `t_()` or its like.

In place of such arguments the graph gets one tensor that shows all of their memory, and takes them from it as views; so
a write to one of them is a write to the base, which the others are read from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.core.layout import strided
from glasstorch.func.functional_tensor import inside, is_functional

Group = tuple[int, ...]  # the places of arguments that share memory
Flat = Callable[..., Any]


class Part(NamedTuple):
    """One argument, as it lies in the memory of a base."""

    place: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


def groups_of(args: Sequence[Any]) -> list[Group]:
    """The arguments that share their memory, group by group; none for an argument alone."""
    found: dict[int, list[int]] = {}
    for place, arg in enumerate(args):
        if isinstance(arg, Tensor) and arg.layout is strided:
            found.setdefault(arg.untyped_storage()._cdata, []).append(place)
    return [tuple(places) for places in found.values() if len(places) > 1]


def sharing_of(args: Sequence[Any]) -> tuple[Any, ...]:
    """Which arguments share memory, and where each lies in it: what a graph with bases depends on."""
    return tuple((group, *(args[place].storage_offset() for place in group)) for group in groups_of(args))


def by_sharing(
    run: Callable[[Sequence[Any]], list[Any]],
    written: Sequence[int],
    compile_for: Callable[[Sequence[Any]], Callable[[Sequence[Any]], list[Any]]],
) -> Callable[[Sequence[Any]], list[Any]]:
    """A function that was compiled for arguments of which none that is written to shares its memory.

    For those that do, others are compiled: one for each way in which they share it.
    """
    if not written:
        return run
    made: dict[Any, Callable[[Sequence[Any]], list[Any]]] = {}

    def of_all(values: Sequence[Any]) -> list[Any]:
        if not _shares(values, written):
            return run(values)
        key = sharing_of(values)
        if key not in made:
            made[key] = compile_for(values)
        return made[key](values)

    return of_all


def _shares(args: Sequence[Any], written: Sequence[int]) -> bool:
    """Whether an argument that is written to shares its memory with another one."""
    found = {args[i].untyped_storage()._cdata for i in written}
    if len(found) < len(written):
        return True
    others = (arg for i, arg in enumerate(args) if i not in written and isinstance(arg, Tensor))
    return any(arg.layout is strided and arg.untyped_storage()._cdata in found for arg in others)


class Merged:
    """The arguments of a function with a base in the place of each group, behind all others."""

    def __init__(self, args: Sequence[Any], groups: Sequence[Group]) -> None:
        self.groups = groups
        grouped = {place for group in groups for place in group}
        self.others = [place for place in range(len(args)) if place not in grouped]
        self.parts = [[_part(place, args[place]) for place in group] for group in groups]
        for group in groups:
            _check([args[place] for place in group], group)

    def values(self, args: Sequence[Any]) -> list[Any]:
        """The arguments of the merged function, for those of the function."""
        bases = [_base([args[place] for place in group]) for group in self.groups]
        return [*(args[place] for place in self.others), *bases]

    def function(self, fn: Flat) -> Flat:
        """The function of those."""

        def merged(*values: Any) -> Any:
            given = dict(zip(self.others, values, strict=False))
            bases = values[len(self.others) :]
            views: list[tuple[int, Any]] = []
            for base, parts in zip(bases, self.parts, strict=True):
                for part in parts:
                    given[part.place] = base.as_strided(part.shape, part.strides, part.offset)
                    views.append((part.place, given[part.place]))
            found = fn(*(given[place] for place in range(len(given))))
            for place, view in views:
                if is_functional(view) and (inside(view).changed_shape or inside(view).changed_storage):
                    raise NotImplementedError(
                        f"aot_function: argument {place} shares memory with another one, and its sizes, strides or "
                        "storage are changed in place, which cannot be compiled in glasstorch; pass a copy of it"
                    )
            return found

        return merged


def _part(place: int, arg: Tensor) -> Part:
    return Part(place, tuple(arg.shape), arg.stride(), arg.storage_offset())


def _check(tensors: Sequence[Tensor], group: Group) -> None:
    """Refuse a group that no base can stand for."""
    names = ", ".join(map(str, group))
    if any(tensor.dtype is not tensors[0].dtype for tensor in tensors):
        raise NotImplementedError(
            f"aot_function: the arguments {names} share memory, have different dtypes, and one of them is written to, "
            "which cannot be compiled in glasstorch; pass a copy of one of them"
        )
    if any(tensor.requires_grad for tensor in tensors):
        base = _own_base(tensors)
        if base is None or base.storage_offset() or not base.is_contiguous():
            raise NotImplementedError(
                f"aot_function: the arguments {names} share memory, require grad, and one of them is written to; this "
                "can be compiled in glasstorch only if they are views of one contiguous tensor, so pass a copy"
            )


def _own_base(tensors: Sequence[Tensor]) -> Tensor | None:
    """The tensor that all are views of, or that one of them is."""
    bases = {id(base): base for base in (tensor if tensor._base is None else tensor._base for tensor in tensors)}
    return next(iter(bases.values())) if len(bases) == 1 else None


def _base(tensors: Sequence[Tensor]) -> Tensor:
    if any(tensor.requires_grad for tensor in tensors):
        base = _own_base(tensors)
        assert base is not None, "checked when the graph was made"
        return base
    ends = [
        tensor.storage_offset()
        + sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True))
        for tensor in tensors
        if tensor.numel()
    ]
    made: Tensor = tensors[0].detach().as_strided((max(ends, default=-1) + 1,), (1,), 0)
    return made
