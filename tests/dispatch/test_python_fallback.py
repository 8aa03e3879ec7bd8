"""Are modes and subclasses asked in PyTorch's order, with PyTorch's arguments?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch
from glasstorch.core.keys import PYTHON
from glasstorch.dispatch.active_keys import BY_DEFAULT, active_keys
from glasstorch.dispatch.mode_stack import modes
from glasstorch.dispatch.python_fallback import OF_SUBCLASSES, is_seen
from tests.dispatch.dispatch_programs import PROGRAMS, Kit, recorded, told_by

RECORDED = recorded()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_tells_what_it_told_on_pytorch(torch: Any, name: str) -> None:
    told = [line for part in told_by(name, torch) for line in part.splitlines()]
    assert told == RECORDED[name]
    assert (modes.get(), active_keys.get()) == ((), BY_DEFAULT)


def test_each_program_has_its_record_and_each_record_its_program() -> None:
    assert [*RECORDED] == [*PROGRAMS]
    assert len(PROGRAMS) >= 40
    assert all(len(lines) > 1 for lines in RECORDED.values())


def test_a_plain_tensor_is_seen_only_under_a_mode() -> None:
    kit = Kit(glasstorch)
    x: Any = glasstorch.ones(2)
    assert not is_seen(x)
    assert is_seen(kit.Wrapper(x))
    with kit.Log():
        assert is_seen(x)
    with glasstorch._C._DisableTorchDispatch():
        assert not is_seen(kit.Wrapper(x))


def test_what_runs_below_python_has_no_key_of_it() -> None:
    kit = Kit(glasstorch)
    x = glasstorch.Tensor._make_subclass(kit.Wrapper, glasstorch.ones(4))
    assert x.key_set & OF_SUBCLASSES == OF_SUBCLASSES
    made = glasstorch._C._disabled_torch_dispatch_impl(glasstorch.ops.aten.view.default, (), (x, [2, 2]), {})
    assert type(made) is glasstorch.Tensor
    assert not made.key_set & PYTHON


def test_bytes_of_a_wrapper_are_refused_where_a_kernel_asks_for_them() -> None:
    kit = Kit(glasstorch)
    x = kit.Wrapper(glasstorch.ones(4))
    with pytest.raises(RuntimeError, match="its data is not allocated yet"):
        glasstorch._C._disabled_torch_dispatch_impl(glasstorch.ops.aten.exp.default, (), (x,), {})


def test_a_mode_above_autograd_is_refused_by_name() -> None:
    kit = Kit(glasstorch)
    with pytest.raises(NotImplementedError, match="PreDispatch"):
        kit.python_dispatch.BaseTorchDispatchMode(_dispatch_key=glasstorch._C.DispatchKey.PreDispatch)
