"""What does a program find at torch.onnx?

Mirrors: torch/onnx/__init__.py
Differs: it can be imported, and asked whether an export is going on; `export` is refused.
"""

from __future__ import annotations

from typing import Any, NoReturn

from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = ["OnnxExporterError", "export", "is_in_onnx_export"]


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
