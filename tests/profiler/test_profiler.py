"""Does a profile record what runs inside it, step by step, under PyTorch's names?"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch.dispatch.active_keys import BY_DEFAULT, active_keys
from tests.profiler.programs import classifier, profile_of, profiler_of

Require = Callable[[str], Any]


def names(profile: Any) -> list[str]:
    return [event.name for event in profile.events()]


def test_a_product_of_matrices_has_its_row(torch: Any) -> None:
    x = torch.ones(3, 3)
    profile = profile_of(torch, lambda: torch.mm(x, x))
    lines = profile.key_averages().table().splitlines()
    assert lines[1].split("  ")[-2].strip() == "# of Calls"
    (row,) = (line for line in lines if line.split()[0] == "aten::mm")
    assert row.split()[-1] == "1"
    assert lines[-1].startswith("Self CPU time total: ")


def test_times_add_up(torch: Any) -> None:
    step = classifier(torch)
    profile = profile_of(torch, step)
    events = profile.events()
    roots = sum(event.cpu_time_total for event in events if event.cpu_parent is None)
    assert profile.profiler.self_cpu_time_total == pytest.approx(roots)
    assert profile.profiler.total_average().self_cpu_time_total == pytest.approx(roots)
    assert profile.profiler.total_average().count == len(events)
    assert all(event.self_cpu_time_total >= -1e-6 for event in events)


def test_events_say_what_they_are(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)

    def program() -> None:
        with profiler_of(torch).record_function("a block"):
            (x * 2).sum().backward()

    events = {event.name: event for event in reversed(profile_of(torch, program).events())}  # the first of each name
    assert events["a block"].is_user_annotation
    assert events["a block"].scope == 7
    assert not events["aten::mul"].is_user_annotation
    assert events["aten::mul"].scope == 0
    assert events["MulBackward0"].scope == 1
    assert events["MulBackward0"].fwd_thread == events["aten::mul"].thread == 1
    assert events["MulBackward0"].sequence_nr == events["aten::mul"].sequence_nr >= 0
    assert str(events["aten::mul"].device_type) == "DeviceType.CPU"
    assert events["aten::mul"].key == "aten::mul"


def test_overloads_are_told_apart_on_request(torch: Any) -> None:
    config = profiler_of(torch)._ExperimentalConfig(capture_overload_names=True)
    x = torch.ones(2)
    profile = profile_of(torch, lambda: (x + x, torch.add(x, x, out=torch.empty(2))), experimental_config=config)
    rows = [row for row in profile.key_averages(group_by_overload_name=True) if row.key == "aten::add"]
    assert {row.overload_name: row.count for row in rows} == {"Tensor": 1, "out": 1}
    assert [row.count for row in profile.key_averages() if row.key == "aten::add"] == [2]
    assert "Overload Name" in profile.key_averages(group_by_overload_name=True).table()


def test_a_schedule_records_its_active_steps(torch: Any) -> None:
    profiler = profiler_of(torch)
    seen: list[Any] = []

    def ready(profile: Any) -> None:
        counts = {row.key: row.count for row in profile.key_averages()}
        seen.append((profile.step_num, counts["ProfilerStep*"], counts["aten::exp"], counts.get("aten::neg", 0)))

    x = torch.ones(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch says once that a cycle drops the one before
        with profiler.profile(
            schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=ready
        ) as profile:
            for number in range(10):
                x.exp()
                if number == 3:
                    x.neg()
                profile.step()
    assert seen == [(4, 2, 2, 1), (8, 2, 2, 0)]
    assert profile.step_num == 10


def test_steps_have_their_numbers_in_the_trace(torch: Any, tmp_path: Path) -> None:
    profiler = profiler_of(torch)
    path = tmp_path / "trace.json"
    with profiler.profile(
        schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=1),
        on_trace_ready=lambda profile: profile.export_chrome_trace(str(path)),
    ) as profile:
        for _ in range(5):
            torch.ones(1)
            profile.step()
    found = [event["name"] for event in json.loads(path.read_text())["traceEvents"] if event["ph"] == "X"]
    assert [name for name in found if name.startswith("ProfilerStep")] == ["ProfilerStep#2", "ProfilerStep#3"]


@pytest.mark.parametrize("accumulated", [False, True])
def test_events_of_all_cycles_are_kept_on_request(torch: Any, accumulated: bool) -> None:
    profiler = profiler_of(torch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with profiler.profile(
            schedule=profiler.schedule(wait=0, warmup=1, active=1, repeat=2), acc_events=accumulated
        ) as profile:
            for call in (torch.ones, torch.zeros, torch.ones, torch.zeros):
                call(1)
                profile.step()
    counts = {row.key: row.count for row in profile.key_averages()}
    assert counts["ProfilerStep*"] == counts["aten::zeros"] == (2 if accumulated else 1)


def test_a_profile_can_be_started_and_stopped(torch: Any) -> None:
    profile = profiler_of(torch).profile()
    torch.ones(1)
    profile.start()
    torch.zeros(1)
    profile.stop()
    torch.ones(1)
    assert "aten::zeros" in names(profile)
    assert "aten::ones" not in names(profile)


def test_collection_can_be_paused(torch: Any) -> None:
    profiler = profiler_of(torch)
    activities = [profiler.ProfilerActivity.CPU]
    with profiler.profile() as profile:
        torch.ones(1)
        profile.toggle_collection_dynamic(False, activities)
        torch.zeros(1)
        profile.toggle_collection_dynamic(True, activities)
        torch.eye(1)
    assert {"aten::ones", "aten::eye"} <= set(names(profile))
    assert "aten::zeros" not in names(profile)


def test_an_error_ends_the_profile_and_keeps_its_events(torch: Any) -> None:
    profile = profiler_of(torch).profile()

    def fails() -> None:
        torch.ones(1)
        raise ValueError("on purpose")

    with pytest.raises(ValueError, match="on purpose"), profile:
        fails()
    assert "aten::ones" in names(profile)
    assert "aten::zeros" in names(profile_of(torch, lambda: torch.zeros(1)))


def test_profiles_do_not_nest() -> None:
    profiler = glasstorch.profiler
    with profiler.profile() as profile:
        glasstorch.ones(1)
        with pytest.raises(RuntimeError, match="Can't enable profiler: a profile is recording already"):
            profiler.profile().__enter__()
        glasstorch.zeros(1)
    assert names(profile) == ["aten::ones", "aten::zeros"]
    assert active_keys.get() == BY_DEFAULT


def test_calls_of_other_threads_are_not_seen(torch: Any) -> None:
    def program() -> None:
        thread = threading.Thread(target=lambda: torch.zeros(1))
        thread.start()
        thread.join()
        torch.ones(1)

    assert "aten::ones" in names(profile_of(torch, program))
    assert "aten::zeros" not in names(profile_of(torch, program))


def test_two_threads_profile_at_once() -> None:
    both = threading.Barrier(2, timeout=60)
    found: dict[str, list[str]] = {}

    def work(name: str) -> None:
        with glasstorch.profiler.profile() as profile:
            both.wait()
            getattr(glasstorch, name)(1)
            both.wait()
        found[name] = names(profile)

    threads = [threading.Thread(target=work, args=(name,)) for name in ("ones", "zeros")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"ones": ["aten::ones"], "zeros": ["aten::zeros"]}


def test_what_a_mode_calls_instead_of_an_operator_is_seen(torch: Any) -> None:
    modes = importlib.import_module(f"{torch.__name__}.utils._python_dispatch")

    class Negative(modes.TorchDispatchMode):  # type: ignore[name-defined, misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return torch.neg(func(*args, **kwargs or {}))

    x = torch.ones(2)

    def program() -> None:
        with Negative():
            torch.exp(x)

    events = [e for e in profile_of(torch, program).events() if e.name in ("aten::exp", "aten::neg")]
    assert [(e.name, e.cpu_parent and e.cpu_parent.name) for e in events] == [
        ("aten::exp", None),
        ("aten::exp", "PythonDispatchMode"),
        ("aten::neg", "PythonDispatchMode"),
    ]


def test_what_is_asked_before_the_start_is_refused(torch: Any, tmp_path: Path) -> None:
    profile = profiler_of(torch).profile()
    for ask in (
        profile.events,
        profile.key_averages,
        lambda: profile.export_chrome_trace(str(tmp_path / "t.json")),
        lambda: profile.export_stacks(str(tmp_path / "t")),
    ):
        with pytest.raises(AssertionError, match="Profiler must be initialized before"):
            ask()
    assert profile.get_trace_id() is None
    profile.toggle_collection_dynamic(True, [])
    assert list(tmp_path.iterdir()) == []


def test_a_trace_alone_has_no_events(torch: Any, tmp_path: Path) -> None:
    config = profiler_of(torch)._ExperimentalConfig(trace_only=True)
    profile = profile_of(torch, lambda: torch.ones(1), experimental_config=config)
    with pytest.raises(RuntimeError, match="not available when trace_only=True"):
        profile.events()
    profile.export_chrome_trace(str(tmp_path / "trace.json"))
    assert "aten::ones" in (tmp_path / "trace.json").read_text()
    with pytest.warns(UserWarning, match="trace_only=True is incompatible with with_stack=True"):
        assert profiler_of(torch).profile(with_stack=True, experimental_config=config).experimental_config is not config


def test_ids_of_traces_come_from_the_program_on_request(torch: Any) -> None:
    made = profile_of(torch, lambda: None, custom_trace_id_callback=lambda: "MINE")
    assert made.get_trace_id() == "MINE"
    first, second = (profile_of(torch, lambda: None).get_trace_id() for _ in range(2))
    assert first != second
    assert len(first) == len(second) == 32
    made.set_custom_trace_id_callback(lambda: "OTHER")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made.start()
    made.stop()
    assert made.get_trace_id() == "OTHER"


def test_files_for_tensorboard_have_the_names_that_it_looks_for(torch: Any, tmp_path: Path) -> None:
    profiler = profiler_of(torch)
    for options in ({}, {"worker_name": "me"}, {"worker_name": "me", "use_gzip": True}):
        handler = profiler.tensorboard_trace_handler(str(tmp_path / "logs" / "deep"), **options)
        profile_of(torch, lambda: torch.ones(1), on_trace_ready=handler)
    files = sorted(path.name for path in (tmp_path / "logs" / "deep").iterdir())
    assert len(files) == 3
    assert sum(name.startswith("me.") for name in files) == 2
    assert sum(name.endswith(".pt.trace.json") for name in files) == 2
    assert sum(name.endswith(".pt.trace.json.gz") for name in files) == 1


def test_a_folder_that_cannot_be_made_is_named(torch: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    handler = profiler_of(torch).tensorboard_trace_handler(str(tmp_path / "file" / "logs"))
    with pytest.raises(RuntimeError, match=r"Can't create directory: .*logs"):
        profile_of(torch, lambda: None, on_trace_ready=handler)


def test_activities_are_checked(torch: Any) -> None:
    profiler = profiler_of(torch)
    cpu = profiler.ProfilerActivity.CPU
    assert profiler.supported_activities() == {cpu}
    assert profiler.kineto_available()
    assert profiler.profile(activities=[cpu]).activities == {cpu}
    with pytest.raises(ValueError, match="specified more than once"):
        profiler.profile(activities=[cpu, cpu])
    with pytest.raises((TypeError, AssertionError)):
        profiler.profile(activities=["cpu"])
    with pytest.raises(AssertionError, match="No valid profiler activities found"):
        profiler.profile(activities=[])
    with pytest.warns(FutureWarning, match="`use_cuda` is deprecated"):
        profiler.profile(use_cuda=False)


def test_without_cuda_its_times_are_left_out_with_a_warning(torch: Any) -> None:
    if torch.cuda.is_available():
        pytest.fail("this test is about a machine without a device")
    profiler = profiler_of(torch)
    both = [profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA]
    with pytest.warns(UserWarning, match="CUDA is not available, disabling CUDA profiling"):
        profile = profile_of(torch, lambda: torch.ones(1), activities=both)
    assert "aten::ones" in names(profile)


REFUSED: dict[str, Callable[[], object]] = {
    "execution traces": lambda: glasstorch.profiler.profile(execution_trace_observer=object()),
    "execution traces are left out": lambda: glasstorch.profiler.ExecutionTraceObserver(),
    "does not record the counters of CUPTI": lambda: glasstorch.profiler._ExperimentalConfig(profiler_metrics=["a"]),
    "the calls of other threads": lambda: glasstorch.profiler._ExperimentalConfig(profile_all_threads=True),
    "no CUPTI monitor": lambda: glasstorch.profiler._ExperimentalConfig(custom_profiler_config="cupti_monitor"),
    "a choice inside a group": lambda: glasstorch.profiler.profile(
        activities=[{glasstorch.profiler.ProfilerActivity.CPU: ["CPU_OP"]}]
    ),
    "export_memory_timeline is not in glasstorch": lambda: glasstorch.profiler.profile().export_memory_timeline("a"),
    "choose among Kineto's kinds": lambda: glasstorch.autograd.profiler.profile(activity_filters={1: {"a"}}),
    "files of nvprof are left out": lambda: glasstorch.autograd.profiler.load_nvprof("a"),
    "NVTX functions not installed": lambda: glasstorch.cuda.nvtx.range_push("a"),
    "ITT functions not installed": lambda: glasstorch.profiler.itt.mark("a"),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_left_out_says_so_by_name(words: str) -> None:
    with pytest.raises(RuntimeError, match=words):  # NotImplementedError is one
        REFUSED[words]()


@pytest.mark.parametrize("module", ["cuda.nvtx", "profiler.itt"])
def test_ranges_of_other_profilers_are_refused_when_they_begin(module: str) -> None:
    ranges = importlib.import_module(f"glasstorch.{module}")
    with pytest.raises(RuntimeError, match="not installed"), ranges.range("a {}", 1):
        pytest.fail("the block must not run")


@pytest.mark.parametrize("name", ["emit_nvtx", "emit_itt"])
def test_ranges_of_all_operators_are_refused_unless_switched_off(name: str) -> None:
    emit = getattr(glasstorch.autograd.profiler, name)
    with pytest.raises(RuntimeError, match="not installed"), emit():
        pytest.fail("the block must not run")
    with emit(enabled=False):
        assert not emit(False).enabled


def test_a_profile_that_is_not_enabled_records_nothing(torch: Any) -> None:
    with torch.autograd.profiler.profile(enabled=False) as profile:
        torch.ones(1)
    assert profile is None


def test_the_older_profile_is_used_once(torch: Any) -> None:
    profile = torch.autograd.profiler.profile(record_shapes=True)
    assert str(profile) == repr(profile) == "<unfinished torch.autograd.profile>"
    with profile:
        torch.ones(3).neg()
    assert "aten::neg" in str(profile)
    assert "aten::neg" in profile.table(sort_by="cpu_time_total")
    assert [row.count for row in profile.key_averages() if row.key == "aten::neg"] == [1]
    assert profile.self_cpu_time_total > 0
    with pytest.raises(RuntimeError, match="Profiler context manager is not reentrant"):
        profile.__enter__()


def test_the_oldest_profile_has_its_path(torch: Any) -> None:
    legacy = importlib.import_module(f"{torch.__name__}.autograd.profiler_legacy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's is deprecated
        with legacy.profile(record_shapes=True) as profile:
            torch.ones(3).neg()
    assert "aten::neg" in profile.key_averages().table()


def test_a_limit_of_time_leaves_events_out(torch: Any) -> None:
    profile = profile_of(torch, lambda: [torch.ones(1) for _ in range(200)], post_processing_timeout_s=0.0)
    assert len(profile.events()) < 200
    with pytest.raises(ValueError, match="must be non-negative"):
        torch.autograd.profiler.profile(post_processing_timeout_s=-1.0)


def test_keys_are_unique_or_refused(torch: Any) -> None:
    unique = torch.autograd.profiler.EnforceUnique()
    unique.see("a", 1)
    unique.see("a", 2)
    with pytest.raises(RuntimeError, match=r"duplicate key: \('a', 1\)"):
        unique.see("a", 1)


def test_programs_can_ask_whether_a_profile_is_on(torch: Any) -> None:
    asked: list[bool] = []
    profile_of(torch, lambda: asked.append(torch.autograd.profiler._is_profiler_enabled))
    assert [*asked, torch.autograd.profiler._is_profiler_enabled] == [True, False]


@pytest.mark.parametrize(
    "module", ["profiler", "autograd.profiler", "autograd.profiler_util", "cuda.nvtx", "profiler.itt"]
)
def test_every_public_name_of_pytorch_is_there(require: Require, module: str) -> None:
    require("torch")
    theirs = importlib.import_module(f"torch.{module}")
    ours = importlib.import_module(f"glasstorch.{module}")
    assert [name for name in theirs.__all__ if not hasattr(ours, name)] == []
    assert sorted(ours.__all__) == sorted(theirs.__all__)


def test_values_of_enumerations_are_pytorchs(require: Require) -> None:
    theirs, ours = require("torch").profiler, glasstorch.profiler
    for name in ("ProfilerActivity", "DeviceType", "RecordScope", "ProfilerAction"):
        one, other = getattr(ours, name), getattr(theirs, name)
        values = {key: int(getattr(value, "value", value)) for key, value in other.__members__.items()}
        assert {key: int(member.value) for key, member in one.__members__.items()} == values, name
        assert {str(member) for member in one} == set(map(str, other.__members__.values()))


def test_the_first_use_loads_the_profiler_and_an_import_does_not() -> None:
    program = (
        "import sys, glasstorch; loaded = 'glasstorch.profiler' in sys.modules; glasstorch.profiler.profile; "
        "print(loaded, 'glasstorch.profiler' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
