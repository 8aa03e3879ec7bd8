"""How is a function replaced by its linear approximation?

Mirrors: torch/_functorch/eager_transforms.py (linearize)
Differs: PyTorch traces the tangents' computation into a graph. Here it is the transpose of the way backward, twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.forward_ad import dual_level
from glasstorch.core.pytree import tree_flatten, tree_unflatten
from glasstorch.func.transforms import vjp
from glasstorch.operators.generated import functions as f


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of `func` at the primals, and a function from tangents of these to the tangents of the value.

    That function computes nothing of `func` again: it uses what the way backward has saved. Tensors of integers have
    zeros for tangents, and what is no tensor is returned as it is. RuntimeError where forward mode is in use already,
    in a `dual_level`, in `jvp` and in another `linearize`.

    >>> from glasstorch import tensor
    >>> value, push = linearize(lambda x: x * x, tensor(3.0))
    >>> push(tensor(1.0))
    tensor(6.)
    """
    structure_of_output: Any = None
    leaves: list[Any] = []  # of the output

    def differentiable(*given: Any) -> tuple[list[Tensor], list[Tensor]]:
        nonlocal structure_of_output
        found, structure_of_output = tree_flatten(func(*given))
        leaves[:] = found
        computed = [one for one in found if _has_tangent(one)]
        return computed or [f.zeros(())], [one for one in found if _is_constant(one)]

    with dual_level():  # there is one level of forward mode, which PyTorch computes the tangents at
        values, pull, constants = vjp(differentiable, *primals, has_aux=True)
    # A gradient is linear in the one that it starts from, and the transpose of that map takes tangents to tangents.
    _, push = vjp(pull, [f.zeros_like(one) for one in values])
    flat, structure = tree_flatten(primals)

    def in_place_of(tensors: Sequence[Tensor], others: Sequence[Tensor]) -> Any:
        """The output with these tensors; what is no tensor stays."""
        computed, constant = iter(tensors), iter(others)
        return tree_unflatten(
            [next(computed) if _has_tangent(one) else next(constant) if _is_constant(one) else one for one in leaves],
            structure_of_output,
        )

    def jvp_fn(*tangents: Any) -> Any:
        given, own = tree_flatten(tangents)
        if own != structure:
            raise RuntimeError(f"Expected the tangents {own} to have the same argspec as the primals {structure}")
        _check_like(given, flat)
        return in_place_of(push(tangents)[0], [f.zeros_like(one) for one in constants])

    return in_place_of(values, constants), jvp_fn


def _has_tangent(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and (leaf.is_floating_point() or leaf.is_complex())


def _is_constant(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and not _has_tangent(leaf)


def _check_like(tangents: Sequence[Any], primals: Sequence[Tensor]) -> None:
    """RuntimeError for a tangent that differs from its primal in shape, device or dtype."""
    for place, (tangent, primal) in enumerate(zip(tangents, primals, strict=True)):
        for name in ("shape", "device", "dtype"):
            if getattr(tangent, name) != getattr(primal, name):
                raise RuntimeError(
                    f"tangent:{place} with {name} {getattr(tangent, name)} in flattened pytree doesn't match the "
                    f"{name} {getattr(primal, name)} of the corresponding primal."
                )
