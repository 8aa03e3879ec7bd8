"""Has the module the names of PyTorch's, and does each stand for the same?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.devices.devices import Devices
from tests.nn.side_by_side import assert_same
from tests.utils.checkpoint.test_regions import module

Require = Callable[[str], Any]


def test_all_names_are_there(require: Require) -> None:
    ours, theirs = module(glasstorch), module(require("torch"))
    assert sorted(ours.__all__) == sorted(theirs.__all__)
    assert all(hasattr(ours, name) for name in ours.__all__)


def test_another_name_is_refused_with_advice() -> None:
    with pytest.raises(AttributeError, match="nearest name is 'checkpoint_sequential'"):
        getattr(module(glasstorch), "checkpoint_sequentially")  # noqa: B009 (a type checker refuses the name)


def detached(lib: Any) -> list[Any]:
    x, y = lib.ones(2, requires_grad=True) * 2, lib.ones(2)
    a, b, c = module(lib).detach_variable((x, y, "text"))
    return [a.requires_grad, a.is_leaf, b.requires_grad, c, a.tolist()]


@pytest.mark.parametrize(
    "program",
    [
        detached,
        lambda lib: module(lib).detach_variable([lib.ones(1)]),
        lambda lib: module(lib).check_backward_validity([lib.ones(1), 3]),
        lambda lib: module(lib).check_backward_validity([lib.ones(1, requires_grad=True)]),
        lambda lib: module(lib).get_device_states(lib.ones(1), [3]),
        lambda lib: module(lib).set_device_states([], []),
        lambda lib: module(lib).DefaultDeviceType.get_device_type(),
        lambda lib: [type(block).__name__ for block in module(lib).noop_context_fn()],
    ],
)
def test_the_helpers_do_what_pytorchs_do(program: Callable[[Any], Any], require: Require) -> None:
    assert_same(program, require("torch"))


def test_the_default_type_of_device_can_be_set() -> None:
    kind = module(glasstorch).DefaultDeviceType
    before = kind._default_device_type
    try:
        kind.set_device_type("meta")
        assert kind.get_device_type() == "meta"
        module(glasstorch).set_device_states([0], [glasstorch.ones(1)])  # nothing is drawn there
        with pytest.raises(RuntimeError, match="expected the device type 'cuda'"):
            module(glasstorch).set_device_states([0], [glasstorch.ones(1)], device_type="cpu")
    finally:
        kind._default_device_type = before


def test_states_of_cuda_devices(cuda: Devices) -> None:
    x = glasstorch.ones(2, device="cuda")
    devices, states = module(glasstorch).get_device_states([x], {"a": x})
    assert devices == [0, 0]
    drawn = glasstorch.rand(2, device="cuda").tolist()
    module(glasstorch).set_device_states(devices, states, device_type="cuda")
    assert glasstorch.rand(2, device="cuda").tolist() == drawn
