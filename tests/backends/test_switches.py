"""Are the switches of libraries that are not here accepted, checked and read back as PyTorch's are?

A test that sets one puts it back, in both libraries.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

import pytest

import glasstorch

SWITCHES = [
    "backends.cudnn.enabled",
    "backends.cudnn.deterministic",
    "backends.cudnn.benchmark",
    "backends.cudnn.allow_tf32",
    "backends.cuda.matmul.allow_tf32",
    "backends.cuda.matmul.allow_fp16_reduced_precision_reduction",
    "backends.cuda.matmul.allow_bf16_reduced_precision_reduction",
    "backends.cuda.matmul.allow_fp16_accumulation",
    "backends.mkldnn.enabled",
    "backends.mkldnn.deterministic",
    "backends.miopen.immediate",
]
PRECISIONS = [
    "backends.fp32_precision",
    "backends.cudnn.fp32_precision",
    "backends.cudnn.conv.fp32_precision",
    "backends.cudnn.rnn.fp32_precision",
    "backends.cuda.matmul.fp32_precision",
    "backends.mkldnn.fp32_precision",
    "backends.mkldnn.matmul.fp32_precision",
    "backends.mkldnn.conv.fp32_precision",
    "backends.mkldnn.rnn.fp32_precision",
]


@pytest.fixture(autouse=True)
def switches_may_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch refuses to change its switches once a test has imported `torch.testing._internal`: not here."""
    if (backends := sys.modules.get("torch.backends")) is not None:
        monkeypatch.setitem(backends.flags_frozen.__globals__, "__allow_nonbracketed_mutation_flag", True)


def owner_of(torch: Any, path: str) -> tuple[Any, str]:
    """What a switch belongs to, and its name there."""
    found = torch
    *parts, last = path.split(".")
    for part in parts:
        found = getattr(found, part)
    return found, last


def precisions_of(torch: Any) -> list[str]:
    return [getattr(*owner_of(torch, path)) for path in PRECISIONS]


# How the precisions come back to what they were, in an order that both libraries take.
RESET = [
    *((path, "none") for path in PRECISIONS),
    ("backends.cudnn.conv.fp32_precision", "tf32"),
    ("backends.cudnn.rnn.fp32_precision", "tf32"),
]


@pytest.fixture
def switched(torch: Any) -> Iterator[Any]:
    before = [(path, getattr(*owner_of(torch, path))) for path in SWITCHES]
    yield torch
    torch.set_float32_matmul_precision("highest")
    for path, value in [*before, *RESET]:
        setattr(*owner_of(torch, path), value)


def test_defaults_are_pytorchs(require: Any) -> None:
    torch = require("torch")
    for path in SWITCHES:
        assert getattr(*owner_of(glasstorch, path)) == getattr(*owner_of(torch, path)), path
    assert precisions_of(glasstorch) == precisions_of(torch)
    for name in ("cudnn", "cusparselt", "kleidiai"):
        assert getattr(glasstorch.backends, name).is_available() is getattr(torch.backends, name).is_available(), name
    assert glasstorch.backends.cudnn.version() is torch.backends.cudnn.version() is None


@pytest.mark.parametrize("path", SWITCHES)
def test_a_switch_keeps_what_it_is_given_and_takes_a_bool_alone(path: str, switched: Any) -> None:
    owner, name = owner_of(switched, path)
    was = getattr(owner, name)
    setattr(owner, name, not was)
    assert getattr(owner, name) is not was
    setattr(owner, name, was)
    assert getattr(owner, name) is was
    error, message = (TypeError, "bools, but got") if "reduction" in path else (RuntimeError, "expects a bool, but got")
    for wrong in (3, "on", None):
        with pytest.raises(error, match=message):
            setattr(owner, name, wrong)
    assert getattr(owner, name) is was


STEPS = [
    "torch.set_float32_matmul_precision('high')",
    "torch.set_float32_matmul_precision('medium')",
    "torch.set_float32_matmul_precision('highest')",
    "torch.backends.cuda.matmul.allow_tf32 = True",
    "torch.backends.cuda.matmul.allow_tf32 = False",
    "torch.backends.cudnn.allow_tf32 = False",
    "torch.backends.cudnn.allow_tf32 = True",
    "torch.backends.fp32_precision = 'tf32'",
    "torch.backends.fp32_precision = 'ieee'",
    "torch.backends.cudnn.conv.fp32_precision = 'none'",
    "torch.backends.cudnn.fp32_precision = 'ieee'",
    "torch.backends.fp32_precision = 'bf16'",
    "torch.backends.cudnn.fp32_precision = 'none'",
    "torch.backends.mkldnn.matmul.fp32_precision = 'bf16'",
    "torch.backends.cuda.matmul.fp32_precision = 'tf32'",
    "torch.backends.fp32_precision = 'none'",
]


def test_precisions_fall_back_from_operators_to_libraries_as_in_pytorch(require: Any) -> None:
    theirs = require("torch")
    seen = []
    for torch in (glasstorch, theirs):
        rows = []
        for step in STEPS:
            exec(step, {"torch": torch})
            rows.append((step, precisions_of(torch)))
        for path, value in RESET:
            setattr(*owner_of(torch, path), value)
        torch.set_float32_matmul_precision("highest")
        for path, value in RESET:
            setattr(*owner_of(torch, path), value)
        seen.append(rows)
    assert seen[0] == seen[1]


def test_a_precision_that_is_none_is_refused(switched: Any) -> None:
    with pytest.raises(RuntimeError, match="Unknown precision: exact"):
        switched.backends.fp32_precision = "exact"
    with pytest.raises(RuntimeError, match="'cuda' does not support precision 'bf16'"):
        switched.backends.cudnn.fp32_precision = "bf16"
    with pytest.raises(AttributeError, match="Unknown attribute foo"):
        switched.backends.mkldnn.conv.foo = 1
    with pytest.raises(AttributeError, match="Unknown attribute foo"):
        switched.backends.cuda.matmul.foo = 1
    assert precisions_of(switched)[:3] == ["none", "none", "tf32"]


def test_flags_hold_inside_a_block_and_after_it_what_was(switched: Any) -> None:
    cudnn = switched.backends.cudnn
    cudnn.benchmark = True
    with cudnn.flags(enabled=False, deterministic=True):
        assert (cudnn.enabled, cudnn.benchmark, cudnn.deterministic) == (False, False, True)
    assert (cudnn.enabled, cudnn.benchmark, cudnn.deterministic) == (True, True, False)
    with suppress(KeyError), switched.backends.miopen.flags(immediate=True):
        assert switched.backends.miopen.immediate is True
        raise KeyError
    assert switched.backends.miopen.immediate is False
    with switched.backends.flags(fp32_precision="ieee"):
        assert switched.backends.fp32_precision == "ieee"
    assert switched.backends.fp32_precision == "none"


def test_sums_of_half_precision_take_a_second_bool(switched: Any) -> None:
    matmul = switched.backends.cuda.matmul
    matmul.allow_bf16_reduced_precision_reduction = (False, True)
    assert matmul.allow_bf16_reduced_precision_reduction is False
    for wrong in ((), (True, True, True), (1,)):
        with pytest.raises(TypeError, match=r"allow_\w*reduced_precision"):
            matmul.allow_bf16_reduced_precision_reduction = wrong
    assert matmul.allow_bf16_reduced_precision_reduction is False


def test_flags_that_are_refused_change_nothing() -> None:
    cudnn = glasstorch.backends.cudnn
    with pytest.raises(RuntimeError, match="set_deterministic_cudnn expects a bool"):
        cudnn.set_flags(False, _deterministic="yes")
    assert cudnn.enabled is True
    with pytest.raises(TypeError, match="set_flags"):
        cudnn.set_flags(_speed=1)


@pytest.mark.parametrize("name", ["cudnn", "mkldnn", "mkl", "mps", "openmp", "kleidiai", "cusparselt", "nnpack"])
def test_what_is_not_used_says_so(name: str) -> None:
    assert import_module(f"glasstorch.backends.{name}").is_available() is False


def test_what_is_left_of_the_backends(torch: Any) -> None:
    assert torch.backends.mps.is_built() is False
    assert torch.backends.cudnn.is_acceptable(torch.ones(1)) is False
    assert torch.backends.quantized.engine in torch.backends.quantized.supported_engines
    with pytest.raises(RuntimeError, match="x is not a valid value for quantized engine"):
        torch.backends.quantized.engine = "x"
    with torch.backends.mkl.verbose(torch.backends.mkl.VERBOSE_OFF):
        pass


def test_the_name_of_a_gpu_that_is_not_used_is_refused() -> None:
    for name in ("get_name", "get_core_count"):
        with pytest.raises(RuntimeError, match="glasstorch does not use Metal"):
            getattr(glasstorch.backends.mps, name)()


def test_the_instructions_of_the_cpu_have_a_name(torch: Any) -> None:
    assert torch.backends.cpu.get_cpu_capability() in ("DEFAULT", "AVX2", "AVX512", "VSX", "Z VECTOR", "SVE256")
