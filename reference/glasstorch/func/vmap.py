"""How does a function of one example become one of a batch?

Mirrors: torch/_functorch/vmap.py, torch/_functorch/apis.py (vmap, chunk_vmap)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.pytree import _broadcast_to_and_flatten, tree_flatten, tree_leaves, tree_unflatten
from glasstorch.core.pytree_spec import TreeSpec
from glasstorch.core.random.generator import default_generator
from glasstorch.func.batching import Batch
from glasstorch.func.layers import running
from glasstorch.func.wrapped import batched, wrapping_by
from glasstorch.operators.generated import functions as f

Dims = Any  # an int, None, or a tree of them
RANDOMNESS = ("error", "different", "same")


def vmap(
    func: Callable[..., Any],
    in_dims: Dims = 0,
    out_dims: Dims = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that maps `func` over a dimension of its arguments, all examples at once.

    `in_dims` says which dimension of each argument holds the examples (None for an argument that all share), in a tuple
    or tree like the arguments; `out_dims` where they are in the results. `func` sees one example: that dimension is
    hidden. `randomness` says what a random operator gives: an error, the "same" numbers for all examples, or
    "different" ones. With `chunk_size`, so many examples at a time are computed.

    >>> from glasstorch import dot, ones
    >>> vmap(dot)(ones(3, 5), ones(3, 5))
    tensor([5., 5., 5.])
    """
    if randomness not in RANDOMNESS:
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return _Mapped(func, in_dims, out_dims, randomness).over(args, kwargs, chunk_size)

    return wrapped


def name_of(func: Any) -> str:
    """What messages call a function."""
    if isinstance(func, functools.partial):
        return f"functools.partial({name_of(func.func)}, ...)"
    return str(getattr(func, "__name__", None) or repr(func))


class _Mapped:
    """One function that is mapped, and the dimensions."""

    def __init__(self, func: Callable[..., Any], in_dims: Dims, out_dims: Dims, randomness: str) -> None:
        self.func, self.in_dims, self.out_dims, self.randomness = func, in_dims, out_dims, randomness
        self.name = name_of(func)

    def over(self, args: tuple[Any, ...], kwargs: dict[str, Any], chunk_size: int | None) -> Any:
        """The results for all examples."""
        for dim in tree_leaves(self.out_dims):
            if not (dim is None or isinstance(dim, int)):
                raise ValueError(
                    f"vmap({self.name}, ..., out_dims={self.out_dims}): `out_dims` must be an int, None or a python "
                    f"collection of ints representing where in the outputs the vmapped dimension should appear."
                )
        flat, spec, dims = self.flattened(args)
        sizes = [arg._shape[dim] for arg, dim in zip(flat, dims, strict=True) if dim is not None]
        if not sizes:
            raise ValueError("vmap: Expected at least one Tensor to vmap over")
        if len(set(sizes)) > 1:
            raise ValueError(
                f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the "
                f"mapped dimension"
            )
        if chunk_size is None or chunk_size >= sizes[0]:
            return self.at_once(flat, spec, dims, sizes[0], kwargs)
        return self.in_chunks(flat, spec, dims, sizes[0], kwargs, chunk_size)

    def flattened(self, args: tuple[Any, ...]) -> tuple[list[Any], TreeSpec, list[int | None]]:
        """The arguments in a row, their structure, and the mapped dimension of each."""
        asked = f"vmap({self.name}, in_dims={self.in_dims}, ...)(<inputs>): "
        if not isinstance(self.in_dims, int | tuple):
            raise ValueError(
                f"{asked}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of "
                f"inputs, got: {type(self.in_dims)}."
            )
        if not args:
            raise ValueError(
                f"vmap({self.name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to "
                f"vmap over a function with no inputs. The latter is unsupported."
            )
        flat, spec = tree_flatten(args)
        dims = _broadcast_to_and_flatten(self.in_dims, spec)
        if dims is None:
            raise ValueError(
                f"{asked}in_dims is not compatible with the structure of `inputs`. in_dims has structure "
                f"{tree_flatten(self.in_dims)[1]} but inputs has structure {spec}."
            )
        for i, (arg, dim) in enumerate(zip(flat, dims, strict=True)):
            if dim is None:
                continue
            if not isinstance(dim, int):
                raise ValueError(
                    f"{asked}Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
                )
            if not isinstance(arg, Tensor):
                raise ValueError(
                    f"{asked}Got in_dim={dim} for an input but the input is of type {type(arg)}. We cannot vmap over "
                    f"non-Tensor arguments, please use None as the respective in_dim"
                )
            if not -arg.ndim <= dim < arg.ndim:
                raise ValueError(
                    f"{asked}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {arg.ndim} "
                    f"so expected in_dim to satisfy -{arg.ndim} <= in_dim < {arg.ndim}."
                )
            if isinstance(dim, bool):
                raise TypeError("size(): argument 'dim' (position 1) must be int, not bool")
            dims[i] = dim % arg.ndim
        return flat, spec, dims

    def at_once(
        self, flat: Sequence[Any], spec: TreeSpec, dims: Sequence[int | None], size: int, kwargs: dict[str, Any]
    ) -> Any:
        """The results for a batch."""
        with running(Batch(size, self.randomness)) as owner:
            inputs = [arg if dim is None else batched(arg, dim, owner) for arg, dim in zip(flat, dims, strict=True)]
            outputs = self.func(*tree_unflatten(inputs, spec), **kwargs)
            found, out_spec, out_dims = self.flattened_outputs(outputs)
            hidden = [self.shown(value, dim, owner) for value, dim in zip(found, out_dims, strict=True)]
        made = [
            value if dim is None else _placed(value, bdim, dim, size)
            for (value, bdim), dim in zip(hidden, out_dims, strict=True)
        ]
        return tree_unflatten(made, out_spec)

    def flattened_outputs(self, outputs: Any) -> tuple[list[Any], TreeSpec, list[int | None]]:
        """The results in a row, their structure, and where the examples are to be in each."""
        found, spec = tree_flatten(outputs)
        dims: Any
        if isinstance(outputs, Tensor):
            one = self.out_dims
            dims = [one] if one is None or isinstance(one, int) else list(one) if len(one) == 1 else None
        else:
            dims = _broadcast_to_and_flatten(self.out_dims, spec)
        if dims is None:
            raise ValueError(
                f"vmap({self.name}, ..., out_dims={self.out_dims})(<inputs>): out_dims is not compatible with the "
                f"structure of `outputs`. out_dims has structure {tree_flatten(self.out_dims)[1]} but outputs has "
                f"structure {spec}."
            )
        return found, spec, dims

    def shown(self, value: Any, dim: int | None, owner: Batch) -> tuple[Any, int | None]:
        """A result's value, and where its examples are; None where all have the same."""
        inside = wrapping_by(owner, value)
        if dim is None:
            if inside is not None:
                raise ValueError(
                    f"vmap({self.name}, ...): `{self.name}` can not return a BatchedTensor when out_dim is None"
                )
            return value, None
        if not isinstance(value, Tensor):
            raise ValueError(
                f"vmap({self.name}, ...): `{self.name}` must only return Tensors, got type {type(value)}. Did you mean "
                f"to set out_dims= to None for output?"
            )
        return (value, None) if inside is None else (inside.value, inside.bdim)

    def in_chunks(
        self,
        flat: Sequence[Any],
        spec: TreeSpec,
        dims: Sequence[int | None],
        size: int,
        kwargs: dict[str, Any],
        chunk_size: int,
    ) -> Any:
        """The results of so many examples at a time, joined."""
        made: list[list[Any]] = []
        state = default_generator.get_state() if self.randomness == "same" else None
        for part, count in _chunks(flat, dims, size, chunk_size):
            if state is not None:
                default_generator.set_state(state)
            results, out_spec = tree_flatten(self.at_once(part, spec, dims, count, kwargs))
            made.append(results)
        out_dims = _broadcast_to_and_flatten(self.out_dims, out_spec)
        assert out_dims is not None, "the first chunk has checked it"
        joined = [
            column[0] if dim is None else f.cat(list(column), dim)
            for column, dim in zip(zip(*made, strict=True), out_dims, strict=True)
        ]
        return tree_unflatten(joined, out_spec)


def _chunks(
    flat: Sequence[Any], dims: Sequence[int | None], size: int, chunk_size: int
) -> Iterator[tuple[list[Any], int]]:
    """The arguments of so many examples at a time, and how many these are."""
    for start in range(0, size, chunk_size):
        count = min(chunk_size, size - start)
        yield (
            [arg if dim is None else arg.narrow(dim, start, count) for arg, dim in zip(flat, dims, strict=True)],
            count,
        )


def _placed(value: Tensor, bdim: int | None, dim: int, size: int) -> Tensor:
    """A result with its examples along a dimension; one that all share is repeated."""
    rank = value.ndim + (bdim is None)
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    if bdim is None:
        bdim, value = 0, value.expand((size, *value._shape))
    return value if bdim == dim % rank else value.movedim(bdim, dim % rank)
