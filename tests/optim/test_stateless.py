"""Does an optimizer step on other parameters, and is it afterwards as it was?"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import assert_same

Require = Callable[[str], Any]
KINDS: dict[str, dict[str, Any]] = {"SGD": {"lr": 0.1, "momentum": 0.9}, "AdamW": {"lr": 0.1}, "RMSprop": {"lr": 0.01}}


def stepped(t: Any, kind: str) -> tuple[Any, Any]:
    """A network of two groups, and its optimizer after one step."""
    t.manual_seed(0)
    network = t.nn.Sequential(t.nn.Linear(3, 2), t.nn.Linear(2, 1))
    groups = [{"params": network[0].parameters()}, {"params": network[1].parameters(), "lr": 0.5}]
    optimizer = getattr(t.optim, kind)(groups, **KINDS[kind])
    network(t.ones(4, 3)).sum().backward()
    optimizer.step()
    return network, optimizer


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_is_taken_on_the_given_tensors_alone(kind: str, require: Require) -> None:
    def program(t: Any) -> list[Any]:
        network, optimizer = stepped(t, kind)
        state, groups = optimizer.state, [group["params"] for group in optimizer.param_groups]
        before = [p.detach().clone() for p in network.parameters()]
        given = {name: (p.detach() + 1).requires_grad_() for name, p in network.named_parameters()}
        for p in given.values():
            p.grad = t.ones_like(p)
        saved = copy.deepcopy(optimizer.state_dict())
        saved["param_groups"][1]["lr"] = 0.25
        with t.optim._stateless.swap_in_optimizer_params_and_state(optimizer, given, saved):
            inside = [group["lr"] for group in optimizer.param_groups]
            optimizer.step()
        return [
            inside,
            [group["lr"] for group in optimizer.param_groups],
            optimizer.state is state,
            [group["params"] is kept for group, kept in zip(optimizer.param_groups, groups, strict=True)],
            [bool((p == old).all()) for p, old in zip(network.parameters(), before, strict=True)],
            [p.tolist() for p in given.values()],
            [[t.as_tensor(value).tolist() for value in of.values()] for of in saved["state"].values()],
        ]

    assert_same(program, require("torch"), within=1e-6)


def changed(**entries: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda saved: {**saved, **entries}


def first_group(**entries: Any) -> Callable[[dict[str, Any]], Any]:
    def change(saved: dict[str, Any]) -> dict[str, Any]:
        one, *others = saved["param_groups"]
        return {**saved, "param_groups": [{**one, **entries}, *others]}

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda saved: None,
        changed(state=[1]),
        changed(state={0: 3}),
        changed(state={7: {}}),
        changed(param_groups={}),
        changed(param_groups=[{}]),
        changed(param_groups=[3, 4]),
        first_group(params=[0]),
        first_group(params="01"),
        first_group(extra=1),
    ],
)
def test_what_does_not_fit_is_refused(change: Callable[[Any], Any], require: Require) -> None:
    def program(t: Any) -> None:
        network, optimizer = stepped(t, "SGD")
        given = dict(network.named_parameters())
        with t.optim._stateless.swap_in_optimizer_params_and_state(optimizer, given, change(optimizer.state_dict())):
            raise AssertionError("it was taken")

    assert_same(program, require("torch"))


def test_too_few_parameters_and_no_state_are_refused(require: Require) -> None:
    def few(t: Any) -> None:
        _, optimizer = stepped(t, "SGD")
        with t.optim._stateless.swap_in_optimizer_params_and_state(optimizer, {}, optimizer.state_dict()):
            raise AssertionError("it was taken")

    def early(t: Any) -> None:
        optimizer = t.optim.SGD([t.zeros(1, requires_grad=True)])
        with t.optim._stateless.swap_in_optimizer_params_and_state(optimizer, {}, optimizer.state_dict()):
            raise AssertionError("it was taken")

    assert_same(few, require("torch"))
    assert_same(early, require("torch"))


def test_an_error_inside_leaves_the_optimizer_as_it_was(require: Require) -> None:
    def program(t: Any) -> list[Any]:
        network, optimizer = stepped(t, "SGD")
        state = optimizer.state
        with (
            pytest.raises(KeyError),
            t.optim._stateless.swap_in_optimizer_params_and_state(
                optimizer, dict(network.named_parameters()), optimizer.state_dict()
            ),
        ):
            raise KeyError("inside")
        return [optimizer.state is state, [len(group["params"]) for group in optimizer.param_groups]]

    assert_same(program, require("torch"))
