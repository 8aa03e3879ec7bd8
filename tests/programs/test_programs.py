"""Do whole programs train as they do with PyTorch, from the same seed?

Losses are compared in three ways. In float64, and in float32 over the first steps, a fixed difference is allowed. After
those, roundings may have grown by what the program itself does with them: what is allowed is three times what PyTorch's
losses differ from each other where it starts from weights that are moved by one rounding each.

A unit that comes within a rounding of ReLU's corner, or two pixels within a rounding of each other in a maximum, send a
program one way or the other, PyTorch's too. Each program has a seed with which it meets none: forty starts moved by a
rounding ended with the same losses to 1e-6.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import glasstorch
from tests.programs.cnn import cnn
from tests.programs.gpt import gpt
from tests.programs.gru import gru
from tests.programs.lstm import lstm
from tests.programs.mlp import mlp
from tests.programs.training import Training
from tests.programs.transformer import transformer
from tests.programs.vae import vae

Require = Callable[[str], Any]
Program = Callable[[Any], Training]
PROGRAMS = [mlp, cnn, lstm, gru, transformer, gpt, vae]
STEPS, FIRST_STEPS = 120, 50
# As a share of the loss, or of one where the loss is smaller.
WITHIN = {"float32": 1e-5, "float64": 1e-9}
ANSWERS_WITHIN = {"float32": 1e-5, "float64": 1e-13}
MOVED = (1, 2, 3)  # seeds of the directions in which weights are moved
every_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
every_dtype = pytest.mark.parametrize("dtype", ["float32", "float64"])


class Record(NamedTuple):
    """What one library did: the state before and after all steps, the losses, the answer, and the place of its random
    stream at the end."""

    start: dict[str, np.ndarray]
    losses: np.ndarray
    end: dict[str, np.ndarray]
    answer: np.ndarray
    stream: bytes


@contextmanager
def default_dtype(library: Any, dtype: str) -> Iterator[None]:
    """Floating-point numbers of a program are of this dtype unless it says otherwise."""
    before = library.get_default_dtype()
    library.set_default_dtype(getattr(library, dtype))
    try:
        yield
    finally:
        library.set_default_dtype(before)


@contextmanager
def one_thread(library: Any) -> Iterator[None]:
    """Threads that wait for each other would take most of the time: the matrices are small."""
    before = library.get_num_threads()
    library.set_num_threads(1)
    try:
        yield
    finally:
        library.set_num_threads(before)


@cache
def train(program: Program, library: Any, dtype: str, moved: int | None = None) -> Record:
    """Take all steps, perhaps from weights that are moved by a rounding."""
    with default_dtype(library, dtype), one_thread(library):
        training = program(library)
        if moved is not None:
            move(training.model, library, moved)
        start = state(training.model)
        losses = np.array([training.step().item() for _ in range(STEPS)])
        end = state(training.model)
        return Record(start, losses, end, evaluated(training), library.get_rng_state().numpy().tobytes())


def move(model: Any, library: Any, seed: int) -> None:
    """Change every weight to a neighbour in its dtype, the larger or the smaller one."""
    random = np.random.default_rng(seed)
    with library.no_grad():
        for weight in model.parameters():
            towards = library.from_numpy(random.choice([-np.inf, np.inf], tuple(weight.shape))).to(weight.dtype)
            weight.copy_(library.nextafter(weight, towards))


def state(model: Any) -> dict[str, np.ndarray]:
    """Copies of a model's parameters and buffers, in its order."""
    return {name: tensor.numpy().copy() for name, tensor in model.state_dict().items()}


def evaluated(training: Training) -> np.ndarray:
    """The answer, without PyTorch's warning that nested tensors, with which it skips padding, are a prototype."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The PyTorch API of nested tensors is in prototype", UserWarning)
        return training.answer().numpy()


def assert_losses_near(ours: np.ndarray, theirs: np.ndarray, allowed: np.ndarray, first: int = 0) -> None:
    """No loss from a step on is further from PyTorch's than what is allowed at its step."""
    for step in range(first, len(theirs)):
        mine, wanted, most = ours[step], theirs[step], allowed[step]
        assert abs(mine - wanted) <= most, f"step {step}: loss {mine}, PyTorch's {wanted}, at most {most:.3g} apart"


def fixed(theirs: np.ndarray, dtype: str) -> np.ndarray:
    """The difference allowed at each step, whatever the program does with roundings."""
    return WITHIN[dtype] * np.maximum(1, np.abs(theirs))


def spread(program: Program, torch: Any) -> np.ndarray:
    """The largest difference up to each step of PyTorch's losses from those with moved weights."""
    theirs = train(program, torch, "float32").losses
    apart = [np.abs(train(program, torch, "float32", moved).losses - theirs) for moved in MOVED]
    return np.maximum.accumulate(np.max(apart, axis=0))


@every_dtype
@every_program
def test_initial_weights_are_torchs_bit_for_bit(program: Program, dtype: str, require: Require) -> None:
    torch = require("torch")
    ours, theirs = train(program, glasstorch, dtype).start, train(program, torch, dtype).start
    assert list(ours) == list(theirs)
    for name, wanted in theirs.items():
        assert (ours[name].dtype, ours[name].shape) == (wanted.dtype, wanted.shape), name
        if name == "positions.waves":  # computed by exp, sin and cos, which differ in roundings, and not drawn
            np.testing.assert_allclose(ours[name], wanted, rtol=0, atol=8 * np.finfo(wanted.dtype).eps)
        else:
            assert ours[name].tobytes() == wanted.tobytes(), name


@every_program
def test_the_first_losses_in_float32_are_torchs(program: Program, require: Require) -> None:
    torch = require("torch")
    ours, theirs = (train(program, library, "float32").losses[:FIRST_STEPS] for library in (glasstorch, torch))
    assert_losses_near(ours, theirs, fixed(theirs, "float32"))


@every_program
def test_later_losses_stay_within_torchs_own_spread(program: Program, require: Require) -> None:
    torch = require("torch")
    ours, theirs = (train(program, library, "float32").losses for library in (glasstorch, torch))
    # Roundings that did not grow are allowed what they are in the first steps.
    allowed = np.maximum(3 * spread(program, torch), fixed(theirs, "float32"))
    assert_losses_near(ours, theirs, allowed, FIRST_STEPS)


@every_program
def test_all_losses_in_float64_are_torchs(program: Program, require: Require) -> None:
    torch = require("torch")
    ours, theirs = (train(program, library, "float64").losses for library in (glasstorch, torch))
    assert_losses_near(ours, theirs, fixed(theirs, "float64"))


@every_program
def test_every_program_learns(program: Program) -> None:
    losses = train(program, glasstorch, "float32").losses
    assert np.isfinite(losses).all()
    assert losses[-20:].mean() < 0.85 * losses[:20].mean()


@every_dtype
@every_program
def test_as_many_random_numbers_are_drawn(program: Program, dtype: str, require: Require) -> None:
    torch = require("torch")
    assert train(program, glasstorch, dtype).stream == train(program, torch, dtype).stream


@every_dtype
@every_program
@pytest.mark.parametrize("to_torch", [True, False], ids=["ours_to_torch", "torchs_to_ours"])
def test_what_one_library_trained_answers_in_the_other(
    program: Program, dtype: str, to_torch: bool, require: Require
) -> None:
    torch = require("torch")
    trained_by, answered_by = (glasstorch, torch) if to_torch else (torch, glasstorch)
    trained = train(program, trained_by, dtype)
    with default_dtype(answered_by, dtype):
        fresh = program(answered_by)
        loaded = fresh.model.load_state_dict(
            {name: answered_by.from_numpy(a.copy()) for name, a in trained.end.items()}
        )
        assert str(loaded) == "<All keys matched successfully>"
        answer = evaluated(fresh)
    assert (answer.dtype, answer.shape) == (trained.answer.dtype, trained.answer.shape)
    within = ANSWERS_WITHIN[dtype]
    np.testing.assert_allclose(answer, trained.answer, rtol=within, atol=within * np.abs(trained.answer).max())


@pytest.mark.parametrize("step", [3, 60])
def test_a_loss_that_is_too_far_is_shown_with_its_step(step: int) -> None:
    theirs = np.ones(STEPS)
    ours = theirs.copy()
    ours[step] += 2e-5
    with pytest.raises(AssertionError, match=rf"step {step}: loss 1.00002, PyTorch's 1.0, at most 1e-05 apart"):
        assert_losses_near(ours, theirs, fixed(theirs, "float32"))
