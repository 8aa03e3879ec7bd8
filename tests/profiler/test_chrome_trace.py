"""Is what is written for Perfetto in the trace-event format, and what PyTorch writes?"""

from __future__ import annotations

import copy
import gzip
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch.dispatch.record import Record
from glasstorch.profiler.chrome_trace import forward_of, written
from tests.profiler.programs import classifier, profile_of, profiler_of

Require = Callable[[str], Any]
SCHEMA = json.loads(Path(__file__).with_name("trace_schema.json").read_text(encoding="utf-8"))
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "all": {"record_shapes": True, "profile_memory": True, "with_stack": True, "with_modules": True},
}


@pytest.fixture
def check(require: Require) -> Callable[[Any], None]:
    """Validates a file's content."""
    validator = require("jsonschema.validators").Draft202012Validator(SCHEMA)
    validate: Callable[[Any], None] = validator.validate
    return validate


def exported(torch: Any, path: Path, **settings: Any) -> Any:
    """The content of the file of a training step with a labelled block."""
    step = classifier(torch)
    step()

    def program() -> None:
        with profiler_of(torch).record_function("a block"):
            step()

    profile_of(torch, program, **settings).export_chrome_trace(str(path))
    content = path.read_bytes()
    return json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_a_file_is_in_the_format(
    torch: Any, check: Callable[[Any], None], tmp_path: Path, settings: dict[str, Any], name: str
) -> None:
    whole = exported(torch, tmp_path / name, **settings)
    check(whole)
    if torch is glasstorch or name == "trace.json":  # PyTorch's is compressed from a file of another name
        assert whole["traceName"] == str(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    phases = {event["ph"] for event in whole["traceEvents"]}
    assert phases == {"X", "M", "i", "s", "f"}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda events: events[-4].pop("dur"),
        lambda events: events[0].update(ph="Q"),
        lambda events: events[0]["args"].update(name=3),
        lambda events: events[-1].pop("s"),
        lambda events: events[-1].update(ts="early"),
        lambda events: events[20].update(cat="of no kind"),
    ],
)
def test_the_schema_finds_what_is_wrong(
    require: Require, check: Callable[[Any], None], tmp_path: Path, spoil: Callable[[Any], object]
) -> None:
    whole = exported(glasstorch, tmp_path / "trace.json")
    check(copy.deepcopy(whole))
    spoil(whole["traceEvents"])
    with pytest.raises(require("jsonschema.exceptions").ValidationError):
        check(whole)


def by_name(whole: Any) -> dict[str, Any]:
    return {event["name"]: event for event in whole["traceEvents"] if event["ph"] == "X"}


def test_events_have_the_keys_that_pytorchs_have(require: Require, tmp_path: Path) -> None:
    theirs, ours = (
        by_name(exported(library, tmp_path / "trace.json", record_shapes=True))
        for library in (require("torch"), glasstorch)
    )
    shared = theirs.keys() & ours.keys()
    assert len(shared) > 30
    for name in shared:
        assert theirs[name].keys() == ours[name].keys(), name
        assert theirs[name]["cat"] == ours[name]["cat"], name
        assert theirs[name].get("args", {}).keys() - ours[name].get("args", {}).keys() <= {"Fwd thread id"}, name
    for name in ("aten::addmm", "aten::linear", "aten::relu", "aten::_log_softmax", "aten::nll_loss_backward"):
        mine, other = (
            {key: value for key, value in events[name]["args"].items() if key not in VARIES}
            for events in (ours, theirs)
        )
        assert mine == other, name


VARIES = ("External id", "Ev Idx", "Sequence number", "Fwd thread id", "Record function id")


def test_arrows_lead_from_forward_calls_to_their_backward_steps(require: Require, tmp_path: Path) -> None:
    def arrows(library: Any) -> list[tuple[str, str]]:
        events = exported(library, tmp_path / "trace.json")["traceEvents"]
        at = {event["ts"]: event["name"] for event in events if event["ph"] == "X"}
        begins = {event["id"]: at[event["ts"]] for event in events if event["ph"] == "s"}
        ends = {event["id"]: at[event["ts"]] for event in events if event["ph"] == "f"}
        assert begins.keys() == ends.keys()
        return sorted((begins[number], ends[number]) for number in begins)

    ours = arrows(glasstorch)
    assert ours == arrows(require("torch"))
    assert ("aten::addmm", "AddmmBackward0") in ours


def walked_twice(torch: Any, create_graph: bool) -> Callable[[], None]:
    """A program in which a graph is walked twice: as it is, or with a graph made of its first walk."""
    x = torch.ones(3, requires_grad=True)

    def program() -> None:
        loss = (x * x * x).sum()
        if create_graph:
            (grad,) = torch.autograd.grad(loss, x, create_graph=True)
            loss = grad.sum()
        else:
            loss.backward(retain_graph=True)
        loss.backward()

    return program


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_call_whose_graph_is_walked_twice_has_one_whole_arrow(
    require: Require, tmp_path: Path, create_graph: bool
) -> None:
    def arrows(torch: Any) -> list[tuple[Any, Any]]:
        profile = profile_of(torch, walked_twice(torch, create_graph))
        profile.export_chrome_trace(str(tmp_path / "trace.json"))
        events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
        name = {(event["ts"], event["tid"]): event["name"] for event in events if event["ph"] == "X"}
        ends: dict[int, dict[str, str]] = {}
        for event in events:
            if event["ph"] in "sf":
                ends.setdefault(event["id"], {})[event["ph"]] = name[event["ts"], event["tid"]]
        return sorted((both["s"], both["f"]) for both in ends.values())

    ours = arrows(glasstorch)
    assert ours == arrows(require("torch"))
    assert len(ours) == (10 if create_graph else 3)


def test_a_call_lies_inside_the_call_that_made_it_and_inside_the_profile(torch: Any, tmp_path: Path) -> None:
    events = by_name(exported(torch, tmp_path / "trace.json"))

    def inside(one: str, other: str) -> bool:
        first, second = events[one], events[other]
        return bool(second["ts"] <= first["ts"] and first["ts"] + first["dur"] <= second["ts"] + second["dur"] + 0.002)

    assert inside("aten::addmm", "aten::linear")
    assert inside("aten::linear", "a block")
    assert inside("a block", "PyTorch Profiler (0)")
    assert events["a block"]["pid"] == os.getpid()


def test_times_are_those_of_the_clock(tmp_path: Path) -> None:
    before = time.time_ns()
    whole = exported(glasstorch, tmp_path / "trace.json")
    after = time.time_ns()
    began = whole["baseTimeNanoseconds"] + by_name(whole)["a block"]["ts"] * 1000
    second = 1_000_000_000  # clocks may be set while a test runs
    assert before - second < began < after + second


def test_metadata_stands_beside_the_events(torch: Any, tmp_path: Path) -> None:
    profile = profiler_of(torch).profile(record_shapes=True, profile_memory=True)
    profile.preset_metadata_json("before", '{"a": [1, 2]}')
    with profile:
        torch.ones(1)
        profile.add_metadata("said", "a word")
        profile.add_metadata_json("number", "3")
    profile.export_chrome_trace(str(tmp_path / "trace.json"))
    whole = json.loads((tmp_path / "trace.json").read_text())
    wanted = {"before": {"a": [1, 2]}, "said": "a word", "number": 3, "record_shapes": 1, "profile_memory": 1}
    assert {key: whole[key] for key in wanted} == wanted


def test_metadata_that_is_no_json_is_refused_when_it_is_given() -> None:
    profile = glasstorch.profiler.profile()
    for add in (profile.add_metadata_json, profile.preset_metadata_json):
        with pytest.raises(RuntimeError, match=r"expected a value in JSON, got '{'"):
            add("key", "{")


def test_a_text_of_any_characters_stays_what_it_is(tmp_path: Path) -> None:
    said = 'back\\slash, "quote" and ß'
    with glasstorch.profiler.profile() as profile:
        profile.add_metadata("said", said)
        with glasstorch.profiler.record_function(said):
            pass
    profile.export_chrome_trace(str(tmp_path / "trace.json"))
    whole = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))
    assert whole["said"] == said
    assert said in by_name(whole)


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    profile = profile_of(glasstorch, lambda: glasstorch.ones(1))
    with pytest.raises(FileNotFoundError):
        profile.export_chrome_trace(str(tmp_path / "missing" / "trace.json"))
    kept = tmp_path / "trace.json"
    kept.write_text("kept")
    profile._trace_metadata["broken"] = "{"
    with pytest.raises(json.JSONDecodeError):
        profile.export_chrome_trace(str(kept))
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("trace.json", "kept")]


def test_the_moments_of_memory_add_up(torch: Any, tmp_path: Path) -> None:
    events = exported(torch, tmp_path / "trace.json", profile_memory=True)["traceEvents"]
    moments = [event["args"] for event in events if event["name"] == "[memory]"]
    assert {moment["Device Type"] for moment in moments} == {0}
    assert sum(moment["Bytes"] for moment in moments if moment["Bytes"] > 0) > 1000
    assert any(moment["Bytes"] < 0 for moment in moments)


@pytest.mark.parametrize(
    ("value", "text"), [(None, ""), (3, "3"), (-0.1, "-0.10000000000000001"), (True, "True"), ([4, 8], "[4, 8]")]
)
def test_values_are_written_as_by_cpp(value: Any, text: str) -> None:
    assert written(value) == text


def test_a_step_belongs_to_the_last_call_that_expected_its_number() -> None:
    def record(name: str, start: int, sequence: int, scope: int = 0, forward: int = 0) -> Record:
        return Record((name, "", scope), start, start + 1, sequence, 1, forward)

    outer, inner, other = record("outer", 0, 4), record("inner", 1, 4), record("other", 2, 5)
    step, evaluation, leaf = record("step", 8, 4, 1, 1), record("evaluation", 7, 4, 0, 1), record("leaf", 9, -1, 1)
    again = record("step", 12, 4, 1, 1)
    assert forward_of([outer, inner, other, evaluation, step, leaf, again]) == [(inner, step)]
