"""How do all parameters become one vector, and back?

Mirrors: torch/nn/utils/convert_parameters.py
"""

from __future__ import annotations

from collections.abc import Iterable

from glasstorch._tensor import Tensor
from glasstorch.operators.generated import functions as operators
from glasstorch.python_forms.tensor_types import typename

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters one after another, a copy; parameters on several devices are refused."""
    found = list(parameters)
    _check_devices(found)
    return operators.cat([parameter.view(-1) for parameter in found])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Make each parameter a view of its part of the vector."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    found = list(parameters)
    _check_devices(found)
    begin = 0
    for parameter in found:
        end = begin + parameter.numel()
        parameter.data = vec[begin:end].view_as(parameter).data
        begin = end


def _check_devices(parameters: list[Tensor]) -> None:
    if len({parameter.device for parameter in parameters}) > 1:
        raise TypeError("Found two parameters on different devices, this is currently not supported.")
