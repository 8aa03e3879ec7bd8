"""In which order do passes run, and how often?

Mirrors: torch/fx/passes/infra/pass_manager.py
"""

from __future__ import annotations

import inspect
import logging
from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import Any

from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.passes._pass_list import Constraint, Pass, PassList
from glasstorch.fx.passes._pass_list import this_before_that_pass_constraint as this_before_that_pass_constraint
from glasstorch.fx.passes.infra.pass_base import PassResult
from glasstorch.nn.modules.module import Module

__all__ = ["PassManager", "pass_result_wrapper", "this_before_that_pass_constraint"]

logger = logging.getLogger(__name__)
logger.setLevel(logging.WARNING)


def pass_result_wrapper(fn: Callable[..., Any] | None) -> Callable[..., PassResult | None] | None:
    """A function of a module as a pass: what it returns, or the module itself, becomes a `PassResult`.

    Such a pass always counts as having changed the module, unless the function returns a `PassResult` itself. None
    stays None.
    """
    if fn is None:
        return None

    @wraps(fn)
    def wrapped_fn(gm: Module) -> PassResult | None:
        result = fn(gm)
        if result is None:
            return PassResult(gm, True)
        if isinstance(result, PassResult):
            return result
        return PassResult(result, True) if isinstance(result, Module) else None

    if not inspect.isfunction(fn):
        wrapped_fn.__name__ = type(fn).__name__
    return wrapped_fn


def _validate_pass_schedule_constraint(constraint: Constraint, passes: list[Pass]) -> None:
    """RuntimeError if two passes come in an order that the constraint does not allow."""
    for i, a in enumerate(passes):
        for j, b in enumerate(passes[i + 1 :]):
            if not constraint(a, b):
                raise RuntimeError(
                    f"pass schedule constraint violated. Expected {a} before {b} but found {a} at index {i} and {b} "
                    f"at index {j} in pass list."
                )


def _topological_sort_passes(passes: list[Pass], constraints: list[Constraint]) -> list[Pass]:
    """The passes in an order that all constraints allow; RuntimeError if there is none."""
    if not constraints:
        return passes
    later: dict[Pass, list[Pass]] = {one: [] for one in passes}
    missing = dict.fromkeys(passes, 0)
    for a in passes:
        for b in passes:
            broken = 0 if a == b else sum(not constraint(a, b) for constraint in constraints)
            later[b] += [a] * broken
            missing[a] += broken
    ready = deque(one for one in passes if missing[one] == 0)
    ordered = []
    while ready:
        one = ready.popleft()
        ordered.append(one)
        for other in later[one]:
            missing[other] -= 1
            if missing[other] == 0:
                ready.append(other)
    if left := [one for one, count in missing.items() if count]:
        raise RuntimeError(f"Circular dependency detected within the following passes: {left}")
    return ordered


def _name(one: Pass) -> str:
    return one.__name__ if inspect.isfunction(one) else type(one).__name__


class PassManager(PassList):
    """Runs passes, which are functions of a module that give a `PassResult`, until none changes anything.

    They run at most `steps` times. `constraints` say which pass may run before which. With
    `run_checks_after_each_pass`, the function given to `add_checks` is called after each pass as well.
    """

    steps: int = 1

    def __init__(
        self,
        passes: list[Callable[..., PassResult | None]] | None = None,
        constraints: list[Constraint] | None = None,
        steps: int | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
    ) -> None:
        super().__init__(passes, constraints)
        if steps:
            self.steps = steps
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures

    def validate_constraints(self) -> None:
        """Raise RuntimeError if the passes, as they stand, break a constraint."""
        if self._validated:
            return
        for constraint in self.constraints:
            _validate_pass_schedule_constraint(constraint, self.passes)
        self._validated = True

    def solve_constraints(self) -> None:
        """Put the passes in an order that all constraints allow; RuntimeError if there is none."""
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check: Callable[[Module], None]) -> None:
        """Let a function check the module: before the passes, and after each if that was asked for."""
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("PassManager check function should only take in one variable, a module")
        vars(self)["check"] = check

    def check(self, module: Module) -> None:
        """What checks the module: nothing, until `add_checks` is called."""

    def __call__(self, module: Module) -> PassResult:
        """Put the passes in order and run them. An error names the pass, and those that ran before it."""
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        changed = False
        for _ in range(self.steps):
            modified = False
            for i, one in enumerate(self.passes):
                logger.debug("Running pass '%s'", _name(one))
                try:
                    module, changed_by_it = self._run(one, module)
                except Exception as error:
                    before = [_name(other) for other in self.passes[:i]]
                    raise Exception(  # the class that PyTorch raises
                        f"An error occurred when running the '{_name(one)}' pass after the following passes: {before}"
                    ) from error
                modified = modified or changed_by_it
            changed = changed or modified
            if not modified:
                break
        return PassResult(module, changed)

    def _run(self, one: Pass, module: Module) -> tuple[Module, bool]:
        result = one(module)
        if not isinstance(result, PassResult) and not hasattr(result, "graph_module"):
            raise TypeError(
                f"The result of the pass {_name(one)} should be type PassResult."
                "Please wrap it with pass_result_wrapper()"
            )
        made = result.graph_module
        if isinstance(made, GraphModule):
            logger.debug("Graph after pass '%s': %s", _name(one), made.graph)
            made.recompile()
        if self.run_checks_after_each_pass:
            self.check(made)
        return made, result.modified
