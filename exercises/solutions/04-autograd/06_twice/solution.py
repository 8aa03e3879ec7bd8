"""The first Jacobian is symmetric, so its product is the operator itself; the second product has three terms."""

import glasstorch as torch


def of_grad_output(grad: torch.Tensor, output: torch.Tensor, dim: int) -> torch.Tensor:
    """The gradient of g, from the gradient of what the operator returned."""
    return output * (grad - (output * grad).sum(dim, keepdim=True))


def of_output(grad: torch.Tensor, grad_output: torch.Tensor, output: torch.Tensor, dim: int) -> torch.Tensor:
    """The gradient of s, from the gradient of what the operator returned."""
    along = (output * grad_output).sum(dim, keepdim=True)
    across = (output * grad).sum(dim, keepdim=True)
    return grad * (grad_output - along) - grad_output * across
