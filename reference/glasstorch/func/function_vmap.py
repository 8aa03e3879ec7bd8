"""How is a rule for batches generated from a Function's own methods?

Mirrors: torch/_functorch/autograd_function.py (vmapify_autograd_function, reductify, CtxCustomSave)

The generated Function takes whole batches: each of its methods maps the user's over them. What the user's saves is
kept as batches, and where their examples are is noted on the `ctx`, for each generated Function that nests there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.function import Function
from glasstorch.core.pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten
from glasstorch.func.batching import Batch
from glasstorch.func.layers import current, running
from glasstorch.func.vmap import vmap
from glasstorch.func.wrapped import batched, values_of, wrapping_by


def dims_of(tree: Any, owner: object) -> Any:
    """For each leaf the dimension of its examples; None for one that is no batch."""

    def dim_of(leaf: Any) -> Any:
        found = wrapping_by(owner, leaf)
        return None if found is None else found.bdim

    return tree_map(dim_of, tree)


def mapped(function: Callable[..., Any], dims: Sequence[Any], size: int, randomness: str) -> Callable[..., Any]:
    """Map a function of one example; of its results, the batches and the dimensions of their examples."""

    def over(*args: Any) -> tuple[Any, Any]:
        with running(Batch(size, randomness)) as owner:
            flat, spec = tree_flatten(args)
            flat_dims = tree_leaves(tuple(dims), is_leaf=lambda leaf: leaf is None)
            inputs = [
                batched(leaf, dim, owner) if isinstance(leaf, Tensor) and dim is not None else leaf
                for leaf, dim in zip(flat, flat_dims, strict=True)
            ]
            result = function(*tree_unflatten(inputs, spec))
            return values_of(result, owner), dims_of(result, owner)

    return over


class _Wrapped:
    """A `ctx` as one of the user's methods sees it: all but what is overridden is the other's."""

    own: tuple[str, ...] = ("_pt_inner_ctx",)

    def __init__(self, ctx: Any) -> None:
        if not isinstance(ctx, _Wrapped):
            reserved = (*self.own[:-1], "_pt_reserved_attrs", "_pt_inner_ctx")
            if any(hasattr(ctx, name) for name in reserved):
                raise RuntimeError(
                    f"PyTorch reserves the {reserved} field on ctx. Please name your fields on ctx something else to "
                    f"avoid name collision."
                )
        self._pt_inner_ctx = ctx

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pt_inner_ctx, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.own:
            self.__dict__[name] = value
        else:
            setattr(self._pt_inner_ctx, name, value)


class _Saving(_Wrapped):
    """The `ctx` of setup_context: what it saves are batches."""

    own = ("_pt_saved_tensors_bdims", "_pt_current_level", "_pt_inner_ctx")

    def __init__(self, ctx: Any, owner: Batch) -> None:
        super().__init__(ctx)
        self._pt_saved_tensors_bdims: tuple[Any, ...] = ()
        self._pt_current_level = owner

    def save_for_backward(self, *tensors: Any) -> None:
        self._pt_inner_ctx.save_for_backward(*values_of(tensors, self._pt_current_level))
        self._pt_saved_tensors_bdims = dims_of(tensors, self._pt_current_level)

    def save_for_forward(self, *tensors: Any) -> None:
        self._pt_inner_ctx.save_for_forward(*values_of(tensors, self._pt_current_level))
        self._pt_saved_tensors_bdims = dims_of(tensors, self._pt_current_level)


class _Saved(_Wrapped):
    """The `ctx` of backward and jvp: what was saved is one example."""

    own = ("_pt_new_saved_tensors", "_pt_inner_ctx")

    def __init__(self, ctx: Any, saved: tuple[Any, ...]) -> None:
        super().__init__(ctx)
        self._pt_new_saved_tensors = saved

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        return self._pt_new_saved_tensors


class _Notes:
    """What the methods of one generated Function tell each other about a call: it stands on the `ctx`."""

    saved_dims: tuple[Any, ...] = ()
    input_shapes: tuple[Any, ...] = ()
    out_dims: Any = None


def vmapped(cls: type[Function], in_dims: tuple[Any, ...], size: int, randomness: str) -> type[Function]:
    """A Function of batches, whose last result says where the examples are in the others."""

    def forward(*args: Any) -> Any:
        outputs, out_dims = mapped(cls.forward, in_dims, size, randomness)(*args)
        return (outputs, out_dims) if isinstance(outputs, Tensor) else (*outputs, out_dims)

    def setup_context(ctx: Any, inputs: Any, outputs: Any) -> None:
        *results, out_dims = outputs
        several = isinstance(out_dims, tuple)
        notes = _Notes()
        notes.out_dims = out_dims

        def one(inputs: Any, results: Any) -> None:
            wrapped = _Saving(ctx, _innermost())
            cls.setup_context(wrapped, inputs, results)
            notes.input_shapes = tuple(a._shape if isinstance(a, Tensor) else None for a in inputs)
            notes.saved_dims = wrapped._pt_saved_tensors_bdims

        mapped(one, (in_dims, out_dims), size, randomness)(inputs, tuple(results) if several else results[0])
        notes_of(ctx)[made] = notes

    def jvp(ctx: Any, *tangents: Any) -> Any:
        notes = notes_of(ctx)[made]
        dims = tuple(None if t is None else dim for t, dim in zip(tangents, in_dims, strict=True))
        function = lambda saved, tangents: cls.jvp(_Saved(ctx, saved), *tangents)  # noqa: E731
        found, found_dims = mapped(function, (notes.saved_dims, dims), size, randomness)(ctx.saved_tensors, tangents)
        return *reduced(found, found_dims, notes.out_dims, size), None

    def backward(ctx: Any, *grads: Any) -> Any:
        notes = notes_of(ctx)[made]
        grads = grads[:-1]
        out_dims = notes.out_dims if isinstance(notes.out_dims, tuple) else (notes.out_dims,)
        dims = tuple(None if g is None else dim for g, dim in zip(grads, out_dims, strict=True))
        function = lambda saved, grads: cls.backward(_Saved(ctx, saved), *grads)  # noqa: E731
        found, found_dims = mapped(function, (notes.saved_dims, dims), size, randomness)(ctx.saved_tensors, grads)
        return reduced(found, found_dims, in_dims, size, notes.input_shapes)

    members = {
        "forward": staticmethod(forward),
        "setup_context": staticmethod(setup_context),
        "backward": staticmethod(backward),
        "vjp": Function.vjp,
        "jvp": staticmethod(jvp),
        "generate_vmap_rule": True,
    }
    made = type(f"Vmapped{cls.__name__}", (Function,), members)
    return made


def notes_of(ctx: Any) -> dict[type[Function], _Notes]:
    """The notes on a `ctx`, by the generated Function."""
    if not hasattr(ctx, "_pt_notes"):
        ctx._pt_notes = {}
    found: dict[type[Function], _Notes] = ctx._pt_notes
    return found


def _innermost() -> Batch:
    """The transform that runs: the one that maps a method."""
    found = current()
    assert isinstance(found, Batch)
    return found


def reduced(found: Any, dims: Any, wanted: Any, size: int, shapes: Sequence[Any] | None = None) -> tuple[Any, ...]:
    """Gradients or tangents with their examples where those of the inputs are; summed where an input has none.

    Of an example, a gradient is summed to the shape of the input where that is given.
    """
    found, dims, wanted = (one if isinstance(one, tuple) else (one,) for one in (found, dims, wanted))
    return tuple(
        _reduced(value, dim, to, size, None if shapes is None else shapes[i])
        for i, (value, dim, to) in enumerate(zip(found, dims, wanted, strict=False))
    )


def _reduced(value: Any, dim: int | None, to: int | None, size: int, shape: Any) -> Any:
    if value is None or (dim is None and to is None):
        return value
    if to is None:
        return value.sum(dim)
    if dim is None:
        value = value.unsqueeze(to)
        value = value.expand([size if i == to else one for i, one in enumerate(value._shape)])
        dim = to
    if shape is not None:
        return vmap(lambda one: one.sum_to_size(shape), in_dims=dim, out_dims=to)(value)
    return value if dim == to else value.movedim(dim, to)
