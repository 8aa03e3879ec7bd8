"""Is a module called with other parameters, and are modules stacked?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("quiet")


def values(torch: Any) -> dict[str, Any]:
    return {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}


def test_a_module_is_called_with_given_parameters(torch: Any) -> None:
    linear, x, given = torch.nn.Linear(2, 1), torch.ones(3, 2), values(torch)
    for found in (
        torch.func.functional_call(linear, given, x),
        torch.func.functional_call(linear, ({"weight": given["weight"]}, {"bias": given["bias"]}), (x,)),
        torch.func.functional_call(linear, given, kwargs={"input": x}),
    ):
        assert found.tolist() == [[2.0]] * 3


def test_wrong_parameters_are_refused(torch: Any, refused: Callable[[Any], str]) -> None:
    linear, x, given = torch.nn.Linear(2, 1), torch.ones(3, 2), values(torch)

    def words(state: Any, **options: Any) -> str:
        return refused(lambda: torch.func.functional_call(linear, state, x, **options))

    assert "Missing key(s): 'bias'" in words({"weight": given["weight"]}, strict=True)
    assert "Unexpected key(s): 'z'" in words({**given, "z": x}, strict=True)
    assert words(3).startswith("Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts")
    assert words([given, 3]) == "Expected all elements of parameter_and_buffer_dicts to be dictionaries"
    assert words((given, given)).startswith("['weight', 'bias'] appeared in multiple dictionaries")


def test_modules_are_stacked_and_mapped(torch: Any) -> None:
    torch.manual_seed(0)
    models, x = [torch.nn.Linear(2, 1) for _ in range(3)], torch.ones(4, 2)
    params, buffers = torch.func.stack_module_state(models)
    assert params["weight"].shape == (3, 1, 2)
    assert params["weight"].is_leaf
    assert params["weight"].requires_grad
    call = lambda p, b, x: torch.func.functional_call(models[0], (p, b), (x,))  # noqa: E731
    found = torch.func.vmap(call, (0, 0, None))(params, buffers, x)
    assert all(torch.allclose(one, model(x)) for one, model in zip(found, models, strict=True))


def test_modules_that_differ_are_not_stacked(torch: Any, refused: Callable[[Any], str]) -> None:
    linear, frozen = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
    frozen.weight.requires_grad_(False)
    stack = torch.func.stack_module_state
    assert refused(lambda: stack([])) == "stack_module_state: Expected at least one model, got 0."
    assert "the same training/eval mode" in refused(lambda: stack([linear, torch.nn.Linear(1, 1).eval()]))
    assert "of the same class" in refused(lambda: stack([linear, torch.nn.ReLU()]))
    assert refused(lambda: stack([linear, frozen])) == "Expected weight from each model to have the same .requires_grad"


def test_batch_norms_lose_their_running_statistics(torch: Any) -> None:
    module = torch.nn.Sequential(torch.nn.BatchNorm1d(2), torch.nn.InstanceNorm1d(2, track_running_stats=True))
    assert torch.func.replace_all_batch_norm_modules_(module) is module
    assert (module[0].running_mean, module[0].track_running_stats) == (None, False)
    assert module[1].running_mean is not None
