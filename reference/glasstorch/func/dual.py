"""How does a tensor have a tangent at the level of a transform, or below one?

Mirrors: torch/_functorch/eager_transforms.py (jvp_increment_nesting, safe_unpack_dual), JvpInterpreterPtr in
    aten/src/ATen/functorch/ADInterpreters.cpp
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd import forward_ad
from glasstorch.autograd.tangents import level, set_tangent, tangent_of
from glasstorch.func.batching import Batch
from glasstorch.func.layers import Interpreter, Rest, alive, stack
from glasstorch.func.tracking import Tracking
from glasstorch.func.wrapped import batched, tracked, wrapping_by


def dual(primal: Tensor, tangent: Tensor, owner: Tracking) -> Tensor:
    """A tensor, tracked at a level, with a tangent there; ValueError unless both are of floats or complex numbers."""
    forward_ad.check_kinds(primal, tangent)
    result = tracked(primal, owner)
    token = level.set(owner.tangents)
    try:
        set_tangent(result, tracked(tangent, owner))
    finally:
        level.reset(token)
    return result


def undual(value: Any, owner: Tracking) -> tuple[Any, Any]:
    """The value and the tangent that a result has at a level, as tensors of the level outside; no tangent is None."""
    found = wrapping_by(owner, value)
    if found is None:
        return value, None
    token = level.set(owner.tangents)
    try:
        tangent = tangent_of(value)
    finally:
        level.reset(token)
    held = None if tangent is None else wrapping_by(owner, tangent)
    return found.value, tangent if held is None else held.value


@contextmanager
def _noting(owner: Tracking) -> Iterator[None]:
    """Let the tangents be those of a level; inside `grad`, of the `dual_level`."""
    token = level.set(level.get() if owner.tangents is None else owner.tangents)
    try:
        yield
    finally:
        level.reset(token)


class _UnderTransforms:
    """A dual tensor that a function makes inside a transform (autograd/forward_ad.py).

    The tangent belongs to the tensor that is tracked at the innermost level; under vmap to the batch, and not to each
    example.
    """

    def make_dual(self, tensor: Tensor, tangent: Tensor) -> Tensor:
        owner, rest = self._innermost()
        pair = alive(tensor), alive(tangent)
        if isinstance(owner, Tracking):
            with _noting(owner):
                return forward_ad.dual_of(*(self._tracked(one, owner) for one in pair))
        assert isinstance(owner, Batch)
        if all(wrapping_by(owner, one) is None for one in pair):
            return rest.call(forward_ad.make_dual, *pair)  # type: ignore[no-any-return]
        return batched(rest.call(_duals, owner, *pair), 0, owner)

    def unpack_dual(self, tensor: Tensor) -> forward_ad.UnpackedDualTensor:
        owner, rest = self._innermost()
        tensor = alive(tensor)
        if isinstance(owner, Tracking):
            with _noting(owner):
                return forward_ad.taken_apart(tensor)
        assert isinstance(owner, Batch)
        found = wrapping_by(owner, tensor)
        if found is None:
            return rest.call(forward_ad.unpack_dual, tensor)  # type: ignore[no-any-return]
        bdim = found.bdim
        assert bdim is not None
        pair = rest.call(forward_ad.unpack_dual, found.value)
        return forward_ad.UnpackedDualTensor(*(None if one is None else batched(one, bdim, owner) for one in pair))  # type: ignore[arg-type]

    @staticmethod
    def _tracked(tensor: Tensor, owner: Tracking) -> Tensor:
        return tensor if wrapping_by(owner, tensor) is not None else tracked(tensor, owner)

    @staticmethod
    def _innermost() -> tuple[Interpreter, Rest]:
        """The transform that runs innermost, and what is below it."""
        frames = stack.get()
        return frames[-1].interpreter, Rest(frames[:-1])


def _duals(owner: Batch, tensor: Tensor, tangent: Tensor) -> Tensor:
    """The dual of two batches; a tensor that all examples share is repeated, as a tangent has the tensor's strides."""
    value, is_batched = owner.in_front(tensor)
    return forward_ad.make_dual(value if is_batched else owner.expanded(tensor).clone(), owner.expanded(tangent))


forward_ad.set_under_transforms(_UnderTransforms())
