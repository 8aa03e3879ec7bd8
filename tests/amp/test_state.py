"""Do the functions that read and set autocast do what PyTorch's do?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nn.side_by_side import assert_same

Require = Callable[[str], Any]
DEVICES = ["cpu", "cuda", "mtia", "maia", "xpu", "ipu", "hpu", "xla", "privateuseone", "mps"]


def test_the_names_are_pytorchs(require: Require) -> None:
    names = {name for name in dir(require("torch")) if "autocast" in name}
    assert {name for name in dir(glasstorch) if "autocast" in name} == names


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_set_is_read_again_on_every_device(device: str, require: Require) -> None:
    def program(lib: Any) -> Any:
        said = [lib.amp.is_autocast_available(device), lib.is_autocast_enabled(device)]
        before = lib.get_autocast_dtype(device)
        lib.set_autocast_enabled(device, True)
        lib.set_autocast_dtype(device, lib.float32)
        said += [str(before), lib.is_autocast_enabled(device), str(lib.get_autocast_dtype(device))]
        lib.set_autocast_enabled(device, False)
        lib.set_autocast_dtype(device, before)
        return [*said, lib.is_autocast_enabled(device)]

    assert_same(program, require("torch"))


def test_one_argument_means_cuda(require: Require) -> None:
    def program(lib: Any) -> Any:
        lib.set_autocast_enabled(True)
        said = [lib.is_autocast_enabled(), lib.is_autocast_enabled("cpu")]
        lib.set_autocast_enabled(False)
        return [*said, lib.is_autocast_enabled()]

    assert_same(program, require("torch"))


def test_nesting_is_counted(require: Require) -> None:
    def program(lib: Any) -> Any:
        with lib.autocast("cpu"):
            counts = [lib.autocast_increment_nesting(), lib.autocast_increment_nesting()]
            return [*counts, lib.autocast_decrement_nesting(), lib.autocast_decrement_nesting()]

    assert_same(program, require("torch"))


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: lib.is_autocast_enabled(3),
        lambda lib: lib.get_autocast_dtype(3),
        lambda lib: lib.amp.is_autocast_available(3),
        lambda lib: lib.set_autocast_enabled("cpu", "x"),
        lambda lib: lib.set_autocast_dtype("cpu", "x"),
        lambda lib: lib.set_autocast_cache_enabled(1),
    ],
)
def test_other_types_are_refused_in_pytorchs_words(call: Callable[[Any], Any], require: Require) -> None:
    assert_same(call, require("torch"))


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: lib.is_autocast_enabled("foo"),
        lambda lib: lib.amp.is_autocast_available("foo"),
        lambda lib: lib.is_autocast_enabled("meta"),
        lambda lib: lib.get_autocast_dtype("meta"),
        lambda lib: lib.set_autocast_enabled("meta", True),
        lambda lib: lib.amp.is_autocast_available("meta"),
    ],
)
def test_other_devices_are_refused_where_pytorch_refuses_them(call: Callable[[Any], Any], require: Require) -> None:
    assert_same(call, require("torch"), words=False)


@pytest.mark.parametrize(
    ("old", "arguments"),
    [
        ("is_autocast_cpu_enabled", ()),
        ("is_autocast_ipu_enabled", ()),
        ("is_autocast_xla_enabled", ()),
        ("get_autocast_cpu_dtype", ()),
        ("get_autocast_gpu_dtype", ()),
        ("get_autocast_ipu_dtype", ()),
        ("get_autocast_xla_dtype", ()),
        ("set_autocast_cpu_enabled", (False,)),
        ("set_autocast_ipu_enabled", (False,)),
        ("set_autocast_xla_enabled", (False,)),
        ("set_autocast_cpu_dtype", ("bfloat16",)),
        ("set_autocast_gpu_dtype", ("float16",)),
        ("set_autocast_ipu_dtype", ("float16",)),
        ("set_autocast_xla_dtype", ("bfloat16",)),
    ],
)
def test_the_old_forms_warn_as_pytorchs_do(old: str, arguments: Any, require: Require) -> None:
    torch = require("torch")

    def call(lib: Any) -> Any:
        given = [getattr(lib, a) if isinstance(a, str) else a for a in arguments]
        with pytest.warns(DeprecationWarning, match=r"is deprecated\. Please use") as warned:
            returned = repr(getattr(lib, old)(*given))
        assert warned[0].filename == __file__
        return returned, str(warned[0].message).partition(" (Triggered internally")[0]

    assert call(glasstorch) == call(torch)


def test_an_old_form_refuses_another_type() -> None:
    with pytest.raises(TypeError, match=r"enabled must be a bool \(got int\)"):
        glasstorch.set_autocast_cpu_enabled(1)
    with pytest.raises(TypeError, match=r"dtype must be a torch.dtype \(got str\)"):
        glasstorch.set_autocast_cpu_dtype("x")
