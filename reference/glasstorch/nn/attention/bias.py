"""Which masks of attention are known by their form, and need no elements?

Mirrors: torch/nn/attention/bias.py
Differs: `functional.scaled_dot_product_attention` looks for a CausalBias itself. A
    bias that is aligned to the lower right is made when it is used, as no kernel of the CPU knows it.
"""

from __future__ import annotations

import warnings
from enum import IntEnum, auto
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.calls.overloaded import DisableTorchFunctionSubclass
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import bool_
from glasstorch.operators.generated import functions as operators

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """To which corner of the mask its diagonal is aligned, where there are more keys than queries, or fewer."""

    UPPER_LEFT = auto()
    LOWER_RIGHT = auto()


class CausalBias(Tensor):
    """A mask that hides later keys from each query; `variant` says to which corner its diagonal is aligned."""

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> Any:
        return super().__new__(cls, int(variant), seq_len_q, seq_len_kv)

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        super().__init__()
        self.variant = variant
        self.seq_len_q = seq_len_q
        self.seq_len_kv = seq_len_kv
        if seq_len_q > seq_len_kv and variant == CausalVariant.LOWER_RIGHT:
            warnings.warn(
                "Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv!", stacklevel=2
            )

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Attention takes it as its mask; other functions take it for a tensor, and return instances of this class."""
        if func.__name__ == "scaled_dot_product_attention":
            with DisableTorchFunctionSubclass():
                return func(*args, **(kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs)

    def is_upper_left(self) -> bool:
        """Whether the mask is the one that `is_causal` stands for."""
        return self.seq_len_q == self.seq_len_kv or self.variant == CausalVariant.UPPER_LEFT

    def _materialize(self, device: Device | None = None) -> Tensor:
        """The mask as a bool tensor (queries, keys): true where a query sees a key."""
        ahead = self.seq_len_kv - self.seq_len_q if self.variant == CausalVariant.LOWER_RIGHT else 0
        return operators.ones((self.seq_len_q, self.seq_len_kv), dtype=bool_, device=device).tril(ahead)

    def __repr__(self) -> str:  # type: ignore[override]
        return repr(self._materialize())


def causal_upper_left(*size: int) -> CausalBias:
    """The mask of `is_causal`: query i sees keys up to i."""
    return _causal("causal_upper_left", CausalVariant.UPPER_LEFT, size)


def causal_lower_right(*size: int) -> CausalBias:
    """The mask in which the last query sees all keys, the one before it all but one, and so on."""
    return _causal("causal_lower_right", CausalVariant.LOWER_RIGHT, size)


def _causal(name: str, variant: CausalVariant, size: tuple[int, ...]) -> CausalBias:
    if len(size) != 2:
        raise AssertionError(f"{name} only supports 2D tensors")
    return CausalBias(variant, *size)
