"""Do errors say what CUDA says?"""

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from glasstorch.core.errors import AcceleratorError
from glasstorch.devices.codes import TEXTS, Code, cuda_error


@pytest.fixture
def runtime_library(require: Callable[[str], ModuleType]) -> ctypes.CDLL:
    """NVIDIA's runtime library, which knows the words without a card."""
    package = require("nvidia")
    found = [path for folder in package.__path__ for path in Path(folder).rglob("libcudart.so.13")]
    if not found:
        pytest.skip("libcudart is not installed")
    library = ctypes.CDLL(str(found[0]))
    library.cudaGetErrorName.restype = library.cudaGetErrorString.restype = ctypes.c_char_p
    return library


def test_names_and_texts_are_those_of_the_cuda_runtime(runtime_library: ctypes.CDLL) -> None:
    for code, (name, text) in TEXTS.items():
        assert runtime_library.cudaGetErrorName(code).decode() == name
        assert runtime_library.cudaGetErrorString(code).decode() == text


def test_every_code_that_is_raised_has_a_text() -> None:
    assert set(Code) <= set(TEXTS)


def test_an_error_has_the_code_its_name_and_the_details() -> None:
    error = cuda_error(Code.ILLEGAL_ADDRESS, "scale.cu:4: write")
    assert str(error) == (
        "CUDA error: an illegal memory access was encountered (cudaErrorIllegalAddress, 700)\nscale.cu:4: write"
    )
    assert (error.code, error.code_name) == (700, "cudaErrorIllegalAddress")
    assert isinstance(error, RuntimeError)


def test_a_code_that_is_not_known_is_still_shown() -> None:
    assert str(cuda_error(12345)) == "CUDA error: unrecognized error code (cudaErrorUnknown, 12345)"


def test_an_error_survives_pickling() -> None:
    again = pickle.loads(pickle.dumps(cuda_error(Code.MISALIGNED_ADDRESS, "here")))
    assert isinstance(again, AcceleratorError)
    assert (again.code, again.code_name, str(again).splitlines()[1]) == (716, "cudaErrorMisalignedAddress", "here")
