"""Does a fast function stand in front of the plain one, which stays reachable, and is a wrong one refused?"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

import glasstorch
from glasstorch.core.errors import RegistrationError
from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch import fast as room
from glasstorch.dispatch.fast import FAST, SLOTS, Slot, fast, fast_over, install, is_plain, slot
from glasstorch.dispatch.library import Library
from glasstorch.dispatch.operator import registry
from glasstorch.dispatch.trace import trace
from glasstorch.operators.whereabouts import whereabouts


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    """What a test installs is taken away."""
    slots, listed = dict(SLOTS), list(FAST)
    kernels = {o: list(o.kernels[DispatchKey.CPU]) for o in registry.operators.values() if DispatchKey.CPU in o.kernels}
    yield
    SLOTS.clear()
    SLOTS.update(slots)
    FAST[:] = listed
    for operator, stack in kernels.items():
        operator.kernels[DispatchKey.CPU][:] = stack
    registry.changed()


def twice() -> Slot[[int], int]:
    @slot
    def doubled(x: int) -> int:
        """Two times a number."""
        return x + x

    return doubled


def test_a_slot_runs_its_plain_function_until_a_fast_one_is_installed() -> None:
    doubled = twice()
    assert (doubled.run(3), doubled.run is doubled.plain) == (6, True)
    assert doubled.__doc__ == "Two times a number."

    @fast(doubled, when="x is even", benchmark="none", exact="bits")
    def shifted(x: int) -> int:
        return doubled.plain(x) if x % 2 else x << 1

    assert (doubled.run, doubled.run(4), doubled.run(3), doubled.plain(3)) == (shifted, 8, 6, 6)
    assert (FAST[-1].function, FAST[-1].plain, FAST[-1].over) == (shifted, doubled.plain, doubled.name)
    assert FAST[-1].exactness == "equal to the bit"
    assert "shifted" in repr(doubled)


def test_a_second_fast_function_is_refused() -> None:
    doubled = twice()
    install(doubled, lambda x: x << 1, "always", "none", 0.5)
    assert FAST[-1].exactness == "within 0.5 units in the last place"
    with pytest.raises(RegistrationError, match="already runs"):
        install(doubled, lambda x: 2 * x, "always", "none", "bits")


def test_an_operator_keeps_both_kernels_and_its_table_calls_the_fast_one() -> None:
    operator = registry.find("aten::polar")
    plain = operator.kernels[DispatchKey.CPU][-1].function
    calls = []

    @fast("polar", when="always", benchmark="none", exact="bits")
    def counted(keys: int, self: glasstorch.Tensor, other: glasstorch.Tensor) -> glasstorch.Tensor:
        calls.append(keys)
        result: glasstorch.Tensor = plain(keys, self, other)
        return result

    x = glasstorch.tensor([4.0, 6.0])
    assert glasstorch.polar(x, x * 0).tolist() == [4, 6]
    kernel = operator.kernels[DispatchKey.CPU][-1]
    assert (kernel.function, kernel.fast, len(calls)) == (plain, counted, 1)
    assert fast_over("aten::polar") is FAST[-1]
    with pytest.raises(RegistrationError, match="already has a fast CPU kernel"):
        install("polar", counted, "always", "none", "bits")


def test_a_kernel_that_does_not_exist_has_no_fast_one() -> None:
    with pytest.raises(RegistrationError, match="has no CPU kernel for a fast one to stand before"):
        install("reshape", lambda *arguments: None, "always", "none", "bits")
    with pytest.raises(RegistrationError, match="there is no operator 'aten::no_such'"):
        install("no_such", lambda *arguments: None, "always", "none", "bits")


def test_a_users_kernel_takes_the_place_of_both() -> None:
    install("polar", lambda keys, self, other: self, "always", "none", "bits")
    x = glasstorch.tensor([4.0])
    assert glasstorch.polar(x, x + 2).tolist() == [4]
    with Library("aten", "IMPL") as library:
        library.impl("polar", lambda self, other: other, "CPU", allow_override=True)
        assert glasstorch.polar(x, x + 2).tolist() == [6]
    assert glasstorch.polar(x, x + 2).tolist() == [4]


@pytest.mark.parametrize(("text", "plain"), [("", False), ("0", False), ("1", True)])
def test_the_environment_says_whether_only_plain_kernels_run(text: str, plain: bool) -> None:
    assert is_plain(text) is plain


def test_another_value_in_the_environment_is_refused() -> None:
    with pytest.raises(ValueError, match=r"GLASSTORCH_PLAIN='yes': expected 1 \(plain kernels alone\) or 0"):
        is_plain("yes")


def in_plain_process(program: str) -> str:
    environment = os.environ | {room.VARIABLE: "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert not done.returncode, done.stderr
    return done.stdout


CALLS = """
import glasstorch as torch
from glasstorch.dispatch import trace
x, y = torch.ones(3, 4), torch.ones(3, 4, requires_grad=True)
with trace() as hops:
    x + x, x[1:], x.cumsum(1), y * 2, x.reshape(2, 6), x.half() + 1, torch.nn.functional.relu(y), x.add_(1), x.sum()
print(hops)
"""


LOADED = """
import sys
import glasstorch
from glasstorch.dispatch.fast import FAST
from glasstorch.dispatch.operator import registry
print([m for m in sys.modules if "kernels.cpu.fast" in m or m.endswith(".shortcuts")], FAST, registry.shorten)
"""


def test_with_plain_kernels_alone_no_fast_module_and_no_shortcut_is_loaded() -> None:
    printed = in_plain_process(LOADED)
    assert printed.split() == ["[]", "[]", "None"]


def test_a_trace_lists_the_same_hops_with_and_without_fast_kernels() -> None:
    own = subprocess.run([sys.executable, "-c", CALLS], capture_output=True, text=True, encoding="utf-8", check=True)
    assert in_plain_process(CALLS) == own.stdout
    assert own.stdout.count("\n") > 15


def test_a_trace_as_run_names_shortcuts_fast_kernels_and_slots() -> None:
    x, y = glasstorch.ones(3, 4), glasstorch.ones(3, 4, requires_grad=True)
    with trace(as_run=True) as hops:
        x.cumsum(1)
        y.cumsum(1)
        x[1:]
    recorded, again = [hop.rule for hop in hops[:3]], [hop for hop in hops[3:-1] if hop.rule != "slot"]
    assert recorded == ["shortcut", "kernel", "slot"]
    assert [key.name for key in hops[0].in_place_of] == ["AutogradCPU"]
    assert hops[2].operator == "cpu.scans.accumulated"
    assert hops[2].fast.split()[0] == "accumulated_in_blocks"
    assert hops[2].where.startswith("kernels/cpu/scans.py:")
    assert [(hop.key.name, hop.rule) for hop in again] == [("AutogradCPU", "autograd kernel"), ("CPU", "kernel")]
    view = hops[-1]
    assert (view.rule, [key.name for key in view.in_place_of]) == (
        "shortcut",
        ["AutogradCPU", "ADInplaceOrView", "CPU"],
    )
    assert "in place of AutogradCPU, ADInplaceOrView, CPU" in str(view)
    assert "fast: accumulated_in_blocks  kernels/cpu/fast/scans.py:" in str(hops)


def test_an_operators_place_lists_its_fast_kernel_and_those_of_the_slots_that_its_plain_kernel_runs() -> None:
    def over(name: str) -> list[str]:
        return [one.over for one in whereabouts(registry.find(name)).fast]

    assert over("aten::cumsum") == ["cpu.scans.accumulated"]
    assert over("aten::sum.dim_IntList") == ["aten::sum.dim_IntList", "cpu.reductions.sums.added"]
    assert over("aten::erf") == ["aten::erf", "cpu.special.error_function.erf"]  # by the loop of its row
    assert over("aten::view") == []


def test_both_kinds_of_trace_can_be_on_at_once_and_leave_nothing_behind() -> None:
    running = {name: one.run for name, one in SLOTS.items()}
    x = glasstorch.ones(3)
    with trace() as every:
        x.cumsum(0)
        with trace(as_run=True) as short:
            x.cumsum(0)
        x.cumsum(0)
    assert [hop.rule for hop in every] == ["autograd kernel", "kernel"] * 2
    assert short[0].rule == "shortcut"
    assert {name: one.run for name, one in SLOTS.items()} == running
