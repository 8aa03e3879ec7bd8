"""Does each arrow begin at the call that created the node, and end at the node's first step?"""

from collections.abc import Callable, Sequence
from typing import Any, cast

import glasstorch as torch
from glasstorch.dispatch.record import BACKWARD_FUNCTION, FUNCTION, Record
from glasstorch.nn import functional
from glasstorch.profiler import profile, record_function
from workbook.exercises.asking import Ask, Came, expect

LAST = "a call that creates a node uses the number up, so that calls which begin later have a larger one"
Names = list[tuple[str, str]]


def recorded(program: Callable[[], object]) -> list[Record]:
    """The records of a profile of a program."""
    with profile() as prof:
        program()
    records: list[Record] = cast(Any, prof).profiler.kineto_results.records
    return records


def told(record: Record) -> str:
    """A record as text: its name, its thread and its number."""
    behind = f" of thread {record.forward_thread}" if record.forward_thread else ""
    return f"{record.name} in thread {record.thread}, number {record.sequence}{behind}"


def judge(ask: Ask, records: Sequence[Record], accepted: list[tuple[int, int]], because: str) -> None:
    """Judge the arrows between some records; accepted are pairs of their places."""
    numbered = [f"[{place}] {told(record)}" for place, record in enumerate(records) if record.sequence >= 0]
    question = f"the arrows between records with a number, {'; '.join(numbered) or 'of which none exist'}"
    expect(placed(ask("arrows", records), records), accepted, asked=question, because=because)


def judge_names(ask: Ask, program: Callable[[], object], accepted: Names, because: str) -> None:
    """Judge the arrows in the profile of a program; accepted are pairs of names of calls and steps."""
    records = recorded(program)
    came = placed(ask("arrows", records), records)
    if isinstance(came, list):
        came = [(records[first].name, records[second].name) for first, second in came]
    question = "the arrows of a profile with the records " + ", ".join(
        f"{record.name} ({record.sequence})" for record in records if record.sequence >= 0
    )
    expect(came, accepted, asked=question, because=because)


def placed(came: Came, records: Sequence[Record]) -> object:
    """Pairs of records as pairs of their places; anything else as it is."""
    value = came.value
    places = {id(record): place for place, record in enumerate(records)}
    pairs = isinstance(value, list) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value)
    if pairs and all(id(record) in places for pair in value for record in pair):
        return [(places[id(first)], places[id(second)]) for first, second in value]
    return value


def call(name: str, times: tuple[int, int], sequence: int, thread: int = 1) -> Record:
    """A call of an operator."""
    return Record((f"aten::{name}", "", FUNCTION), *times, sequence, thread)


def step(
    name: str, times: tuple[int, int], sequence: int, threads: tuple[int, int] = (1, 1), scope: int = BACKWARD_FUNCTION
) -> Record:
    """A backward step in the first of the threads, of a node that was created in the second."""
    return Record((name, "", scope), *times, sequence, *threads)


def leaf() -> torch.Tensor:
    return torch.ones(3, 3, requires_grad=True)


def test_calls_that_make_a_node_each(ask: Ask) -> None:
    """the arrows of a program in which each call creates a node"""

    def program() -> None:
        x = leaf()
        (x.exp() * x.sin() * x.exp()).sum().backward()

    names = ["sum", "mul", "exp", "mul", "sin", "exp"]
    steps = ["Sum", "Mul", "Exp", "Mul", "Sin", "Exp"]
    accepted = [(f"aten::{name}", f"{step}Backward0") for name, step in zip(names, steps, strict=True)]
    judge_names(ask, program, accepted, "a step has the number that was the next one when its call began")


def test_calls_inside_calls(ask: Ask) -> None:
    """the arrows of a layer whose operators are called by others"""

    def program() -> None:
        functional.linear(leaf(), leaf(), torch.ones(3, requires_grad=True)).sum().backward()

    accepted = [("aten::sum", "SumBackward0"), ("aten::addmm", "AddmmBackward0"), ("aten::t", "TBackward0")]
    judge_names(ask, program, accepted, LAST)


def test_calls_that_make_no_node(ask: Ask) -> None:
    """the arrows of calls of which some create no node, although gradients are on"""
    for program in (
        [call("eq", (10, 20), 4), call("exp", (30, 31), 4), step("ExpBackward0", (50, 60), 4)],
        [call("eq", (10, 11), 4), call("exp", (30, 40), 4), step("ExpBackward0", (50, 60), 4)],
    ):
        judge(ask, program, [(1, 2)], LAST)
    nested = [
        call("outer", (0, 90), 4),
        call("eq", (10, 15), 4),
        call("inner", (20, 80), 4),
        call("deepest", (30, 70), 4),
        call("below", (40, 50), -1),
        step("DeepestBackward0", (100, 110), 4),
    ]
    judge(ask, nested, [(3, 5)], LAST)


def test_several_steps_of_training(ask: Ask) -> None:
    """the arrows of two training steps, with a block around each"""

    def program() -> None:
        x = leaf()
        for _ in range(2):
            with record_function("step"):
                (x * 2).sum().backward()

    accepted = [("aten::sum", "SumBackward0"), ("aten::mul", "MulBackward0")] * 2
    judge_names(ask, program, accepted, "between the steps, a call began with the next number and created no node")


def test_threads_with_the_same_numbers(ask: Ask) -> None:
    """the arrows of two threads that created nodes with the same number"""
    records = [
        call("exp", (10, 20), 4, thread=1),
        call("sin", (12, 22), 4, thread=2),
        step("SinBackward0", (50, 60), 4, threads=(2, 2)),
        step("ExpBackward0", (55, 65), 4, threads=(1, 1)),
    ]
    judge(ask, records, [(1, 2), (0, 3)], "each thread counts its own nodes")
    elsewhere = [
        call("exp", (10, 20), 4, thread=1),
        call("sin", (12, 22), 4, thread=2),
        step("ExpBackward0", (50, 60), 4, threads=(2, 1)),
        step("SinBackward0", (70, 80), 4, threads=(2, 2)),
    ]
    because = "forward_thread is the thread that created the node; its step may run in another one"
    judge(ask, elsewhere, [(0, 2), (1, 3)], because)


def test_what_the_engine_does_around_a_step(ask: Ask) -> None:
    """the arrows of a backward pass with the records of the engine, which have the node's number as well"""
    records = [
        call("exp", (10, 20), 4),
        step("evaluate_function: ExpBackward0", (50, 70), 4, scope=FUNCTION),
        step("ExpBackward0", (55, 65), 4),
    ]
    judge(ask, records, [(0, 2)], "the engine's record is neither a forward call nor a step, by its fields")


def test_a_graph_that_is_walked_twice(ask: Ask) -> None:
    """the arrows of a graph that is walked twice"""

    def program() -> None:
        y = (leaf() * 2).sum()
        y.backward(retain_graph=True)
        y.backward()

    records = recorded(program)
    names = [record.name for record in records]
    pairs = ("aten::sum", "SumBackward0"), ("aten::mul", "MulBackward0")
    accepted = [(names.index(name), names.index(step)) for name, step in pairs]
    judge(ask, records, accepted, "a call has one arrow, to the first of its node's steps")


def test_nodes_that_a_backward_pass_makes(ask: Ask) -> None:
    """the arrows of a backward pass of a backward pass"""

    def program() -> None:
        x = leaf()
        (grad,) = torch.autograd.grad(x.sin().sum(), x, create_graph=True)
        grad.sum().backward()

    accepted = [
        ("aten::sum", "SumBackward0"),
        ("aten::sin", "SinBackward0"),
        ("aten::sum", "SumBackward0"),
        ("aten::mul", "MulBackward0"),
        ("aten::cos", "CosBackward0"),
    ]
    judge_names(ask, program, accepted, "calls inside a backward step create nodes if its graph is recorded")


def test_what_the_profile_has_not_seen(ask: Ask) -> None:
    """the arrows of a profile that began after some nodes were created, or ended before their steps"""
    y = leaf().exp().sum()

    def program() -> None:
        y.backward()
        leaf().cos()

    judge_names(ask, program, [], "for these nodes only the call or only the step was recorded")
    judge(ask, [], [], "nothing was recorded")
    unseen = [call("eq", (10, 20), -1), step("AccumulateGrad", (30, 40), -1, threads=(1, 1))]
    judge(ask, unseen, [], "-1 is not a number: the call ran without gradients, and no call created the leaf's node")
