"""Do data pipes that a program defines behave as PyTorch's base classes make them, and are their promises checked?"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

import glasstorch
from glasstorch.utils.data import DataLoader, IterDataPipe
from tests.data.loaders import QUIET, data_of, plain

pytestmark = QUIET


class Numbers(IterDataPipe[int]):
    """A pipe that can be pickled."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.begun = 0

    def reset(self) -> None:
        self.begun += 1

    def __iter__(self) -> Iterator[int]:
        yield from range(self.count)


@pytest.fixture
def functions(torch: Any) -> Iterator[Any]:
    """`torch.utils.data`; what a test registers is forgotten after it."""
    data = data_of(torch)
    kept = [(kind.functions, dict(kind.functions)) for kind in (data.IterDataPipe, data.MapDataPipe)]
    yield data
    for table, before in kept:
        table.clear()
        table.update(before)


def test_a_class_of_pipes_becomes_a_function_of_others(functions: Any) -> None:
    data = functions

    @data.functional_datapipe("plus_of_a_test")
    class Plus(data.IterDataPipe):  # type: ignore[misc]
        def __init__(self, source: Any, more: int) -> None:
            self.source, self.more = source, more

        def __iter__(self) -> Iterator[int]:
            for sample in self.source:
                yield sample + self.more

    @data.functional_datapipe("negated_of_a_test")
    class Negated(data.MapDataPipe):  # type: ignore[misc]
        def __init__(self, source: Any) -> None:
            self.source = source

        def __getitem__(self, index: int) -> Any:
            return -self.source[index]

    pipe = Plus([1, 2], 10).plus_of_a_test(more=100).plus_of_a_test(0)
    assert (list(pipe), list(pipe), repr(pipe)) == ([111, 112], [111, 112], Plus.__qualname__)
    assert Negated([5]).negated_of_a_test()[0] == 5
    assert "plus_of_a_test" in dir(pipe)
    with pytest.raises(Exception, match="Unable to add DataPipe function name plus_of_a_test as it is already taken"):
        data.functional_datapipe("plus_of_a_test")(Plus)
    with pytest.raises(AttributeError, match="'Plus' object has no attribute 'minus"):
        pipe.minus()
    with pytest.raises((TypeError, AttributeError)):
        data.functional_datapipe("of_no_pipe")(3)
    data.IterDataPipe.register_function("counted", lambda pipe: len(list(pipe)))
    assert pipe.counted() == 2


def test_only_the_last_iterator_is_valid(torch: Any) -> None:
    class Three(data_of(torch).IterDataPipe):  # type: ignore[misc]
        def __iter__(self) -> Iterator[int]:
            yield from range(3)

    pipe = Three()
    first = iter(pipe)
    assert next(first) == 0
    second = iter(pipe)
    assert next(second) == 0
    with pytest.raises(
        RuntimeError, match="This iterator has been invalidated because another iterator has been created"
    ):
        next(first)
    assert list(second) == [1, 2]


@pytest.mark.parametrize("workers", [0, 1])
def test_a_loader_takes_pipes_as_datasets(workers: int) -> None:
    pipe = pickle.loads(pickle.dumps(Numbers(5)))
    loader = DataLoader(pipe, 2, num_workers=workers)
    for _ in range(2):
        assert [plain(batch)[2] for batch in loader] == [[0, 1], [2, 3], [4]]
    assert pipe.begun == (0 if workers else 2)


def test_a_chunk_is_a_list(torch: Any) -> None:
    chunk = data_of(torch).DataChunk(iter([1, 2]))
    assert (chunk, chunk.as_str("  "), list(chunk.raw_iterator()), chunk.items) == ([1, 2], "  [1, 2]", [1, 2], [1, 2])
    assert data_of(torch).DFIterDataPipe()._is_dfpipe()


def test_order_that_is_not_fixed_may_be_refused(torch: Any) -> None:
    data = data_of(torch)

    @data.non_deterministic
    class Any_(data.IterDataPipe):  # type: ignore[misc]
        pass

    def varies(seed: int | None) -> bool:
        return seed is None

    @data.non_deterministic(varies)
    class Seeded(data.IterDataPipe):  # type: ignore[misc]
        def __init__(self, seed: int | None) -> None:
            self.seed = seed

    Any_(), Seeded(None), Seeded(3)
    with data.guaranteed_datapipes_determinism():
        assert Seeded(3).seed == 3
        with pytest.raises(
            TypeError, match="Any_ is non-deterministic, but you set 'guaranteed_datapipes_determinism'"
        ):
            Any_()
        with pytest.raises(TypeError, match="Seeded is non-deterministic with the inputs, but you set"):
            Seeded(None)
    Any_()
    with pytest.raises(
        TypeError, match="Only `IterDataPipe` can be decorated with `non_deterministic`, but int is found"
    ):
        data.non_deterministic(int)
    with pytest.raises(TypeError, match="can not be decorated by non_deterministic"):
        data.non_deterministic(3)
    with pytest.raises(TypeError, match="required to return a boolean value, but <class 'int'> is found"):
        data.non_deterministic(lambda: 3)(data.IterDataPipe)()


def test_samples_of_another_type_are_found() -> None:
    data = data_of(glasstorch)

    class Pairs(data.IterDataPipe[tuple[int, str | None]]):  # type: ignore[misc]
        def __init__(self, samples: list[Any]) -> None:
            self.samples = samples

        @data.runtime_validation
        def __iter__(self) -> Iterator[tuple[int, str | None]]:
            yield from self.samples

    assert list(Pairs([(1, "a"), (2, None)])) == [(1, "a"), (2, None)]
    for wrong in ((1, 2), (1,), [1, "a"], 3):
        with pytest.raises(RuntimeError, match="Expected an instance as subtype of"):
            list(Pairs([wrong]))
        with data.runtime_validation_disabled():
            assert list(Pairs([wrong])) == [wrong]
    with pytest.raises(TypeError, match="Can not decorate function other with 'runtime_validation'"):

        @data.runtime_validation
        def other() -> None: ...


@pytest.mark.parametrize(
    ("hint", "right", "wrong"),
    [
        (list[int], [[], [1, 2]], [["a"], (1,), None]),
        (dict[str, int], [{}, {"a": 1}], [{"a": "b"}, {1: 1}]),
        (tuple[int, ...], [(), (1, 2)], [(1, "a"), [1]]),
        (int | str, [1, "a"], [1.5, None]),
        (object, [1, None], []),
        (Any, [1, None], []),
    ],
)
def test_types_go_as_deep_as_they_are_declared(hint: Any, right: list[Any], wrong: list[Any]) -> None:
    data = data_of(glasstorch)

    class Typed(data.IterDataPipe[hint]):  # type: ignore[misc, valid-type]
        def __init__(self, sample: Any) -> None:
            self.sample = sample

        @data.runtime_validation
        def __iter__(self) -> Iterator[Any]:
            yield self.sample

    class Derived(Typed):
        pass

    for sample in right:
        assert list(Derived(sample)) == [sample]
    for sample in wrong:
        with pytest.raises(RuntimeError, match="Expected an instance as subtype of"):
            list(Derived(sample))


def test_arguments_must_be_pipes_of_the_declared_samples() -> None:
    data = data_of(glasstorch)

    class Texts(data.IterDataPipe[str]):  # type: ignore[misc]
        pass

    class Whatever(data.IterDataPipe[int | bool]):  # type: ignore[misc]
        pass

    def takes(hint: Any) -> Any:
        def function(pipe: Any, other: int = 3) -> str:
            return "taken"

        function.__annotations__["pipe"] = hint
        return data.argument_validation(function)

    pipe = data.IterDataPipe
    for hint, given, accepted in (
        (pipe[str], Texts(), True),
        (pipe[int], Texts(), False),
        (pipe[int], Whatever(), True),
        (pipe[int | str], Texts(), True),
        (pipe[object], Texts(), True),
        (pipe[Any], Texts(), True),
        (pipe, Texts(), True),
        (pipe[str], [1], False),
        (int, [1], True),
    ):
        with (
            contextlib.nullcontext()
            if accepted
            else pytest.raises(TypeError, match=r"Expected (type of )?argument 'pipe'")
        ):
            assert takes(hint)(given) == "taken"


def test_pipes_that_are_left_out_say_so() -> None:
    message = r"torch.utils.data.datapipes.iter is left out of glasstorch, because PyTorch has given up its data pipes"
    with pytest.raises(AttributeError, match=message):
        data_of(glasstorch).datapipes.iter()
