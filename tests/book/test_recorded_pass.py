"""Do the recorded passes show what the engine did, and what it would do unobserved?"""

from __future__ import annotations

import json
from typing import Any

import pytest

import glasstorch
from glasstorch.autograd import engine
from workbook.book.explorables import engine as engine_runs
from workbook.book.explorables.engine import CALLS, PROGRAMS, built, compact, steps_of
from workbook.book.explorables.recorded_pass import Step, recording

EVERY = [(key, call) for key in PROGRAMS for call in CALLS]


def steps(program: str, call: str) -> list[Step]:
    return steps_of(PROGRAMS[program], CALLS[call])


@pytest.mark.parametrize(("program", "call"), EVERY)
def test_the_gradients_are_those_of_a_run_that_nobody_observes(program: str, call: str) -> None:
    values, _ = built(PROGRAMS[program])
    ends = [step for step in steps(program, call) if step["kind"] in ("done", "fail")]
    for line, step in zip(CALLS[call], ends, strict=True):
        if step["kind"] == "fail":
            with pytest.raises(RuntimeError) as caught:
                exec(line, values)
            assert step["told"].split("raises: ")[1] in str(caught.value)
        else:
            exec(line, values)
        for name, grad in step["grads"].items():
            found = values[name].grad
            assert grad == (str(None) if found is None else f"{found.item():g}")


@pytest.mark.parametrize(("program", "call"), EVERY)
def test_the_node_that_runs_is_the_first_of_the_queue(program: str, call: str) -> None:
    before: Step | None = None
    for step in steps(program, call):
        if step["kind"] in ("run", "fail"):
            assert before is not None
            assert step["node"] == before["ready"][0]
            assert step["ready"] == before["ready"][1:]
            assert before["counts"][before["ready"][0]] == 0, "what runs waits for nothing"
        before = step


@pytest.mark.parametrize("program", PROGRAMS)
def test_at_the_end_every_count_is_zero_and_nothing_is_kept_unless_it_was_asked_for(program: str) -> None:
    freed = next(step for step in steps(program, "freed") if step["kind"] == "done")
    assert set(freed["counts"]) == {0}
    assert freed["kept"] == 0
    assert not any(freed["buffers"])
    assert not freed["ready"]
    first, second = (step for step in steps(program, "kept") if step["kind"] == "done")
    assert first["kept"] > 0
    assert second["kept"] == 0


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_delivery_counts_down_by_one_and_each_count_is_of_edges(program: str) -> None:
    nodes = engine_runs.recorded(PROGRAMS[program])["nodes"]
    before: Step | None = None
    for step in steps(program, "kept"):
        if step["kind"] == "count":
            targets = [edge["to"] for node in nodes for edge in node["edges"] if edge["to"] is not None]
            assert step["counts"] == [targets.count(number) for number in range(len(nodes))]
        if step["kind"] == "deliver":
            assert before is not None
            target = nodes[step["node"]]["edges"][step["edge"]]["to"]
            changed = {
                n: (a, b) for n, (a, b) in enumerate(zip(before["counts"], step["counts"], strict=True)) if a != b
            }
            assert list(changed) == [target]
            assert changed[target][0] - changed[target][1] == 1
            assert step["buffers"][target]
        before = step


def test_the_buffer_of_the_chapters_question_holds_one_three_and_five() -> None:
    held = [step["buffers"][2] for step in steps("meeting", "freed") if step["kind"] == "deliver"]
    assert held[1:4] == [["1"], ["3"], ["5"]]


def test_an_accumulator_goes_before_a_node_that_became_ready_earlier() -> None:
    nodes = engine_runs.recorded(PROGRAMS["leaves"])["nodes"]
    first_pass = steps("leaves", "freed")[:14]
    ran = [nodes[step["node"]]["name"] for step in first_pass if step["kind"] == "run"]
    assert ran[:4] == ["y", "b", "v", "a"]
    assert any([nodes[number]["name"] for number in step["ready"]] == ["v", "a"] for step in first_pass)


def test_a_hook_sees_the_sum_once() -> None:
    told = [step["told"] for step in steps("hook", "freed") if "hook" in step["told"]]
    assert told == [
        "the node of b runs with 40, which a hook made of 4, and gives 80 and nothing; what it had saved is freed"
    ]


def test_a_second_pass_over_a_freed_graph_fails_at_the_first_node_that_had_saved_something() -> None:
    last = steps("meeting", "freed")[-1]
    assert last["kind"] == "fail"
    assert last["told"] == (
        "the node of c is to run, and the engine raises: Trying to backward through the graph a second time"
    )


def test_the_engine_is_left_as_it_was_also_after_an_error() -> None:
    values, names = built(PROGRAMS["chain"])
    plain, applies = engine.GraphTask, [node.apply for node in names]
    with pytest.raises(ZeroDivisionError), recording(names, {}):
        raise ZeroDivisionError
    assert engine.GraphTask is plain
    assert [node.apply for node in names] == applies
    values["y"].backward()
    assert values["w"].grad.item() == -36


def test_the_data_is_the_same_each_time_and_small() -> None:
    first, second = (json.dumps(engine_runs.data(), separators=(",", ":")) for _ in range(2))
    assert first == second
    assert len(first) < 60_000


def test_a_node_frees_all_it_saved_or_nothing_so_that_a_page_needs_to_know_only_which() -> None:
    for program, call in EVERY:
        nodes: Any = engine_runs.recorded(PROGRAMS[program])["nodes"]
        for step in steps(program, call):
            assert all(saved in ([], node["saved"]) for saved, node in zip(step["saved"], nodes, strict=True))
            assert compact(step)["saved"] == [number for number, saved in enumerate(step["saved"]) if saved]


def test_the_figure_tells_each_node() -> None:
    figure = engine_runs.figure()
    assert "b MulBackward0: holds 1, is ready. a MulBackward0: holds 1, waits for 1" in figure.description
    assert figure.description.endswith("In the queue: b.")
    assert figure.svg() == engine_runs.figure().svg()


def test_a_program_is_one_that_a_reader_can_run() -> None:
    for program in PROGRAMS.values():
        values: dict[str, Any] = {"torch": glasstorch}
        for line in program.lines:
            exec(line, values)
        values["y"].backward()
