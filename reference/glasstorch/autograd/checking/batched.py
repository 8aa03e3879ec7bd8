"""Do the gradients of a batch equal those of its examples?

Mirrors: torch/autograd/gradcheck.py (_test_batched_grad, _test_batched_grad_forward_ad)
Differs: tangents of a batch are those of func.jvp, whose level lies inside that of vmap.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.checking.messages import BATCHED_FAILED, BATCHED_FORWARD_FAILED, batched_mismatch
from glasstorch.autograd.checking.numerical import Function
from glasstorch.autograd.checking.values import GradcheckError, as_tuple, checked, is_inexact, requires_grad
from glasstorch.autograd.graph import grad
from glasstorch.core import hooks
from glasstorch.operators.generated.functions import allclose, randn_like, stack, zeros

Products = Callable[[Tensor], tuple[Tensor, ...]]


def check_batched(inputs: Sequence[Any], output: Tensor, number: int) -> None:
    """Two backward passes from an output give what one from a batch of two does, under vmap."""
    tensors = checked(inputs)

    def vjp(cotangent: Tensor) -> tuple[Tensor, ...]:
        found = grad(output, tensors, cotangent, retain_graph=True, allow_unused=True)
        return tuple(_zeros(t) if g is None else g for g, t in zip(found, tensors, strict=True))

    for place, (found, expected) in enumerate(_both(vjp, output, BATCHED_FAILED)):
        if not allclose(found, expected):
            raise GradcheckError(batched_mismatch(number, place, found, expected))


def check_batched_forward(func: Function, inputs: Sequence[Any]) -> None:
    """Two tangents of an input give what a batch of these two does, under vmap."""
    for place, value in enumerate(inputs):
        if not (requires_grad(value) and is_inexact(value)):
            continue

        def jvp(tangent: Tensor, place: int = place, value: Tensor = value) -> tuple[Tensor, ...]:
            others = [v.detach() if isinstance(v, Tensor) else v for v in inputs]

            def of_one(moved: Tensor) -> tuple[Tensor, ...]:
                given = [moved if i == place else v for i, v in enumerate(others)]
                return tuple(o for o in as_tuple(func(*given)) if o is not None)

            return hooks.transforms().jvp(of_one, (value.detach(),), (tangent,))[1]  # type: ignore[no-any-return]

        for number, (found, expected) in enumerate(_both(jvp, value, BATCHED_FORWARD_FAILED)):
            if not allclose(found, expected):
                raise GradcheckError(batched_mismatch(number, number, found, expected, of_forward=True))


def _both(products: Products, like: Tensor, message: str) -> list[tuple[Tensor, Tensor]]:
    """Each product for two random vectors at once, and for one after the other."""
    vectors = [randn_like(like) for _ in range(2)]
    one_by_one = [products(vector) for vector in vectors]
    expected = [stack(column) for column in zip(*one_by_one, strict=True)]
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="There is a performance drop")
            found = hooks.transforms().vmap(products)(stack(vectors))
    except RuntimeError as error:
        raise GradcheckError(f"While computing batched gradients, got: {error}\n\n{message}") from error
    return list(zip(found, expected, strict=True))


def _zeros(like: Tensor) -> Tensor:
    return zeros((), dtype=like.dtype, device=like.device).expand(like.shape)
