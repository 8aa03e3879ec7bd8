"""How is an argument cast, and a weight only once?

Mirrors: aten/src/ATen/autocast_mode.cpp (cached_cast), autocast_mode.h (is_eligible, prioritize)
Differs: a weight has a cast for each dtype. PyTorch keeps one, whatever its dtype, so that an inner autocast block of
    another dtype is given a weight that the operator refuses.

# Note [Casts that are kept]
A model uses a weight many times in a forward pass, and its float32 value does not change meanwhile. So the cast of a
float32 leaf that requires grad is kept until the outermost autocast block ends. It is made with gradients recorded,
even inside no_grad: a later use outside that block needs them. Nothing is kept in inference mode, whose tensors no
later use could differentiate. Casts are shared by all threads, as in PyTorch.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.amp.settings import keeps_casts
from glasstorch.autograd.modes import grad_mode
from glasstorch.core.dtype import dtype, float32, float64
from glasstorch.core.errors import DtypeError
from glasstorch.core.inference import is_inference_mode_enabled
from glasstorch.operators.direct import on_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

to_copy = on_tensor("_to_copy")

# (id of a weight, dtype) -> the weight, if it still lives, and its cast; see Note [Casts that are kept]
_kept: dict[tuple[int, dtype], tuple[weakref.ref[Tensor], Tensor]] = {}


def is_eligible(argument: Any, backend: int) -> bool:
    """Whether autocast may cast a tensor: it is of floating point, not float64, and has this backend's bit."""
    given = argument.dtype
    return bool(given.is_floating_point and given is not float64 and argument.key_set & backend)


def cast(argument: Any, to: dtype, lower: dtype, backend: int) -> Any:  # hot path: benchmarks/amp.py
    """A tensor, cast if it is eligible; `lower` is the dtype for which casts are kept."""
    given = argument.dtype
    if given is to or not is_eligible(argument, backend):
        return argument
    if given is float32 and to is lower and argument._autograd_meta is not None and _may_be_kept(argument):
        key = id(argument), to
        kept = _kept.get(key)
        if kept is not None and kept[0]() is argument:
            return kept[1]
        token = grad_mode.set(True)
        try:
            made = to_copy(argument, to, None, None, None, False, None)
        finally:
            grad_mode.reset(token)
        _kept[key] = weakref.ref(argument), made
        return made
    return to_copy(argument, to, None, None, None, False, None)


def cast_list(several: Sequence[Any], to: dtype, lower: dtype, backend: int) -> list[Any]:
    """The tensors of a list, each cast if it is eligible; one may be None."""
    return [one if one is None else cast(one, to, lower, backend) for one in several]


def _may_be_kept(argument: Any) -> bool:
    """See Note [Casts that are kept]."""
    return bool(
        argument.requires_grad
        and argument.is_leaf
        and not argument._is_view()
        and keeps_casts.get()
        and not is_inference_mode_enabled()
    )


def clear_autocast_cache() -> None:
    """Forget the casts of weights, in all threads."""
    _kept.clear()


def widest(arguments: Sequence[Any], lower: dtype, backend: int) -> dtype:
    """The dtype of an operator with several arguments: float32 if one of the eligible tensors has it, else `lower`."""
    found = lower
    for argument in arguments:
        if isinstance(argument, list | tuple):
            if widest(argument, lower, backend) is float32:
                found = float32
        elif argument is not None and is_eligible(argument, backend):
            if argument.dtype is float32:
                found = float32
            elif argument.dtype is not lower and found is not float32:
                raise DtypeError(
                    f"Unexpected floating ScalarType in at::autocast::prioritize: a tensor of {argument.dtype} where "
                    f"autocast casts to {lower}; expected {lower} or torch.float32"
                )
    return found
