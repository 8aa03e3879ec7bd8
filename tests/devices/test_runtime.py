"""Is a driver found where one was asked for, and nowhere else?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import glasstorch as torch
from glasstorch.core.errors import AcceleratorError, ArgumentValueError, DeviceError
from glasstorch.devices import runtime
from glasstorch.devices.driver_sim import SimDriver
from glasstorch.devices.simulator import compiler
from glasstorch.devices.simulator.errors import CompileError


@pytest.fixture(autouse=True)
def no_driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Begin and end as a program does that has not asked for CUDA, on a machine without CuPy."""
    monkeypatch.delenv(runtime.VARIABLE, raising=False)
    monkeypatch.setattr(runtime, "find_spec", lambda name: None)
    runtime.use_driver(None)
    yield
    runtime.use_driver(None)


def in_fresh_process(program: str, **environment: str) -> Any:
    """What a program prints as JSON."""
    given = {name: value for name, value in os.environ.items() if name != runtime.VARIABLE}
    done = subprocess.run(
        [sys.executable, "-c", f"import json, sys\nimport glasstorch as torch\n{program}"],
        capture_output=True, text=True, check=False, env=given | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# Nothing is there -----------------------------------------------------------------------------------------------


def test_without_card_and_simulator_there_is_no_device() -> None:
    assert not torch.cuda.is_available()
    assert torch.cuda.device_count() == 0
    assert not torch.cuda.is_initialized()


@pytest.mark.parametrize(
    "ask",
    [
        lambda: torch.empty(2, device="cuda"),
        lambda: torch.ones(2).cuda(),
        torch.cuda.current_device,
        torch.cuda.Stream,
        torch.cuda.synchronize,
        torch.cuda.get_device_name,
        torch.cuda.init,
    ],
)
def test_the_refusal_says_what_is_missing_and_how_the_simulator_is_switched_on(ask: Any) -> None:
    with pytest.raises(DeviceError, match="No CUDA GPUs are available") as error:
        ask()
    assert "CuPy, which is needed for a GPU, is not installed" in str(error.value)
    assert "glasstorch.cuda.use_simulator()" in str(error.value)
    assert "GLASSTORCH_CUDA=simulator" in str(error.value)


def test_without_a_compiler_the_refusal_says_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise CompileError("no compiler: install g++")

    monkeypatch.setattr(compiler, "compiler", none)
    with pytest.raises(DeviceError, match=r"No CUDA GPUs are available.*But no compiler: install g\+\+"):
        torch.cuda.init()
    with pytest.raises(CompileError, match="install g"):
        torch.cuda.use_simulator()
    monkeypatch.setenv(runtime.VARIABLE, "simulator")
    with pytest.raises(CompileError, match="install g"):
        torch.cuda.init()


def test_a_simulator_without_a_compiler_is_not_available_and_a_warning_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none() -> str:
        raise CompileError("no compiler: install g++")

    monkeypatch.setenv(runtime.VARIABLE, "simulator")
    with monkeypatch.context() as without:
        without.setattr(compiler, "compiler", none)
        with pytest.warns(UserWarning, match=r"CUDA initialization: no compiler: install g\+\+"):
            assert torch.cuda.device_count() == 0
    assert torch.cuda.device_count() == 1


def test_a_program_that_asks_first_goes_on_where_there_is_no_compiler() -> None:
    program = """
found = torch.cuda.is_available()
try:
    torch.ones(1, device="cuda")
except RuntimeError as error:
    print(json.dumps([found, "Install one" in str(error)]))
"""
    assert in_fresh_process(program, GLASSTORCH_CUDA="simulator", PATH="", CXX="") == [False, True]


def test_cupy_without_a_card_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoCard:
        @staticmethod
        def device_count() -> int:
            return 0

    monkeypatch.setattr(runtime, "find_spec", lambda name: object())
    monkeypatch.setitem(sys.modules, "glasstorch.devices.driver_cupy", SimpleNamespace(CupyDriver=NoCard))
    assert not torch.cuda.is_available()
    with pytest.raises(DeviceError, match="CuPy finds no GPU with a driver"):
        torch.cuda.init()


def test_nothing_imports_cupy_or_starts_a_simulator_unasked() -> None:
    program = """
before = torch.cuda.is_initialized()
torch.nn.Linear(2, 2)(torch.ones(1, 2)).sum().backward()
print(json.dumps([before, [name for name in sys.modules if name.split(".")[0] == "cupy" or "driver_" in name]]))
"""
    assert in_fresh_process(program) == [False, []]


def test_the_simulator_does_not_import_cupy() -> None:
    program = """
torch.cuda.use_simulator()
torch.ones(3, device="cuda").sum().item()
print(json.dumps([name for name in sys.modules if name.split(".")[0] == "cupy" or name.endswith("driver_cupy")]))
"""
    assert in_fresh_process(program) == []


# Asking for the simulator ---------------------------------------------------------------------------------------


def test_the_environment_variable_switches_the_simulator_on() -> None:
    program = """
driver_before = torch.cuda.is_initialized()
torch.ones(1, device="cuda:1")
free, total = torch.cuda.mem_get_info()
print(json.dumps([driver_before, torch.cuda.is_available(), torch.cuda.device_count(), total]))
"""
    answers = in_fresh_process(program, GLASSTORCH_CUDA="simulator:devices=2,memory=64M,order=random,seed=3")
    assert answers == [False, True, 2, 64 << 20]


def test_the_options_reach_the_simulator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(runtime.VARIABLE, "simulator:devices=3,memory=2G,check=1,order=reverse,seed=7,check_streams=0")
    driver = runtime.driver()
    assert isinstance(driver, SimDriver)
    assert (driver.devices, driver.check, driver.order, driver.seed) == (3, True, "reverse", 7)
    assert not driver.check_streams
    assert driver.memory_info()[1] == 2 << 30


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("gpu", "GLASSTORCH_CUDA='gpu': expected cupy, simulator, or simulator:OPTION=VALUE"),
        ("simulator:cards=2", "no option 'cards' of the simulator; it has devices, memory"),
        ("simulator:devices=two", "devices='two'; expected a number"),
        ("simulator:memory=64X", "memory='64X'; expected a number of bytes, such as 64M"),
        ("simulator:check=yes", "check='yes'; expected 0 or 1"),
        ("simulator:order=sideways", "order='sideways'; expected one of forward, reverse, random"),
    ],
)
def test_a_value_that_is_not_understood_is_refused(monkeypatch: pytest.MonkeyPatch, value: str, words: str) -> None:
    monkeypatch.setenv(runtime.VARIABLE, value)
    with pytest.raises(ArgumentValueError) as error:
        torch.cuda.init()
    assert words in str(error.value)


def test_asking_again_gives_fresh_devices_and_old_tensors_can_still_die() -> None:
    first = torch.cuda.use_simulator(memory=1 << 25)
    x = torch.ones(1000, device="cuda")
    second = torch.cuda.use_simulator(devices=2)
    assert runtime.driver() is second is not first
    assert torch.cuda.memory_allocated() == 0
    with pytest.raises(AcceleratorError, match="do not lie within one allocation of these devices"):
        x.cpu()
    del x
    assert torch.ones(3, device="cuda:1").tolist() == [1.0] * 3


@pytest.mark.parametrize("check_streams", [True, False])
def test_computing_with_a_tensor_of_devices_that_were_switched_off_is_refused(check_streams: bool) -> None:
    torch.cuda.use_simulator()
    old, places = torch.ones(4, device="cuda"), torch.tensor([1, 0], device="cuda")
    torch.cuda.use_simulator(check_streams=check_streams)
    new = torch.ones(4, device="cuda")
    for compute in (
        lambda: old + 1,
        lambda: new + old,
        old.sum,
        lambda: new[places],
        lambda: torch.cat([new, old]),
    ):
        with pytest.raises(AcceleratorError, match="was its tensor created before use_simulator") as error:
            compute()
        assert error.value.code == 400
    assert (new + 1).tolist() == [2] * 4


def test_the_name_of_a_simulated_device_says_so() -> None:
    torch.cuda.use_simulator()
    assert "simulated" in torch.cuda.get_device_name()


# The thread's device and stream ---------------------------------------------------------------------------------


def test_a_device_that_is_not_there_is_refused_with_those_that_are() -> None:
    torch.cuda.use_simulator(devices=2)
    with pytest.raises(AcceleratorError, match=r"invalid device ordinal .*\n.*cuda:5 was asked for.*cuda:0 to cuda:1"):
        torch.empty(2, device="cuda:5")
    torch.cuda.use_simulator()
    with pytest.raises(AcceleratorError, match="there is only cuda:0"):
        torch.cuda.set_device(1)


def test_a_device_may_be_named_in_each_way() -> None:
    torch.cuda.use_simulator(devices=2)
    runtime.set_device(1)
    for named, index in ((None, 1), (0, 0), ("cuda:0", 0), ("cuda", 1), (torch.device("cuda:1"), 1)):
        assert runtime.device_index(named) == index
    with pytest.raises(ArgumentValueError, match="Expected a cuda device, but got: cpu"):
        runtime.device_index("cpu")


def test_each_thread_has_its_own_stream_and_a_new_driver_begins_with_the_default_one() -> None:
    torch.cuda.use_simulator()
    runtime.set_current_stream(torch.cuda.Stream().cuda_stream, 0)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(runtime.current_stream()))
    thread.start()
    thread.join()
    assert seen == [0]
    assert runtime.current_stream() != 0
    torch.cuda.use_simulator()
    assert runtime.current_stream() == 0


def test_threads_that_ask_first_at_the_same_time_get_one_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(runtime.VARIABLE, "simulator")
    found = []
    threads = [threading.Thread(target=lambda: found.append(runtime.driver())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 1
