"""What can be configured in the libraries that CUDA kernels call, and in attention?

Mirrors: torch/backends/cuda/__init__.py
Differs: what has an effect is the choice of the matrix multiplication library (see devices/blas.py), and which ways of
    computing attention are allowed; as in PyTorch, the latter hold for the CPU too. The switches of `matmul` are kept
    (backends/_switches.py), and products are computed in the dtype of their tensors whatever they say.
"""

from __future__ import annotations

import warnings as _warnings
from contextlib import AbstractContextManager as _AbstractContextManager

from glasstorch.backends import _switches
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.devices.blas import preferred_blas_library as preferred_blas_library
from glasstorch.nn.attention import SDPBackend as _SDPBackend
from glasstorch.nn.attention import sdpa_kernel as _sdpa_kernel
from glasstorch.operators.composite.attention.choice import ALLOWED as _ALLOWED
from glasstorch.operators.composite.attention.choice import Settings as _Settings

__all__ = [
    "allow_fp16_bf16_reduction_math_sdp",
    "cudnn_sdp_enabled",
    "enable_cudnn_sdp",
    "enable_flash_sdp",
    "enable_math_sdp",
    "enable_mem_efficient_sdp",
    "flash_sdp_enabled",
    "fp16_bf16_reduction_math_sdp_allowed",
    "is_built",
    "is_flash_attention_available",
    "math_sdp_enabled",
    "matmul",
    "mem_efficient_sdp_enabled",
    "preferred_blas_library",
    "sdp_kernel",
]


class cuBLASModule:
    """The switches of products of matrices."""

    allow_tf32 = _switches.AllowTF32("set_allow_tf32_cublas", "matmul", off="ieee")
    allow_fp16_reduced_precision_reduction = _switches.Reduction("allow_fp16_reduced_precision_reduction")
    allow_bf16_reduced_precision_reduction = _switches.Reduction("allow_bf16_reduced_precision_reduction")
    allow_fp16_accumulation = _switches.Switch(False, "set_allow_fp16_accumulation_cublas")
    fp32_precision = _switches.Precision("cuda", "matmul")

    def __setattr__(self, name: str, value: object) -> None:
        if name not in vars(cuBLASModule):
            raise AttributeError(f"Unknown attribute {name}")
        super().__setattr__(name, value)


matmul = cuBLASModule()


def is_built() -> bool:
    """Whether the library can use CUDA: yes, where there is a GPU, or a simulated one has been asked for."""
    return True


def flash_sdp_enabled() -> bool:
    """Whether attention may be computed over blocks of keys."""
    return _ALLOWED["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Allow or forbid attention over blocks of keys."""
    _ALLOWED["flash"] = enabled


def mem_efficient_sdp_enabled() -> bool:
    """Whether CUDA's memory-efficient attention is allowed; it is never taken."""
    return _ALLOWED["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Allow or forbid CUDA's memory-efficient attention."""
    _ALLOWED["mem_efficient"] = enabled


def math_sdp_enabled() -> bool:
    """Whether attention may be composed of products and a softmax."""
    return _ALLOWED["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Allow or forbid attention composed of products and a softmax."""
    _ALLOWED["math"] = enabled


def cudnn_sdp_enabled() -> bool:
    """Whether cuDNN's attention is allowed; it is never taken."""
    return _ALLOWED["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Allow or forbid cuDNN's attention."""
    _ALLOWED["cudnn"] = enabled


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Let composed attention of half precision round its sums to half precision, or forbid it."""
    _Settings.half_sums = enabled


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """Whether composed attention of half precision may round its sums to half precision."""
    return _Settings.half_sums


def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> _AbstractContextManager[dict[str, object]]:
    """Deprecated: `torch.nn.attention.sdpa_kernel`, which takes a list of what is allowed inside the block."""
    _warnings.warn(
        "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager will be removed. Please "
        "see `torch.nn.attention.sdpa_kernel()` for the new context manager, with updated signature.",
        FutureWarning,
        stacklevel=2,
    )
    chosen = {
        _SDPBackend.FLASH_ATTENTION: enable_flash,
        _SDPBackend.EFFICIENT_ATTENTION: enable_mem_efficient,
        _SDPBackend.MATH: enable_math,
        _SDPBackend.CUDNN_ATTENTION: enable_cudnn,
    }
    return _sdpa_kernel([backend for backend, enabled in chosen.items() if enabled])


def is_flash_attention_available() -> bool:
    """Whether there is a flash kernel for CUDA: no."""
    return False


__getattr__ = _refuse_unknown_names(__name__)
