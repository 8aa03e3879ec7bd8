"""How does a function of NumPy take tensors?

Mirrors: torch/compiler/__init__.py (wrap_numpy)
Differs: a call of it ends a graph; PyTorch captures many functions of NumPy as operators.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.compiler.marks import disable
from glasstorch.core.pytree import tree_map
from glasstorch.fx._names import at


def wrap_numpy(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors that calls one of arrays. Arrays of the result share their memory with its tensors."""

    @wraps(fn)
    def of_tensors(*args: Any, **kwargs: Any) -> Any:
        given, named = tree_map(lambda x: x.numpy() if isinstance(x, Tensor) else x, (args, kwargs))
        return tree_map(lambda x: at("as_tensor")(x) if isinstance(x, np.ndarray) else x, fn(*given, **named))

    return disable(of_tensors, reason="it computes with arrays of NumPy")  # type: ignore[no-any-return]
