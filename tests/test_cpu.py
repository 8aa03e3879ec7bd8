"""Do the modules of devices answer what programs ask of them, and refuse what needs a device?"""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import glasstorch


def test_the_cpu_answers_as_an_accelerator_would(torch: Any) -> None:
    cpu = torch.cpu
    assert (cpu.is_available(), cpu.is_initialized(), cpu.device_count(), cpu.current_device()) == (
        True,
        True,
        1,
        "cpu",
    )
    assert cpu.synchronize() is None
    assert cpu.set_device("cpu") is None
    assert cpu.Event().query() is True
    first, other = cpu.current_stream(), cpu.Stream()
    with cpu.stream(other):
        assert cpu.current_stream() is other
        with cpu.stream(None):
            assert cpu.current_stream() is other
    assert cpu.current_stream() is first
    other.wait_stream(first)
    assert "avx2" in cpu.get_capabilities() or "neon" in cpu.get_capabilities()


def test_there_is_no_gpu_of_another_kind(torch: Any) -> None:
    for module in (torch.mps, torch.xpu):
        assert (module.is_available(), module.device_count()) == (False, 0)
        assert module.manual_seed(3) is None
    assert torch.xpu.is_initialized() is False
    assert torch.xpu.empty_cache() is None
    assert torch.xpu.max_memory_allocated() == 0


@pytest.mark.parametrize("name", ["synchronize", "empty_cache", "current_allocated_memory", "get_rng_state", "seed"])
def test_mps_refuses_what_needs_a_device(name: str, torch: Any) -> None:
    with pytest.raises(RuntimeError, match="MPS"):
        getattr(torch.mps, name)()


@pytest.mark.parametrize("name", ["current_device", "get_device_name", "get_device_properties", "synchronize"])
def test_xpu_refuses_what_needs_a_device(name: str, torch: Any) -> None:
    with pytest.raises((RuntimeError, AssertionError), match="XPU"):
        getattr(torch.xpu, name)()


def test_cuda_is_asked_in_vain(torch: Any) -> None:
    cuda = torch.cuda
    assert (cuda.is_available(), cuda.device_count(), cuda.is_initialized()) == (False, 0, False)
    assert (cuda.get_arch_list(), cuda.get_gencode_flags()) == ([], "")
    assert (cuda.max_memory_allocated(), cuda.memory_allocated(), cuda.memory_reserved()) == (0, 0, 0)
    assert (cuda.is_bf16_supported(), cuda.is_tf32_supported()) == (False, False)
    assert cuda.empty_cache() is None
    assert cuda.manual_seed_all(3) is None
    with pytest.raises((RuntimeError, AssertionError), match="CUDA"):
        cuda.get_device_name()
    with pytest.raises((RuntimeError, AssertionError), match="CUDA"):
        cuda.synchronize()
    with pytest.raises((RuntimeError, AssertionError), match="CUDA"):
        cuda.get_sync_debug_mode()


def test_older_names_of_cuda_warn(torch: Any) -> None:
    for name in ("memory_cached", "max_memory_cached"):
        with pytest.warns(FutureWarning):
            assert getattr(torch.cuda, name)() == 0


def test_what_glasstorch_knows_of_cuda_without_a_device() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert glasstorch.cuda.get_allocator_backend() == "native"
        assert glasstorch.cuda.is_current_stream_capturing() is False
        assert glasstorch.cuda.host_memory_stats() == {}
    assert glasstorch.version.cuda is None
