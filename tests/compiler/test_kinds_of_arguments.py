"""Does a compiled function do what it does in eager mode for arguments of unusual kinds, and after errors?"""

from __future__ import annotations

import enum
from typing import Any

import pytest

import glasstorch as torch

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
