"""Makes tensors of both arguments, computes in float32 where they are of half precision, and chooses twice."""

import glasstorch as torch
from glasstorch import Tensor


def xlogy(self: Tensor | float, other: Tensor | float) -> Tensor:
    """`self * log(other)`, with 0 where `self` is 0 and NaN where `other` is."""
    gives = torch.result_type(self, other)
    if not gives.is_floating_point:
        gives = torch.get_default_dtype()
    x, y = wide(as_tensor(self, other)), wide(as_tensor(other, self))
    found = torch.where(x == 0, 0, x * y.log())
    return torch.where(y.isnan(), torch.nan, found).to(gives)


def as_tensor(value: Tensor | float, beside: Tensor | float) -> Tensor:
    """A tensor itself; a number as a tensor that does not change the dtype of a result with the other argument."""
    if isinstance(value, Tensor):
        return value
    assert isinstance(beside, Tensor)
    dtype = beside.dtype if beside.dtype.is_floating_point else torch.get_default_dtype()
    return beside.new_full((), value, dtype=dtype)


def wide(tensor: Tensor) -> Tensor:
    """A tensor of half precision as float32; any other itself."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor
