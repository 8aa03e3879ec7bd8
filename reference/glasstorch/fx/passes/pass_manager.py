"""How are passes over any kind of object put in order?

Mirrors: torch/fx/passes/pass_manager.py

A pass here is a function that takes an object and returns it, changed. `infra/pass_manager.py` is the manager for
modules with graphs; it knows whether a pass changed anything.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from inspect import unwrap
from typing import Any, Concatenate, ParamSpec, TypeVar

from glasstorch.fx.passes._pass_list import Constraint, Pass, PassList
from glasstorch.fx.passes._pass_list import this_before_that_pass_constraint as this_before_that_pass_constraint

__all__ = [
    "PassManager",
    "inplace_wrapper",
    "log_hook",
    "loop_pass",
    "these_before_those_pass_constraint",
    "this_before_that_pass_constraint",
]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

logger = logging.getLogger(__name__)


def inplace_wrapper(fn: Callable[Concatenate[T, P], Any]) -> Callable[Concatenate[T, P], T]:
    """A function that changes its argument, as a pass: the argument is returned."""

    @wraps(fn)
    def wrapped_fn(gm: T, /, *args: P.args, **kwargs: P.kwargs) -> T:
        fn(gm, *args, **kwargs)
        return gm

    return wrapped_fn


def log_hook(fn: Callable[P, R], level: int = logging.INFO) -> Callable[P, R]:
    """The function, whose result is written to the log. Within `inplace_wrapper`, that is the result that it drops."""

    @wraps(fn)
    def wrapped_fn(*args: P.args, **kwargs: P.kwargs) -> R:
        value = fn(*args, **kwargs)
        logger.log(level, "Ran pass %s\t Return value: %s", fn, value)
        return value

    return wrapped_fn


def loop_pass(
    base_pass: Callable[[T], T], n_iter: int | None = None, predicate: Callable[[T], bool] | None = None
) -> Callable[[T], T]:
    """A pass that runs another one `n_iter` times, or as long as `predicate` is true of the object."""
    if (n_iter is None) == (predicate is None):
        raise AssertionError("Exactly one of `n_iter`or `predicate` must be specified.")

    @wraps(base_pass)
    def new_pass(source: T) -> T:
        if predicate is not None:
            while predicate(source):
                source = base_pass(source)
        elif n_iter is not None and n_iter > 0:
            for _ in range(n_iter):
                source = base_pass(source)
        else:
            raise RuntimeError(
                f"loop_pass must be given positive int n_iter (given {n_iter}) xor predicate (given {predicate})"
            )
        return source

    return new_pass


def _validate_pass_schedule_constraint(constraint: Constraint, passes: list[Pass]) -> None:
    """RuntimeError if two passes come in an order that the constraint does not allow."""
    for i, a in enumerate(passes):
        for j, b in enumerate(passes[i + 1 :]):
            if not constraint(a, b):
                raise RuntimeError(
                    f"pass schedule constraint violated. Expected {a} before {b} but found {a} at index {i} and {b} "
                    f"at index{j} in pass list."
                )


def these_before_those_pass_constraint(these: Pass, those: Pass) -> Constraint:
    """The constraint that `these` run before `those`, where both may be wrapped, as `loop_pass` wraps them."""
    return lambda a, b: unwrap(a) != those or unwrap(b) != these


class PassManager(PassList):
    """Runs passes over an object, one after the other; `constraints` say which may run before which."""

    @classmethod
    def build_from_passlist(cls, passes: list[Pass]) -> PassManager:
        """A manager of these passes, without constraints."""
        return PassManager(passes)

    def remove_pass(self, _passes: list[str] | None) -> None:
        """Remove the passes of these names."""
        if _passes is None:
            return
        self.passes = [one for one in self.passes if one.__name__ not in _passes]
        self._validated = False

    def replace_pass(self, _target: Pass, _replacement: Pass) -> None:
        """Let another pass take the place of those that are called as `_target` is."""
        self.passes = [_replacement if one.__name__ == _target.__name__ else one for one in self.passes]
        self._validated = False

    def validate(self) -> None:
        """Raise RuntimeError if the passes, as they stand, break a constraint."""
        if self._validated:
            return
        for constraint in self.constraints:
            _validate_pass_schedule_constraint(constraint, self.passes)
        self._validated = True

    def __call__(self, source: Any) -> Any:
        """What the last pass returns; RuntimeError if a constraint is broken."""
        self.validate()
        for one in self.passes:
            source = one(source)
        return source
