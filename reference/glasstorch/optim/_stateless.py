"""How does an optimizer step on other parameters for a while?

Mirrors: torch/optim/_stateless.py
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.optim.optimizer import Optimizer

NAME = "swap_in_optimizer_params_and_state"


@contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: dict[str, Tensor], swapin_optim_state: dict[str, Any]
) -> Iterator[None]:
    """Inside the block the optimizer has these parameters, and the state and groups of this `state_dict()`.

    The parameters come in the order of the groups; their names are not read. A step writes into the given tensors,
    parameters and state alike; what else it puts into the state is dropped. At the end the optimizer has what it had.
    Raises RuntimeError, and changes nothing, where the optimizer has no state yet or what is given does not fit it.
    """
    if not optimizer.state:
        raise RuntimeError(f"{NAME} requires initialized optimizer state.")
    if not isinstance(swapin_optim_state, dict):
        raise RuntimeError(f"{NAME} requires a DCP-style optimizer state_dict.")
    state = _state_by_number(swapin_optim_state.get("state"))
    groups = _as_many_groups(swapin_optim_state.get("param_groups"), optimizer)
    numbers = [_numbers_of(i, *pair) for i, pair in enumerate(zip(optimizer.param_groups, groups, strict=True))]
    parameters = _in_groups(list(swapin_parameters.values()), numbers)
    known = {number for group in numbers for number in group}
    if unknown := [number for number in state if number not in known]:
        raise RuntimeError(
            f"{NAME} requires swapin_optim_state['state'] to be keyed only by packed parameter ids from "
            f"param_groups[*]['params']; got extra keys {unknown!r}."
        )

    before = optimizer.state, [dict(group) for group in optimizer.param_groups]
    try:
        swapped: defaultdict[Tensor, Any] = defaultdict(dict)
        for group, given, tensors in zip(optimizer.param_groups, groups, parameters, strict=True):
            swapped.update({t: dict(state.get(n, {})) for t, n in zip(tensors, given["params"], strict=True)})
            group.update(given, params=tensors)
        optimizer.state = swapped
        yield
    finally:
        optimizer.state = before[0]
        for group, kept in zip(optimizer.param_groups, before[1], strict=True):
            group.clear()
            group.update(kept)


def _state_by_number(state: Any) -> dict[Any, Any]:
    """The state of each parameter by its number, as `state_dict()` has it."""
    if not isinstance(state, dict):
        raise RuntimeError(
            f"{NAME} requires swapin_optim_state['state'] to be a dict mapping packed parameter ids to per-param state "
            f"dicts, got {type(state).__name__}."
        )
    if any(isinstance(key, Tensor) for key in state):
        raise RuntimeError(f"{NAME} requires optimizer.state_dict()-style state keyed by packed parameter ids.")
    if any(isinstance(key, int) and not isinstance(value, dict) for key, value in state.items()):
        raise RuntimeError(f"{NAME} requires per-parameter optimizer state entries to be dictionaries.")
    return state


def _as_many_groups(groups: Any, optimizer: Optimizer) -> list[Any]:
    if not isinstance(groups, list):
        raise RuntimeError(
            f"{NAME} requires swapin_optim_state['param_groups'] to be a list of param-group dicts, got "
            f"{type(groups).__name__}."
        )
    if len(groups) != len(optimizer.param_groups):
        raise RuntimeError("swapin_optim_state has a different number of parameter groups than the live optimizer.")
    return groups


def _numbers_of(index: int, group: dict[str, Any], given: Any) -> list[int]:
    """The numbers of the parameters in a given group, which has the options of the optimizer's own."""
    if not isinstance(given, dict):
        raise RuntimeError(f"{NAME} requires each optimizer param group to be a dictionary.")
    numbers = given.get("params")
    if not isinstance(numbers, list) or not all(isinstance(number, int) for number in numbers):
        raise RuntimeError(
            f"{NAME} requires optimizer.state_dict()-style param_groups[*]['params'] entries keyed by packed parameter "
            "ids."
        )
    if len(numbers) != len(group["params"]):
        raise RuntimeError(
            f"swapin_optim_state param group {index} has a different number of params than the live optimizer param "
            "group."
        )
    if given.keys() != group.keys():
        raise RuntimeError(
            f"{NAME} requires optimizer.state_dict()-style param group keys to exactly match the live optimizer group "
            f"keys for group {index}. Keys only in swap-in: {[key for key in given if key not in group]}. "
            f"Keys only in live: {[key for key in group if key not in given]}."
        )
    return numbers


def _in_groups(parameters: list[Tensor], numbers: list[list[int]]) -> list[list[Tensor]]:
    """The given parameters, as many to each group as it has numbers."""
    if sum(map(len, numbers)) > len(parameters):
        raise RuntimeError(f"{NAME} requires the explicit parameter state to match optimizer.param_groups ordering.")
    rest = iter(parameters)
    return [[next(rest) for _ in group] for group in numbers]
