"""Which error codes has CUDA, and what do they say?

Mirrors: cudaError_t and cudaGetErrorString of the CUDA runtime, c10/cuda/CUDAException.cpp
    (c10_cuda_check_implementation)
Differs: only codes that one of the two drivers can give; the details follow CUDA's words.
"""

from __future__ import annotations

from enum import IntEnum

from glasstorch.core.errors import AcceleratorError


class Code(IntEnum):
    """CUDA's numbers."""

    INVALID_VALUE = 1
    MEMORY_ALLOCATION = 2
    INVALID_CONFIGURATION = 9
    INSUFFICIENT_DRIVER = 35
    INVALID_DEVICE_FUNCTION = 98
    NO_DEVICE = 100
    INVALID_DEVICE = 101
    INVALID_RESOURCE_HANDLE = 400
    SYMBOL_NOT_FOUND = 500
    NOT_READY = 600
    ILLEGAL_ADDRESS = 700
    LAUNCH_OUT_OF_RESOURCES = 701
    LAUNCH_TIMEOUT = 702
    ASSERT = 710
    MISALIGNED_ADDRESS = 716
    LAUNCH_FAILURE = 719
    UNKNOWN = 999


# Number, name in cudaError_t, what cudaGetErrorString says.
TEXTS: dict[int, tuple[str, str]] = {
    1: ("cudaErrorInvalidValue", "invalid argument"),
    2: ("cudaErrorMemoryAllocation", "out of memory"),
    9: ("cudaErrorInvalidConfiguration", "invalid configuration argument"),
    35: ("cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"),
    98: ("cudaErrorInvalidDeviceFunction", "invalid device function"),
    100: ("cudaErrorNoDevice", "no CUDA-capable device is detected"),
    101: ("cudaErrorInvalidDevice", "invalid device ordinal"),
    400: ("cudaErrorInvalidResourceHandle", "invalid resource handle"),
    500: ("cudaErrorSymbolNotFound", "named symbol not found"),
    600: ("cudaErrorNotReady", "device not ready"),
    700: ("cudaErrorIllegalAddress", "an illegal memory access was encountered"),
    701: ("cudaErrorLaunchOutOfResources", "too many resources requested for launch"),
    702: ("cudaErrorLaunchTimeout", "the launch timed out and was terminated"),
    710: ("cudaErrorAssert", "device-side assert triggered"),
    716: ("cudaErrorMisalignedAddress", "misaligned address"),
    719: ("cudaErrorLaunchFailure", "unspecified launch failure"),
    999: ("cudaErrorUnknown", "unknown error"),
}


def cuda_error(code: int, details: str = "") -> AcceleratorError:
    """The error of a code: torch's first line, CUDA's name and number, then the details (several lines, or none).

    >>> cuda_error(400, "event 7 is not there")
    AcceleratorError('CUDA error: invalid resource handle (cudaErrorInvalidResourceHandle, 400)\\nevent 7 is not there')
    """
    name, text = TEXTS.get(code, ("cudaErrorUnknown", "unknown error"))
    message = f"CUDA error: {text} ({name}, {code})"
    return AcceleratorError(f"{message}\n{details}" if details else message, code, name)
