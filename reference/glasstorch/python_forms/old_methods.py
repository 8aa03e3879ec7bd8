"""Which methods of older PyTorch does a tensor still have?

Mirrors: torch/_tensor.py (resize, resize_as, reinforce, storage_type), torch/autograd/_functions/tensor.py (Resize),
    torch/csrc/autograd/python_variable.cpp (volatile), tools/autograd/templates/python_variable_methods.cpp (__div__,
    __idiv__, __long__, __nonzero__)
Differs: the shape that `resize` gives is a `view`, and recorded as one.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

from glasstorch.core.typed_storage import LEGACY_CLASSES, warn_of_removal

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def resize(self: Tensor, *sizes: Any) -> Tensor:
    """The elements in another shape of as many; deprecated, since `reshape` is what to call."""
    warnings.warn("non-inplace resize is deprecated", stacklevel=2)
    return _resized(self, sizes)


def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """The elements in the shape of another tensor of as many; deprecated, since `reshape` is what to call."""
    warnings.warn("non-inplace resize_as is deprecated", stacklevel=2)
    return _resized(self, tensor.shape)


def _resized(self: Tensor, sizes: Any) -> Tensor:
    if math.prod(sizes) != self.numel():
        raise RuntimeError(
            f"requested resize to {'x'.join(map(str, sizes))} ({math.prod(sizes)} elements in total), but the given "
            f"tensor has a size of {'x'.join(map(str, self.shape))} ({self.numel()} elements). autograd's resize can "
            f"only change the shape of a given tensor, while preserving the number of elements. "
        )
    return self.contiguous().view(*sizes)


def reinforce(self: Tensor, reward: Any) -> NoReturn:
    """Removed from PyTorch; a distribution's `log_prob` is what to call."""
    raise RuntimeError(
        "reinforce() was removed.\nUse torch.distributions instead: draw the action with m = Categorical(probs); "
        "action = m.sample(), and call (-m.log_prob(action) * reward).sum().backward()."
    )


def storage_type(self: Tensor) -> Any:
    """The class of the storage: `torch.FloatStorage` for float32. Newer dtypes, and tensors without data, have none."""
    warn_of_removal()
    if self.is_cuda:
        raise NotImplementedError("storage_type: there are no classes for storages on a CUDA device in glasstorch")
    return next((kind for kind in LEGACY_CLASSES.values() if kind.dtype is self.dtype and not self.is_meta), None)


def _volatile(self: Tensor) -> bool:
    """False: `no_grad` is what took the place of this attribute, which can be set and says nothing."""
    warnings.warn("volatile was removed (Variable.volatile is always False)", stacklevel=2)
    return False


def _set_volatile(self: Tensor, value: Any) -> None:
    message = "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."
    warnings.warn(message, stacklevel=2)


volatile = property(_volatile, _set_volatile)


# What Python 2 called for `/`, `/=`, `long()` and `bool()`.


def __div__(self: Tensor, other: Any) -> Tensor:
    """The quotient."""
    return self.div(other)


def __idiv__(self: Tensor, other: Any) -> Tensor:
    """The quotient, in place."""
    return self.div_(other)


def __long__(self: Tensor) -> Any:
    """The one element as an int; a fraction is cut off."""
    return self.__int__()


def __nonzero__(self: Tensor) -> bool:
    """Whether the one element is not 0."""
    return self.__bool__()
