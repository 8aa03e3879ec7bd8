"""Both arguments are saved; the slope log(y) is masked where the value is 0 by definition."""

from typing import Any

import glasstorch as torch


class Xlogy(torch.autograd.Function):
    """`x * log(y)`, 0 where `x` is 0."""

    @staticmethod
    def forward(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """The value."""
        with torch._C._AutoDispatchBelowAutograd():
            return torch.xlogy(x, y)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what backward needs. `inputs` are the arguments of forward."""
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
        """The gradients of both arguments, None where none is wanted."""
        x, y = ctx.saved_tensors
        to_x = to_y = None
        if ctx.needs_input_grad[0]:
            never = (x == 0) & (y <= 0)
            to_x = torch.xlogy(grad, y).masked_fill(never, 0)
        if ctx.needs_input_grad[1]:
            to_y = grad * (x / y)
        return to_x, to_y


def xlogy(keys: int, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The autograd kernel, which is complete."""
    return Xlogy.apply(x, y)
