"""Which properties does a tensor have besides its sizes, strides and elements?

Mirrors: torch/csrc/autograd/python_variable.cpp (THPVariable_is_cpu ... THPVariable_is_quantized),
    tools/autograd/templates/python_variable_methods.cpp, aten/src/ATen/native/TensorProperties.cpp
Differs: properties that no tensor has here, such as sparse or quantized, are constants.
"""

from __future__ import annotations

from typing import Any, Final

from glasstorch.core.errors import ArgumentTypeError
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.python_forms.conversion_methods import ConversionMethods
from glasstorch.python_forms.tensor_types import type_

TYPE = type  # inside the class it is a method


class FactMethods(ConversionMethods):
    """The properties of Tensor that say what kind of tensor it is."""

    is_ipu: Final = False
    is_maia: Final = False
    is_mkldnn: Final = False
    is_mps: Final = False
    is_mtia: Final = False
    is_nested: Final = False
    is_quantized: Final = False
    is_sparse: Final = False
    is_sparse_csr: Final = False
    is_vulkan: Final = False
    is_xla: Final = False
    is_xpu: Final = False
    name: Final = None  # a name that only C++ code can set

    @property
    def is_cpu(self) -> Any:
        """Whether the storage is in main memory."""
        return self.device.type == "cpu"

    def is_signed(self) -> Any:
        """Whether the dtype is signed."""
        return self.dtype.is_signed

    def is_nonzero(self) -> Any:
        """Whether the one element is not 0; a tensor of more elements, or none, is refused."""
        return bool(self)

    def is_same_size(self, other: TensorImpl) -> Any:
        """Whether another tensor has these sizes."""
        if not isinstance(other, TensorImpl):
            raise ArgumentTypeError(f"is_same_size(): argument 'other' must be Tensor, not {TYPE(other).__name__}")
        return self._shape == other._shape

    type = type_
