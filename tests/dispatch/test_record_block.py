"""Does a labelled block have a record, nested as the program is, and cost nothing while nobody records?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from glasstorch.dispatch.record_block import recorded_as
from tests.profiler.programs import profile_of, profiler_of


def tree(profile: Any) -> list[tuple[str, str]]:
    """The blocks, each with what it lies in."""
    return [(e.name, e.cpu_parent.name if e.cpu_parent else "") for e in profile.events() if e.is_user_annotation]


def test_blocks_nest(torch: Any) -> None:
    block = profiler_of(torch).record_function

    def program() -> None:
        with block("outer"), block("inner"):
            torch.ones(2)
        with block("after"):
            pass

    profile = profile_of(torch, program)
    assert tree(profile) == [("outer", ""), ("inner", "outer"), ("after", "")]
    assert {e.cpu_parent.name for e in profile.events() if e.name == "aten::ones"} == {"inner"}


def test_a_decorated_function_is_a_block_at_each_call(torch: Any) -> None:
    block = profiler_of(torch).record_function

    @block("once")
    def once() -> int:
        return 1

    @block("twice")
    def twice() -> int:
        torch.ones(1)
        return once() + once()

    assert once.__name__ == "once"
    assert tree(profile_of(torch, twice)) == [("twice", ""), ("once", "twice"), ("once", "twice")]
    assert twice() == 2


def test_a_block_ends_with_an_error(torch: Any) -> None:
    block = profiler_of(torch).record_function

    def program() -> None:
        with pytest.raises(ValueError, match="on purpose"), block("fails"):
            raise ValueError("on purpose")
        with block("after"):
            pass

    assert tree(profile_of(torch, program)) == [("fails", ""), ("after", "")]


def test_one_object_may_be_open_twice() -> None:
    import glasstorch

    block = profiler_of(glasstorch).record_function("again")

    def program() -> None:
        with block:
            assert block.record is not None
            with profiler_of(glasstorch).record_function("between"), block:
                pass

    assert tree(profile_of(glasstorch, program)) == [("again", ""), ("between", "again"), ("again", "between")]
    with block:
        assert block.record is None


def test_a_block_that_begins_before_the_profile_is_not_in_it() -> None:
    import glasstorch

    profiler = profiler_of(glasstorch)
    with profiler.record_function("around"), profiler.profile() as profile:
        glasstorch.ones(1)
    assert tree(profile) == []


def test_a_block_that_outlasts_the_profile_ends_with_it() -> None:
    import glasstorch

    profiler = profiler_of(glasstorch)
    profile = profiler.profile()
    profile.start()
    with profiler.record_function("beyond"):
        profile.stop()
    (event,) = profile.events()
    assert event.name == "beyond"
    assert event.cpu_time_total > 0


def test_a_label_must_be_a_text(torch: Any) -> None:
    if torch.__name__ == "glasstorch":
        with pytest.raises(TypeError, match="expected a name, got int"):
            profiler_of(torch).record_function(3)
    else:
        with pytest.raises(Exception, match="name"):
            profiler_of(torch).record_function(3).__enter__()


def test_the_name_of_a_function_that_records_itself_is_asked_only_then() -> None:
    import glasstorch

    asked: list[int] = []

    @recorded_as(lambda number: asked.append(number) or f"call {number}")
    def function(number: int) -> int:
        return number

    assert function(1) == 1
    assert asked == []
    assert tree(profile_of(glasstorch, lambda: function(2))) == [("call 2", "")]
    assert asked == [2]


def test_the_time_that_batches_take_to_come_is_recorded(torch: Any) -> None:
    loader = import_module(f"{torch.__name__}.utils.data").DataLoader(torch.ones(4, 2), batch_size=2)
    profile = profile_of(torch, lambda: [batch.neg() for batch in loader])
    inside = {event.name: event.cpu_parent and event.cpu_parent.name for event in profile.events()}
    name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    assert (inside["aten::stack"], inside["aten::neg"]) == (name, None)
    assert [row for row, _ in tree(profile) if row.startswith("enumerate")] == [name] * 3


def test_steps_of_optimizers_are_blocks_of_pytorchs_names(torch: Any) -> None:
    parameter = torch.ones(2, requires_grad=True)
    (parameter * 2).sum().backward()
    optimizer = torch.optim.SGD([parameter], lr=0.1)

    class Mine(torch.optim.Adam):  # type: ignore[name-defined, misc]
        pass

    def program() -> None:
        optimizer.step()
        Mine([parameter]).step()
        optimizer.zero_grad()

    names = [name for name, _ in tree(profile_of(torch, program))]
    assert names == ["Optimizer.step#SGD.step", "Optimizer.step#Mine.step", "Optimizer.zero_grad#SGD.zero_grad"]
