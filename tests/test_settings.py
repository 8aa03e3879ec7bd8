"""Are the settings of a whole process kept and checked as PyTorch's are?"""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import glasstorch


@pytest.fixture
def settings(torch: Any) -> Iterator[Any]:
    """The library under test; what is set here is put back."""
    yield torch
    torch.use_deterministic_algorithms(False)
    torch.set_float32_matmul_precision("highest")
    torch.backends.cuda.matmul.fp32_precision = torch.backends.mkldnn.matmul.fp32_precision = "none"
    torch.set_warn_always(False)
    torch.set_default_dtype(torch.float32)


def test_deterministic_algorithms_are_kept(settings: Any) -> None:
    state = lambda: (  # noqa: E731
        settings.are_deterministic_algorithms_enabled(),
        settings.is_deterministic_algorithms_warn_only_enabled(),
        settings.get_deterministic_debug_mode(),
    )
    assert state() == (False, False, 0)
    settings.use_deterministic_algorithms(True)
    assert state() == (True, False, 2)
    settings.use_deterministic_algorithms(True, warn_only=True)
    assert state() == (True, True, 1)
    for given, expected in (("error", 2), (0, 0), ("warn", 1), (2, 2), ("default", 0), (1, 1)):
        settings.set_deterministic_debug_mode(given)
        assert settings.get_deterministic_debug_mode() == expected
    for wrong, error in (("x", RuntimeError), (3, RuntimeError), (1.0, TypeError)):
        with pytest.raises(error, match="debug_mode"):
            settings.set_deterministic_debug_mode(wrong)
    with pytest.raises(TypeError, match="must be bool, not int"):
        settings.use_deterministic_algorithms(1)
    assert settings.get_deterministic_debug_mode() == 1


def test_the_precision_of_products_is_kept_and_a_wrong_one_warned_of(settings: Any) -> None:
    for precision in ("high", "medium", "highest"):
        settings.set_float32_matmul_precision(precision)
        assert settings.get_float32_matmul_precision() == precision
        assert settings.backends.cuda.matmul.allow_tf32 is (precision != "highest")
    with pytest.warns(UserWarning, match="exact is not one of 'highest', 'high', or 'medium'"):
        settings.set_float32_matmul_precision("exact")
    assert settings.get_float32_matmul_precision() == "highest"


def test_products_are_exact_whatever_is_set() -> None:
    x = glasstorch.full((64, 64), 1 + 2**-20)
    expected = (x @ x).tolist()
    glasstorch.set_float32_matmul_precision("medium")
    try:
        assert (x @ x).tolist() == expected
    finally:
        glasstorch.set_float32_matmul_precision("highest")


def test_threads_between_operators_can_be_set_once(torch: Any) -> None:
    assert torch.get_num_interop_threads() >= 1
    with pytest.raises(RuntimeError, match="set_num_interop_threads expects a positive integer"):
        torch.set_num_interop_threads(0)
    code = (
        "import sys\n"
        f"torch = __import__({torch.__name__!r})\n"
        "torch.set_num_interop_threads(3)\nassert torch.get_num_interop_threads() == 3\n"
        "try:\n    torch.set_num_interop_threads(2)\nexcept RuntimeError as error:\n    print(str(error)[:44])\n"
    )
    folder = Path(glasstorch.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        cwd=folder if torch is glasstorch else folder.parent,
    )  # fmt: skip
    assert done.stdout == "Error: cannot set number of interop threads \n"


def test_warnings_are_given_once_or_always(settings: Any) -> None:
    assert settings.is_warn_always_enabled() is False
    settings.set_warn_always(True)
    assert settings.is_warn_always_enabled() is True
    with pytest.raises(RuntimeError, match="expects a bool, but got int"):
        settings.set_warn_always(1)


def test_always_reaches_the_warnings() -> None:
    from glasstorch.core.warn_once import warn_once

    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        for always in (False, True):
            glasstorch.set_warn_always(always)
            for _ in range(3):
                warn_once("test_settings: only once, or always")
        glasstorch.set_warn_always(False)
    assert len(given) == 1 + 3


@pytest.mark.parametrize(("given", "expected"), [("torch.DoubleTensor", "float64"), ("HalfTensor", "float16")])
def test_a_default_type_sets_the_default_dtype(given: str, expected: str, settings: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that it is deprecated, once a process
        settings.set_default_tensor_type(given if "." in given else getattr(settings, given))
    assert settings.get_default_dtype() is getattr(settings, expected)
    assert settings.tensor(1.0).dtype is getattr(settings, expected)
    with pytest.raises(TypeError, match=r"type torch\.cuda\.FloatTensor not available"):
        settings.set_default_tensor_type("torch.cuda.FloatTensor")
    for wrong in (settings.float32, 3):
        with pytest.raises(TypeError, match="invalid type object"):
            settings.set_default_tensor_type(wrong)
    assert settings.get_default_dtype() is getattr(settings, expected)


def test_subnormal_numbers_are_kept() -> None:
    assert glasstorch.set_flush_denormal(True) is False
    assert float(glasstorch.tensor(1e-40) * 1) > 0


def test_the_module_of_a_device(torch: Any) -> None:
    assert torch.get_device_module("cpu") is torch.cpu
    assert torch.get_device_module() is torch.cpu
    assert torch.get_device_module(torch.device("cuda", 1)) is torch.cuda
    with pytest.raises(RuntimeError, match="Invalid value of device"):
        torch.get_device_module(3)
    with pytest.raises(RuntimeError, match="Device 'meta' does not have a corresponding module"):
        torch.get_device_module("meta")
