"""What do all schedulers of learning rates share?

Mirrors: torch/optim/lr_scheduler.py (LRScheduler)
"""

from __future__ import annotations

import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.optim.forms import _to_scalar
from glasstorch.optim.optimizer import Optimizer

SEE = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
OVERRIDDEN = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, make sure "
    f"to call `optimizer.step()` before `lr_scheduler.step()`. {SEE}"
)
TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call "
    "them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in "
    f"PyTorch skipping the first value of the learning rate schedule. {SEE}"
)
EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed "
    "form is used instead of the new chainable form, where available. Please open an issue if you are unable to "
    "replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose."
)
UNRESUMABLE = (
    "param 'initial_lr' is not specified in param_groups[{}] when resuming scheduler with last_epoch >= 0.\n"
    "This typically happens when:\n"
    "1. You're trying to resume training from a checkpoint but haven't properly loaded the optimizer state\n"
    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)"
)


class LRScheduler:
    """Sets the learning rates of an optimizer's groups at each `step`; a subclass defines `get_lr`.

    `last_epoch` counts the steps. Rates that are tensors are written to, numbers are replaced.
    """

    _get_lr_called_within_step = False
    _is_initial = False
    _last_lr: list[Any]
    base_lrs: list[Any]

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(UNRESUMABLE.format(number))
        self.base_lrs = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _note_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        """The step at the beginning, which sets the first rates."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take the attributes that `state_dict` gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The rates that the last step has set."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The rates of this step."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_lr()")

    def step(self, epoch: int | None = None) -> None:
        """Go on by one step, or to the step `epoch`, which is deprecated."""
        if self._step_count == 1:
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warnings.warn(OVERRIDDEN, UserWarning, stacklevel=2)
            elif not getattr(self.optimizer, "_opt_called", False):
                warnings.warn(TOO_EARLY, UserWarning, stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        with self._within_step():
            if epoch is None:
                self.last_epoch += 1
                values = self.get_lr()
            else:
                self.last_epoch = epoch
                values = getattr(self, "_get_closed_form_lr", self.get_lr)()
        self._set(values)

    def _set(self, values: list[Any]) -> None:
        for group, lr in zip(self.optimizer.param_groups, values, strict=True):
            set_value(group, "lr", lr)
        self._last_lr = values_of(self.optimizer, "lr")

    @contextmanager
    def _within_step(self) -> Iterator[None]:
        """Within it, `get_lr` is called by a step, and warns of nothing."""
        self._get_lr_called_within_step = True
        try:
            yield
        finally:
            self._get_lr_called_within_step = False

    def _warn_outside_of_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )

    def _current(self) -> list[Any]:
        return values_of(self.optimizer, "lr")

    def _scaled(self, factor: Any) -> list[Any]:
        """The rates that are set now, times a factor."""
        return [group["lr"] * factor for group in self.optimizer.param_groups]


def check_optimizer(optimizer: Any) -> None:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def copied(value: Any) -> Any:
    """A copy of a rate that is a tensor, which a step would write to."""
    return value.clone() if isinstance(value, Tensor) else value


def for_each_group(name: str, optimizer: Optimizer, given: Any) -> list[Any]:
    """An option of each group: a list of them, or one for all."""
    groups = optimizer.param_groups
    if not isinstance(given, list | tuple):
        given = [given] * len(groups)
    elif len(given) != len(groups):
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(given)} values, "
            f"param_groups has {len(groups)}."
        )
    return [copied(value) for value in given]


def values_of(optimizer: Optimizer, key: str) -> list[Any]:
    """An option of all groups."""
    return [copied(group[key]) for group in optimizer.param_groups]


def set_value(group: dict[str, Any], key: str, value: Any) -> None:
    """Change an option of a group; a tensor is written to."""
    if isinstance(group[key], Tensor):
        group[key].fill_(_to_scalar(value))
    else:
        group[key] = value


def state_of_functions(functions: list[Any]) -> list[dict[str, Any] | None]:
    """What is saved of callables: the attributes of objects, and nothing of functions."""
    return [None if isinstance(one, types.FunctionType) else one.__dict__.copy() for one in functions]


def _note_steps(optimizer: Optimizer) -> None:
    """Let the optimizer remember whether it has taken a step."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    step: Callable[..., Any] = optimizer.step.__func__  # type: ignore[attr-defined]
    reference = weakref.ref(optimizer)  # the optimizer must not keep itself alive

    @wraps(step)
    def noted(*args: Any, **kwargs: Any) -> Any:
        self = reference()
        assert self is not None
        self._opt_called = True  # type: ignore[attr-defined]
        return step(self, *args, **kwargs)

    noted._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = noted  # type: ignore[method-assign]


class _LRScheduler(LRScheduler):
    """The former name, for classes that still derive from it; no scheduler of the library is an instance."""
