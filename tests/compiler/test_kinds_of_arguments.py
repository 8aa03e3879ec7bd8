"""Does a compiled function do what it does in eager mode for arguments of unusual kinds, and after errors?"""

from __future__ import annotations

import dataclasses
import enum
import warnings
from typing import Any

import numpy as np
import pytest

import glasstorch as torch
from tests.compiler.alike import check

BACKENDS = ("eager", "aot_eager", "inductor")


class Number(enum.IntEnum):
    """Its members are integers too."""

    ONE = 1
    TWO = 2


class Text(enum.StrEnum):
    """Its members are texts too."""

    A = "a"
    B = "b"


@pytest.mark.parametrize("given", [(Number.ONE, Number.TWO, 1), (Text.A, Text.B)])
def test_members_of_enumerations_that_are_numbers_or_texts(given: tuple[Any, ...]) -> None:
    def scaled(x: Any, way: Any) -> Any:
        return x * 2 if way == given[0] else x * 3

    run = torch.compile(scaled, backend="eager")
    for way in (*given, *given):
        assert torch.equal(run(torch.ones(2), way), scaled(torch.ones(2), way))


def test_attributes_that_the_program_sets_on_a_tensor() -> None:
    def tagged(x: Any) -> Any:
        return x * getattr(x, "tag", 1), hasattr(x, "tag")

    run = torch.compile(tagged, backend="eager")
    x, other = torch.ones(2), torch.ones(2)
    other.tag = 3
    for tag in (None, 7, None):
        vars(x).clear()
        if tag is not None:
            x.tag = tag
        for given in (x, other):
            found, wanted = run(given), tagged(given)
            assert torch.equal(found[0], wanted[0])
            assert found[1] is wanted[1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_tensors_that_are_kept_negated_conjugated_or_sparse(backend: str) -> None:
    numbers = torch.tensor([1 - 2j, 3 + 4j])
    negated, sparse = numbers.conj().imag, torch.eye(2).to_sparse()
    assert negated.is_neg()
    real = torch.compile(lambda x: x * 2 + 1, backend=backend)
    for x in (negated, negated.clone(), negated):
        assert real(x).tolist() == [5, -7]
    double = torch.compile(lambda x: x * 2, backend=backend)
    for x in (torch.eye(2), sparse):
        assert torch.equal(double(x).to_dense(), 2 * torch.eye(2))
    assert double(numbers.conj()).tolist() == [2 + 4j, 6 - 8j]


def test_new_defaults_of_a_function() -> None:
    def scaled(x: Any, by: int = 2, *, shift: int = 0) -> Any:
        return x * by + shift

    run = torch.compile(scaled, backend="eager")
    assert run(torch.ones(1)).item() == 2
    scaled.__defaults__ = (5,)
    assert run(torch.ones(1)).item() == 5
    scaled.__kwdefaults__ = {"shift": 1}
    assert run(torch.ones(1)).item() == 6


def test_a_function_that_runs_again_after_an_error_draws_its_random_numbers_once() -> None:
    log: list[int] = []

    def picked(x: Any, i: Any) -> Any:
        log.append(1)
        noise = torch.rand(2)
        return x[i] + noise

    run = torch.compile(picked, backend="eager")
    states = []
    for function in (picked, run):
        torch.manual_seed(5)
        with pytest.raises(IndexError):
            function(torch.ones(3), torch.tensor(9))
        states.append(torch.get_rng_state())
    assert torch.equal(*states)
    assert log == [1, 1]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("change", ["masked_fill_", "cumsum_"])
def test_a_transposed_argument_is_copied_by_reshape_after_it_was_written_to(backend: str, change: str) -> None:
    def changed(x: Any) -> Any:
        x.masked_fill_(x > 0, 5) if change == "masked_fill_" else x.cumsum_(0)
        x.reshape(-1)[2:].mul_(2)
        return x * 1

    first, second = (torch.arange(6.0).reshape(2, 3).t() for _ in range(2))
    assert torch.equal(torch.compile(changed, backend=backend)(first), changed(second))
    assert torch.equal(first, second)


def test_a_write_to_a_view_whose_elements_overlap_is_refused() -> None:
    def changed(x: Any) -> Any:
        x.unfold(0, 2, 1).clamp_(min=2)
        return x * 1

    with pytest.raises(RuntimeError, match="a tensor being mutated that has internal overlap"):
        torch.compile(changed, backend="aot_eager")(torch.ones(3))


@pytest.mark.parametrize("function", [lambda x: x.softmax(0) * 2, lambda x: x.var(0), lambda x: x.exp().sum(1)])
def test_a_batch_without_elements(function: Any) -> None:
    run = torch.compile(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the variance of nothing
        for size in (3, 5, 0):
            torch.testing.assert_close(run(torch.ones(size, 2)), function(torch.ones(size, 2)), equal_nan=True)


def relu_of_a_view(x: Any, other: Any) -> Any:
    x.view(-1).relu_()
    return x * other


def row_by_row(x: Any, other: Any) -> Any:
    x[0].mul_(other[1])
    return x * 2


def chosen_elements(x: Any, other: Any) -> Any:
    x[0][x[0] > 1] = 0
    return x - other


def several_views(x: Any, other: Any) -> Any:
    x[0].addcmul_(other[1], other[1])
    x.t()[0].clamp_(min=0)
    return x


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("change", [relu_of_a_view, row_by_row, chosen_elements, several_views])
def test_gradients_through_writes_to_views(backend: str, change: Any) -> None:
    start = torch.tensor([[1.0, -2.0, 3.0], [0.5, 2.0, -1.0]])
    first, second = (start.clone().requires_grad_() for _ in range(2))
    found = torch.compile(lambda x: change(x * 1, x), backend=backend)(first)
    expected = change(second * 1, second)
    found.sum().backward()
    expected.sum().backward()
    assert torch.equal(found, expected)
    assert torch.equal(first.grad, second.grad)


def numbers_of_numpy(t: Any, compiled: Any) -> Any:
    f, x = compiled(lambda x, k: (x * k, k * 2)), t.ones(2)
    numbers = [np.float64(2.5), np.float64(3.5), np.int64(2), np.float32(1.5), np.int32(7), np.bool_(True)]
    return [f(x, number)[0] for number in numbers]


def arrays(t: Any, compiled: Any) -> Any:
    f, x = compiled(lambda x, a: (x + t.from_numpy(a), (a * 2).tolist())), t.ones(2)
    return [f(x, a) for a in (np.ones(2), np.zeros(2), np.ones(2, np.float32), np.arange(4.0)[::2])]


def calls_of_numpy(t: Any, compiled: Any) -> Any:
    def g(x: Any) -> Any:
        y = t.from_numpy(np.sin(x.numpy())) * np.sqrt(4) + np.pi
        return y * sum(int(v) for v in np.arange(3)) + float(np.prod([1, 2, 3]))

    f = compiled(g)
    return [f(t.ones(2)), f(t.zeros(2))]


def an_array_of_the_outside(t: Any, compiled: Any) -> Any:
    shift = np.ones(2, np.float32)

    def g(x: Any, a: Any) -> Any:
        a[0] = 5
        return x + t.from_numpy(shift)

    f, changed = compiled(g), np.zeros(2)
    found = [f(t.ones(2), changed)]
    shift[0] = 7
    return [*found, f(t.ones(2), changed), changed.tolist()]


def records(t: Any, compiled: Any) -> Any:
    f = compiled(lambda r: (r.a * r.k, dataclasses.replace(r, k=9).k, [one.name for one in dataclasses.fields(r)]))
    made = compiled(lambda x: Record(x * 2, 5))(t.ones(2))
    return [f(Record(t.ones(2))), f(Record(t.zeros(2), 3)), f(Record(t.ones(3))), type(made).__name__, made.a, made.k]


@dataclasses.dataclass(frozen=True)
class Record:
    """A frozen record."""

    a: Any
    k: int = 2


@pytest.mark.parametrize("program", [numbers_of_numpy, arrays, calls_of_numpy, an_array_of_the_outside, records])
def test_numbers_and_arrays_of_numpy_and_records(require: Any, program: Any) -> None:
    check(require("torch"), program, ("aot_eager",), graphs=False)
