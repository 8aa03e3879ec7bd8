"""Do schedulers set PyTorch's learning rates, alone, one after the other and at once?"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import same_refusal

Require = Callable[[str], Any]
Make = Callable[[Any, Any], Any]  # of the library and an optimizer


def _halves(epoch: int) -> float:
    return 0.5 ** (epoch // 7)


def _nearly(epoch: int) -> float:
    return 0.99 if epoch % 3 else 1.01


class Scale:
    """A function with a state of its own."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, epoch: int) -> float:
        return self.factor**epoch


def schedulers(library: Any) -> Any:
    return library.optim.lr_scheduler


CASES: dict[str, Make] = {
    "LambdaLR": lambda t, o: schedulers(t).LambdaLR(o, _halves),
    "LambdaLR of each group": lambda t, o: schedulers(t).LambdaLR(o, [_halves, Scale(0.9)]),
    "MultiplicativeLR": lambda t, o: schedulers(t).MultiplicativeLR(o, [_nearly, _nearly]),
    "StepLR": lambda t, o: schedulers(t).StepLR(o, 5, 0.7),
    "MultiStepLR": lambda t, o: schedulers(t).MultiStepLR(o, [3, 9, 9, 40], 0.5),
    "ConstantLR": lambda t, o: schedulers(t).ConstantLR(o, 0.25, 12),
    "LinearLR": lambda t, o: schedulers(t).LinearLR(o, 0.1, 0.8, 30),
    "ExponentialLR": lambda t, o: schedulers(t).ExponentialLR(o, 0.97),
    "PolynomialLR": lambda t, o: schedulers(t).PolynomialLR(o, 50, 1.7),
    "CosineAnnealingLR": lambda t, o: schedulers(t).CosineAnnealingLR(o, 13, 0.01),
    "CosineAnnealingWarmRestarts": lambda t, o: schedulers(t).CosineAnnealingWarmRestarts(o, 5, 2, 0.001),
    "CosineAnnealingWarmRestarts of one length": lambda t, o: schedulers(t).CosineAnnealingWarmRestarts(o, 6),
    "CyclicLR": lambda t, o: schedulers(t).CyclicLR(o, 0.01, [0.5, 0.2], 7, 4),
    "CyclicLR, triangular2": lambda t, o: schedulers(t).CyclicLR(o, 0.01, 0.5, 9, mode="triangular2"),
    "CyclicLR, exp_range": lambda t, o: schedulers(t).CyclicLR(
        o, 0.01, 0.5, 9, mode="exp_range", gamma=0.99, cycle_momentum=False
    ),
    "CyclicLR, scale_fn": lambda t, o: schedulers(t).CyclicLR(
        o, 0.01, 0.5, 9, scale_fn=Scale(0.9), scale_mode="iterations"
    ),
    "OneCycleLR": lambda t, o: schedulers(t).OneCycleLR(o, 0.3, 200),
    "OneCycleLR, linear, three phases": lambda t, o: schedulers(t).OneCycleLR(
        o, [0.3, 0.1], epochs=20, steps_per_epoch=10, anneal_strategy="linear", three_phase=True
    ),
    "SWALR": lambda t, o: t.optim.swa_utils.SWALR(o, [0.05, 0.01], 17),
    "SWALR, linear": lambda t, o: t.optim.swa_utils.SWALR(o, 0.05, 4, "linear"),
    "SWALR at once": lambda t, o: t.optim.swa_utils.SWALR(o, 0.05, 0),
    "SequentialLR": lambda t, o: schedulers(t).SequentialLR(
        o,
        [
            schedulers(t).LinearLR(o, 0.1, total_iters=10),
            schedulers(t).CosineAnnealingLR(o, 40),
            schedulers(t).ExponentialLR(o, 0.9),
        ],
        [10, 60],
    ),
    "ChainedScheduler": lambda t, o: schedulers(t).ChainedScheduler(
        [schedulers(t).ConstantLR(o, 0.1, 8), schedulers(t).ExponentialLR(o, 0.98), schedulers(t).StepLR(o, 30)]
    ),
    "chains within a sequence": lambda t, o: schedulers(t).SequentialLR(
        o,
        [
            schedulers(t).ChainedScheduler([schedulers(t).ExponentialLR(o, 0.9), schedulers(t).ConstantLR(o)]),
            schedulers(t).StepLR(o, 3),
        ],
        [20],
    ),
}


def optimizer(library: Any, kind: str = "SGD", tensor_lr: bool = False) -> Any:
    """Two groups with different rates."""
    rates = [library.tensor(0.5, dtype=library.float64), library.tensor(0.2, dtype=library.float64)]
    groups = [
        {"params": [library.ones(2, requires_grad=True)], "lr": rates[0] if tensor_lr else 0.5},
        {"params": [library.ones(2, requires_grad=True)], "lr": rates[1] if tensor_lr else 0.2},
    ]
    made = getattr(library.optim, kind)(groups, lr=0.1, **({"momentum": 0.9} if kind == "SGD" else {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made.step()
    return made


def walk(library: Any, make: Make, steps: int, **options: Any) -> np.ndarray:
    """All rates and momenta of both groups after each step."""
    moved = optimizer(library, **options)
    places = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # chains within a sequence begin with a second step
        scheduler = make(library, moved)
        for _ in range(steps):
            places.append(numbers(moved, scheduler))
            moved.step()
            scheduler.step()
    return np.array(places)


def numbers(moved: Any, scheduler: Any) -> list[float]:
    found = [float(group["lr"]) for group in moved.param_groups]
    assert found == [float(lr) for lr in scheduler.get_last_lr()]
    return found + [float(group.get("momentum", group.get("betas", [0])[0])) for group in moved.param_groups]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_sets_pytorchs_rates_for_200_steps(name: str, kind: str, require: Require) -> None:
    torch = require("torch")
    expected = walk(torch, CASES[name], 200, kind=kind)
    np.testing.assert_array_equal(walk(glasstorch, CASES[name], 200, kind=kind), expected)


@pytest.mark.parametrize("name", [name for name in CASES if name != "LambdaLR of each group"])
def test_writes_to_rates_that_are_tensors(name: str, require: Require) -> None:
    torch = require("torch")
    expected = walk(torch, CASES[name], 60, tensor_lr=True)
    np.testing.assert_allclose(walk(glasstorch, CASES[name], 60, tensor_lr=True), expected, rtol=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_random_chains_set_pytorchs_rates(seed: int, require: Require) -> None:
    """Schedulers of every kind at once, one after the other or both, which take over each other's state on the way."""
    torch = require("torch")
    rng = np.random.default_rng(seed)
    plan = chain_of(rng, deep=2)
    handed_over = {int(step) for step in rng.integers(0, 200, 2)}
    libraries = (glasstorch, torch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # chains within a sequence begin with a second step
        pairs = [placed(library, plan) for library in libraries]
        for step in range(200):
            if step in handed_over:
                saved = [(s.state_dict(), o.state_dict()["param_groups"]) for o, s in reversed(pairs)]
                pairs = [placed(library, plan) for library in libraries]
                for (moved, scheduler), (state, groups) in zip(pairs, saved, strict=True):
                    scheduler.load_state_dict(copy.deepcopy(state))
                    moved.load_state_dict({"state": {}, "param_groups": copy.deepcopy(groups)})
            mine, theirs = (numbers(moved, scheduler) for moved, scheduler in pairs)
            assert mine == theirs, (step, handed_over, plan)
            for moved, scheduler in pairs:
                moved.step()
                scheduler.step()


def chain_of(rng: np.random.Generator, deep: int) -> Any:
    """Names of cases, and milestones where they come one after the other; a chain may stand in the place of a name.

    In a sequence it stands first: PyTorch cannot begin with a chain at a milestone.
    """
    names = [name for name in CASES if name not in ("ChainedScheduler", "SequentialLR", "chains within a sequence")]
    count = int(rng.integers(2, 5))
    chosen: list[Any] = [str(name) for name in rng.choice(names, count, replace=False)]
    milestones = sorted(int(m) for m in rng.choice(np.arange(1, 150), count - 1, replace=False))
    in_turn = bool(rng.integers(2))
    if deep > 1 and rng.random() < 0.5:
        chosen[0 if in_turn else int(rng.integers(count))] = chain_of(rng, deep - 1)
    return chosen, milestones if in_turn else None


def built(library: Any, moved: Any, plan: Any) -> Any:
    """The scheduler of a case or of a chain of them."""
    if isinstance(plan, str):
        return CASES[plan](library, moved)
    chosen, milestones = plan
    made = [built(library, moved, one) for one in chosen]
    if milestones is None:
        return schedulers(library).ChainedScheduler(made, moved)
    return schedulers(library).SequentialLR(moved, made, milestones)


def placed(library: Any, plan: Any) -> tuple[Any, Any]:
    """A new optimizer with its scheduler."""
    moved = optimizer(library)
    return moved, built(library, moved, plan)


def test_a_chain_cannot_begin_at_a_milestone_in_pytorch_either(torch: Any) -> None:
    scheduler = built(torch, optimizer(torch), (["StepLR", (["ExponentialLR", "ConstantLR"], None)], [1]))
    scheduler.optimizer.step()
    with pytest.raises(NotImplementedError):
        scheduler.step()


def test_falls_on_a_plateau_as_in_pytorch(require: Require) -> None:
    torch = require("torch")
    for seed in range(60):
        rng = np.random.default_rng(seed)
        options = {
            "mode": str(rng.choice(["min", "max"])),
            "factor": float(rng.uniform(0.1, 0.9)),
            "patience": int(rng.integers(0, 6)),
            "threshold": float(rng.choice([1e-4, 0.1])),
            "threshold_mode": str(rng.choice(["rel", "abs"])),
            "cooldown": int(rng.integers(0, 4)),
            "min_lr": [0.01, 0.001] if seed % 2 else 0.0,
        }
        losses = np.cumsum(rng.standard_normal(80) * 0.1) + 3
        found = []
        for library in (glasstorch, torch):
            moved = optimizer(library)
            scheduler = schedulers(library).ReduceLROnPlateau(moved, **options)
            places = []
            for loss in losses:
                scheduler.step(library.tensor(loss))
                places.append([*numbers(moved, scheduler), scheduler.best, scheduler.num_bad_epochs])
                places[-1] += [scheduler.cooldown_counter, scheduler.in_cooldown]
            found.append(np.array(places))
        np.testing.assert_array_equal(*found, str(options))


@pytest.mark.parametrize("name", [name for name in CASES if "chains" not in name])
def test_goes_on_from_a_state_dict(name: str, require: Require) -> None:
    torch = require("torch")
    found = []
    for library in (glasstorch, torch):
        first, second = optimizer(library), optimizer(library)
        before = CASES[name](library, first)
        for _ in range(23):
            first.step()
            before.step()
        state, groups = copy.deepcopy(before.state_dict()), copy.deepcopy(first.state_dict())
        assert "optimizer" not in state
        after = CASES[name](library, second)
        after.load_state_dict(state)
        second.load_state_dict(groups)
        places = []
        for _ in range(30):
            second.step()
            after.step()
            places.append(numbers(second, after))
        found.append(np.array(places))
        assert {"_last_lr"} <= set(state)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("name", ["StepLR", "MultiStepLR", "LinearLR", "CosineAnnealingLR", "ExponentialLR"])
def test_goes_to_a_step_by_the_closed_form(name: str, require: Require) -> None:
    torch = require("torch")
    found = []
    for library in (glasstorch, torch):
        moved = optimizer(library)
        scheduler = CASES[name](library, moved)
        moved.step()
        places = []
        for epoch in (3, 17, 4, 60):
            with pytest.warns(UserWarning, match="The epoch parameter in `scheduler.step\\(\\)` was not necessary"):
                scheduler.step(epoch)
            places.append(numbers(moved, scheduler))
        found.append(np.array(places))
    np.testing.assert_array_equal(*found)


def test_restarts_at_a_fraction_of_a_step(require: Require) -> None:
    torch = require("torch")
    found = []
    for library in (glasstorch, torch):
        moved = optimizer(library)
        scheduler = schedulers(library).CosineAnnealingWarmRestarts(moved, 5, 2)
        places = []
        for epoch in np.linspace(0, 40, 97):
            scheduler.step(float(epoch))
            places.append([*numbers(moved, scheduler), scheduler.T_i, scheduler.T_cur])
        found.append(np.array(places))
    np.testing.assert_array_equal(*found)


def test_resumes_at_the_step_it_is_told(require: Require) -> None:
    torch = require("torch")
    for make in (
        lambda t, o: schedulers(t).CosineAnnealingLR(o, 20, last_epoch=7),
        lambda t, o: schedulers(t).LinearLR(o, 0.5, total_iters=20, last_epoch=7),
        lambda t, o: schedulers(t).ExponentialLR(o, 0.9, last_epoch=7),
    ):
        found = []
        for library in (glasstorch, torch):
            moved = optimizer(library)
            for group in moved.param_groups:
                group["initial_lr"] = 0.8
            found.append([make(library, moved).get_last_lr()])
        assert found[0] == found[1]
    same_refusal(torch, lambda t: schedulers(t).StepLR(optimizer(t), 3, last_epoch=4))


def test_warns_as_pytorch_does(torch: Any) -> None:
    moved = optimizer(torch)
    scheduler = schedulers(torch).ExponentialLR(moved, 0.9)
    with pytest.warns(UserWarning, match=r"Detected call of `lr_scheduler.step\(\)` before `optimizer.step\(\)`"):
        scheduler.step()
    with pytest.warns(UserWarning, match=r"please use `get_last_lr\(\)`"):
        scheduler.get_lr()
    other = optimizer(torch)
    scheduler = schedulers(torch).ExponentialLR(other, 0.9)
    other.step = lambda: None
    with pytest.warns(UserWarning, match=r"Seems like `optimizer.step\(\)` has been overridden"):
        scheduler.step()


def test_an_optimizer_with_a_scheduler_can_be_copied(torch: Any) -> None:
    moved = optimizer(torch)
    schedulers(torch).ExponentialLR(moved, 0.9)
    again = copy.deepcopy(moved)
    again.step()
    assert [group["lr"] for group in again.param_groups] == [0.5, 0.2]


REFUSED: list[Callable[[Any], Any]] = [
    lambda t: schedulers(t).StepLR(3, 1),
    lambda t: schedulers(t).LambdaLR(optimizer(t), [_halves]),
    lambda t: schedulers(t).MultiplicativeLR(optimizer(t), [_halves]),
    lambda t: schedulers(t).MultiplicativeLR(optimizer(t), [1, 2]),
    lambda t: schedulers(t).SequentialLR(optimizer(t), [], []),
    lambda t: schedulers(t).ChainedScheduler([]),
    lambda t: schedulers(t).SequentialLR(optimizer(t), [3], []),
    lambda t: schedulers(t).ChainedScheduler([3], optimizer(t)),
    lambda t: schedulers(t).ReduceLROnPlateau(optimizer(t), factor=1.0),
    lambda t: schedulers(t).ReduceLROnPlateau(optimizer(t), mode="least"),
    lambda t: schedulers(t).ReduceLROnPlateau(optimizer(t), threshold_mode="share"),
    lambda t: schedulers(t).ReduceLROnPlateau(optimizer(t), min_lr=[1.0]),
    lambda t: schedulers(t).ReduceLROnPlateau(3),
    lambda t: schedulers(t).CyclicLR(3, 0.1, 0.2),
    lambda t: schedulers(t).CyclicLR(optimizer(t), [0.1], 0.2),
    lambda t: schedulers(t).CyclicLR(optimizer(t), 0.1, 0.2, mode="square"),
    lambda t: schedulers(t).CyclicLR(optimizer(t, "Adagrad"), 0.1, 0.2),
    lambda t: schedulers(t).CosineAnnealingWarmRestarts(optimizer(t), 0),
    lambda t: schedulers(t).CosineAnnealingWarmRestarts(optimizer(t), 5, 0.5),
    lambda t: schedulers(t).CosineAnnealingWarmRestarts(optimizer(t), 5, eta_min="0"),
    lambda t: schedulers(t).CosineAnnealingWarmRestarts(optimizer(t), 5).step(-1),
    lambda t: schedulers(t).OneCycleLR(optimizer(t), 0.1),
    lambda t: schedulers(t).OneCycleLR(optimizer(t), 0.1, 0),
    lambda t: schedulers(t).OneCycleLR(optimizer(t), 0.1, epochs=3, steps_per_epoch=-1),
    lambda t: schedulers(t).OneCycleLR(optimizer(t), 0.1, 10, pct_start=2),
    lambda t: schedulers(t).OneCycleLR(optimizer(t), 0.1, 10, anneal_strategy="square"),
    lambda t: schedulers(t).OneCycleLR(optimizer(t, "Adagrad"), 0.1, 10),
    lambda t: [schedulers(t).OneCycleLR(optimizer(t), 0.1, 1)].pop()._update_lr(2),
    lambda t: t.optim.swa_utils.SWALR(optimizer(t), [0.1]),
    lambda t: t.optim.swa_utils.SWALR(optimizer(t), 0.1, anneal_strategy="square"),
    lambda t: t.optim.swa_utils.SWALR(optimizer(t), 0.1, -1),
    lambda t: schedulers(t).SequentialLR(
        (o := optimizer(t)), [schedulers(t).StepLR(o, 1), schedulers(t).StepLR(o, 1)], []
    ),
    lambda t: schedulers(t).ChainedScheduler([schedulers(t).ReduceLROnPlateau(optimizer(t))]),
    lambda t: schedulers(t).ConstantLR(optimizer(t), 2),
    lambda t: schedulers(t).LinearLR(optimizer(t), 0),
    lambda t: schedulers(t).LinearLR(optimizer(t), end_factor=2),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refuses_what_pytorch_refuses(number: int, require: Require) -> None:
    same_refusal(require("torch"), REFUSED[number])


def test_a_scheduler_of_one_s_own_defines_get_lr(torch: Any) -> None:
    class Square(schedulers(torch).LRScheduler):  # type: ignore[misc]
        def get_lr(self) -> list[float]:
            return [base * self.last_epoch**2 for base in self.base_lrs]

    scheduler = Square(optimizer(torch))
    assert scheduler.get_last_lr() == [0, 0]
    scheduler.optimizer.step()
    scheduler.step()
    scheduler.step()
    assert scheduler.get_last_lr() == [0.5 * 4, 0.2 * 4]
    assert math.isclose(scheduler.optimizer.param_groups[0]["lr"], 2.0)
