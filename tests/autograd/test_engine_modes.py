"""Are the settings of backward passes and of versions PyTorch's?"""

from __future__ import annotations

from typing import Any

import pytest


def test_multithreading_is_a_setting_of_a_block_and_of_calls(torch: Any) -> None:
    autograd = torch.autograd
    assert autograd.is_multithreading_enabled()
    with autograd.set_multithreading_enabled(False):
        assert not autograd.is_multithreading_enabled()
        x = torch.ones(2, requires_grad=True)
        (x * 2).sum().backward()
        assert x.grad.tolist() == [2, 2]
    assert autograd.is_multithreading_enabled()
    setting = autograd.set_multithreading_enabled(False)
    try:
        assert not autograd.is_multithreading_enabled()
    finally:
        setting.__exit__(None, None, None)
    assert autograd.is_multithreading_enabled()

    decorator = autograd.set_multithreading_enabled(True).clone()
    assert decorator.mode is True
    assert decorator(autograd.is_multithreading_enabled)() is True
    assert autograd.grad_mode.set_multithreading_enabled is autograd.set_multithreading_enabled


def test_a_first_gradient_keeps_its_layout_where_the_policy_is_off(torch: Any) -> None:
    def strides() -> tuple[int, ...]:
        leaf = torch.ones(3, 4).t().requires_grad_()
        (leaf * 2).backward(torch.ones(4, 3))
        return tuple(leaf.grad.stride())

    assert strides() == (1, 4)
    with torch.autograd.enforce_grad_layout_policy(False):
        assert strides() == (3, 1)
    decorated = torch.autograd.enforce_grad_layout_policy(False)(strides)
    assert strides() == (1, 4)
    assert decorated() == (3, 1)
    assert strides() == (1, 4)
    with torch.autograd.enforce_grad_layout_policy(enable=True):
        assert strides() == (1, 4)


def test_view_replay_is_a_setting(torch: Any) -> None:
    autograd = torch.autograd
    assert not autograd.is_view_replay_enabled()
    with autograd._force_original_view_tracking(True):
        assert autograd.is_view_replay_enabled()
        x = torch.ones(2, 3, requires_grad=True)
        y = x * 1
        column = y.select(1, 0)
        y.mul_(2)
        (column * 3).sum().backward()
    assert x.grad.tolist() == [[6, 0, 0], [6, 0, 0]]
    asked = autograd._force_original_view_tracking(True)(autograd.is_view_replay_enabled)
    assert not autograd.is_view_replay_enabled()
    assert asked()
    assert not autograd.is_view_replay_enabled()


def test_a_version_that_is_preserved_hides_writes(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.clone()
    z = y * y
    with torch.autograd._unsafe_preserve_version_counter(y):
        with torch.no_grad():
            y.add_(1).sub_(1)
        assert y._version == 2
    assert y._version == 0
    z.sum().backward()
    assert x.grad.tolist() == [2, 2]
    one, other = torch.ones(1), torch.ones(1)
    with torch.autograd._unsafe_preserve_version_counter((one, other)):
        one.add_(1)
        other.add_(1)
    assert (one._version, other._version, one.item()) == (0, 0, 2)
    with pytest.raises(AssertionError, match="Expected tensors to be a tuple"):
        torch.autograd._unsafe_preserve_version_counter([one])


def test_a_version_can_be_incremented(torch: Any) -> None:
    increment = torch.autograd.graph.increment_version
    x = torch.ones(2)
    increment(x)
    assert x._version == 1
    part = x[:1]
    increment([x, part])
    assert (x._version, part._version) == (3, 3)
    increment(iter([x]))
    assert x._version == 4
    with torch.inference_mode():
        inference = torch.ones(1)
    increment(inference)
    for bad, message in (
        (3, "increment_version expect a Iterable"),
        (None, "expect a Iterable"),
        ([3], "each element of the iterable to be a tensor"),
    ):
        with pytest.raises(RuntimeError, match=message):
            increment(bad)


def test_an_incremented_version_is_noticed_backward(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.clone()
    z = y * y
    torch.autograd.graph.increment_version(y)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead"):
        z.sum().backward()


def test_a_memory_budget_is_for_compiled_regions(torch: Any) -> None:
    budget = torch.autograd.graph.region_activation_memory_budget
    for bad, error, message in (
        (0.5, RuntimeError, "can only be used inside a torch.compile region; it has no effect in eager mode"),
        (1, RuntimeError, "can only be used inside a torch.compile region"),
        (2, ValueError, r"must be in \[0, 1\], got 2"),
        (-0.5, ValueError, r"must be in \[0, 1\], got -0.5"),
        (True, TypeError, "expects a float, got bool"),
        ("half", TypeError, "expects a float, got str"),
    ):
        with pytest.raises(error, match=message):
            budget(bad)


def test_the_settings_of_streams_are_bools(torch: Any) -> None:
    graph = torch.autograd.graph
    for setting, default in (
        (graph.set_warn_on_accumulate_grad_stream_mismatch, True),
        (graph.set_override_stale_capture_stream, False),
    ):
        assert setting(not default) is None
        assert setting(default) is None
        with pytest.raises(RuntimeError, match="enabled must be a bool, but got int"):
            setting(3)


@pytest.mark.parametrize("value", [1, 0, None, "no", [], 1.0])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("autograd.set_multithreading_enabled", "set_multithreading_enabled"),
        ("autograd.grad_mode.enforce_grad_layout_policy", "set_grad_layout_enforcement_enabled"),
        ("autograd._force_original_view_tracking", "set_view_replay_enabled"),
        ("set_grad_enabled", "set_grad_enabled"),
    ],
)
def test_a_setting_is_a_bool(torch: Any, name: str, words: str, value: Any) -> None:
    setting = torch
    for part in name.split("."):
        setting = getattr(setting, part)
    kind = type(value).__name__
    with pytest.raises(TypeError, match=rf"^{words}\(\): argument 'enabled' \(position 1\) must be bool, not {kind}$"):
        setting(value)
    assert torch.is_grad_enabled()
    assert not torch.autograd.is_view_replay_enabled()


@pytest.mark.parametrize("message", [1, None, ["no"], True])
def test_a_refusal_of_hooks_is_told_in_words(torch: Any, message: Any) -> None:
    with pytest.raises(TypeError), torch.autograd.graph.disable_saved_tensors_hooks(message):
        pass
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
        pass
