"""How is a function replaced by its linear approximation?

Mirrors: torch/_functorch/eager_transforms.py (linearize)
Differs: PyTorch traces the tangents' computation into a graph. Here it is the transpose of the way backward, twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.forward_ad import dual_level
from glasstorch.core.pytree import tree_flatten, tree_map
from glasstorch.func.transforms import vjp
from glasstorch.operators.generated import functions as f


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of `func` at the primals, and a function from tangents of these to the tangents of the value.

    That function computes nothing of `func` again: it uses what the way backward has saved. RuntimeError where forward
    mode is in use already, in a `dual_level`, in `jvp` and in another `linearize`.

    >>> from glasstorch import tensor
    >>> value, push = linearize(lambda x: x * x, tensor(3.0))
    >>> push(tensor(1.0))
    tensor(6.)
    """
    with dual_level():  # there is one level of forward mode, which PyTorch computes the tangents at
        output, pull = vjp(func, *primals)
    # A gradient is linear in the one that it starts from, and the transpose of that map takes tangents to tangents.
    _, push = vjp(pull, tree_map(f.zeros_like, output))
    flat, structure = tree_flatten(primals)

    def jvp_fn(*tangents: Any) -> Any:
        given, own = tree_flatten(tangents)
        if own != structure:
            raise RuntimeError(f"Expected the tangents {own} to have the same argspec as the primals {structure}")
        _check_like(given, flat)
        return push(tangents)[0]

    return output, jvp_fn


def _check_like(tangents: Sequence[Any], primals: Sequence[Tensor]) -> None:
    """RuntimeError for a tangent that differs from its primal in shape, device or dtype."""
    for place, (tangent, primal) in enumerate(zip(tangents, primals, strict=True)):
        for name in ("shape", "device", "dtype"):
            if getattr(tangent, name) != getattr(primal, name):
                raise RuntimeError(
                    f"tangent:{place} with {name} {getattr(tangent, name)} in flattened pytree doesn't match the "
                    f"{name} {getattr(primal, name)} of the corresponding primal."
                )
