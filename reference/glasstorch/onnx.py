"""What does a program find at torch.onnx?

Mirrors: torch/onnx/__init__.py
Differs: it can be imported, asked whether an export is going on, and its settings can be named; `export` is refused.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Any, NoReturn

from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = [
    "OnnxExporterError",
    "OperatorExportTypes",
    "TensorProtoDataType",
    "TrainingMode",
    "export",
    "is_in_onnx_export",
]


class _Setting(Enum):
    """One of several choices that have numbers and do not equal them."""

    def __int__(self) -> int:
        return self.value  # type: ignore[no-any-return]

    __index__ = __int__


class TrainingMode(_Setting):
    """Whether a model is exported as for inference, as it is, or as for training."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(_Setting):
    """What an exporter writes for an operator that ONNX does not have."""

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


class TensorProtoDataType(IntEnum):
    """ONNX's numbers for the dtypes; these equal their numbers."""

    __str__ = Enum.__str__

    UNDEFINED = 0
    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    UINT16 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    STRING = 8
    BOOL = 9
    FLOAT16 = 10
    DOUBLE = 11
    UINT32 = 12
    UINT64 = 13
    COMPLEX64 = 14
    COMPLEX128 = 15
    BFLOAT16 = 16
    FLOAT8E4M3FN = 17
    FLOAT8E4M3FNUZ = 18
    FLOAT8E5M2 = 19
    FLOAT8E5M2FNUZ = 20


class OnnxExporterError(RuntimeError):
    """A model cannot be exported."""


def is_in_onnx_export() -> bool:
    """Whether a model is being exported: no."""
    return False


def export(model: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Refused: there is no exporter."""
    raise OnnxExporterError(
        f"torch.onnx.export: glasstorch cannot export {type(model).__name__} to ONNX; save its state_dict, load it "
        "with PyTorch, and export it there"
    )


__getattr__ = refuse_unknown_names(__name__)
