"""Do hooks of optimizers run when PyTorch's do?"""

from __future__ import annotations

import copy
import importlib
import pickle
from typing import Any

import pytest


def stepping(torch: Any) -> Any:
    parameter = torch.ones(2, requires_grad=True)
    parameter.grad = torch.ones(2)
    return torch.optim.SGD([parameter], lr=0.5)


def test_hooks_of_steps_run_around_them(torch: Any) -> None:
    optimizer, told = stepping(torch), []
    module = importlib.import_module(f"{torch.__name__}.optim.optimizer")
    handles = [
        optimizer.register_step_pre_hook(lambda o, args, kwargs: told.append(("before", o is optimizer, args[1:]))),
        optimizer.register_step_post_hook(lambda o, args, kwargs: told.append(("after", o is optimizer, kwargs))),
        module.register_optimizer_step_pre_hook(lambda *_: told.append("before all")),
        module.register_optimizer_step_post_hook(lambda *_: told.append("after all")),
    ]
    optimizer.step(closure=None)
    assert told == ["before all", ("before", True, ()), ("after", True, {"closure": None}), "after all"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(told) == 4


def test_a_hook_before_a_step_may_replace_the_arguments(torch: Any) -> None:
    optimizer = stepping(torch)
    with optimizer.register_step_pre_hook(lambda o, args, kwargs: ((o, lambda: "loss"), {})):
        assert optimizer.step() == "loss"
    optimizer.register_step_pre_hook(lambda *_: "other arguments")
    with pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwargs\), but got other"):
        optimizer.step()


def test_hooks_of_the_state_may_change_it(torch: Any) -> None:
    optimizer, told = stepping(torch), []
    optimizer.register_state_dict_pre_hook(lambda o: told.append("second"))
    optimizer.register_state_dict_pre_hook(lambda o: told.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 3})
    optimizer.register_state_dict_post_hook(lambda o, state: told.append(state["more"]))
    saved = optimizer.state_dict()
    assert told == ["first", "second", 3]
    assert saved["more"] == 3

    def renamed(o: Any, state: dict[str, Any]) -> dict[str, Any]:
        groups = [{**group, "lr": 7.0} for group in state["param_groups"]]
        return {**state, "param_groups": groups}

    optimizer.register_load_state_dict_pre_hook(renamed)
    optimizer.register_load_state_dict_post_hook(lambda o: told.append(o.param_groups[0]["lr"]))
    optimizer.load_state_dict(saved)
    assert told[-1] == 7.0
    assert saved["param_groups"][0]["lr"] == 0.5


def test_copies_have_no_hooks(torch: Any) -> None:
    optimizer = stepping(torch)
    optimizer.register_step_post_hook(print)
    again = copy.deepcopy(optimizer)
    assert not again._optimizer_step_post_hooks
    again.step()
    assert set(optimizer.__getstate__()) == {"defaults", "state", "param_groups"}


def test_a_state_of_an_older_program_is_completed(torch: Any) -> None:
    optimizer = torch.optim.Adam([torch.ones(2, requires_grad=True)])
    optimizer.param_groups[0]["params"][0].grad = torch.ones(2)
    optimizer.step()
    saved = optimizer.state_dict()
    for name in ("amsgrad", "maximize", "foreach", "capturable", "differentiable", "fused"):
        del saved["param_groups"][0][name]
    saved["state"][0]["step"] = 1
    optimizer.load_state_dict(saved)
    assert optimizer.param_groups[0]["amsgrad"] is False
    (state,) = optimizer.state.values()
    assert state["step"].dtype == torch.float32
    optimizer.step()
    assert state["step"].item() == 2


def test_names_stay_where_a_loaded_state_has_none(torch: Any) -> None:
    optimizer = torch.optim.SGD([("a", torch.ones(2, requires_grad=True))])
    saved = optimizer.state_dict()
    del saved["param_groups"][0]["param_names"]
    optimizer.load_state_dict(saved)
    assert optimizer.param_groups[0]["param_names"] == ["a"]


def test_a_pickled_optimizer_takes_steps(torch: Any) -> None:
    optimizer = stepping(torch)
    again = pickle.loads(pickle.dumps(optimizer))
    (parameter,) = again.param_groups[0]["params"]
    parameter.grad = torch.ones(2)
    again.step()
    assert parameter.tolist() == [0.5, 0.5]
