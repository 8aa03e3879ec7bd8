"""Are implementations of flash attention registered, activated and restored as in PyTorch?"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import glasstorch
from glasstorch.nn import attention
from tests.nn.side_by_side import assert_same


@pytest.fixture(autouse=True)
def nothing_stays_registered() -> Iterator[None]:
    """Only the two known names, and none active, after each test."""
    yield
    from glasstorch.nn.attention import _registry

    attention.restore_flash_attention_impl(_raise_warn=False)
    for name in set(_registry._implementations) - {"FA3", "FA4"}:
        del _registry._implementations[name]


class Handle:
    """What a registration returns; it says when it is removed."""

    def __init__(self, name: str, seen: list[str]) -> None:
        self.name, self.seen = name, seen
        seen.append(f"{name} added")

    def remove(self) -> None:
        self.seen.append(f"{self.name} removed")


def registered(torch: Any) -> tuple[Any, list[str]]:
    """The library's module, with two implementations and one without a handle, and what happened to them."""
    module, seen = torch.nn.attention, []
    for name in ("mine", "other"):
        module.register_flash_attention_impl(name, register_fn=lambda name=name: Handle(name, seen))
    module.register_flash_attention_impl("without handle", register_fn=lambda: None)
    return module, seen


def taken_in_turn(torch: Any) -> Any:
    module, seen = registered(torch)
    current = []
    for name in ("mine", "other", "other", "without handle", "mine"):
        module.activate_flash_attention_impl(name)
        current.append(module.current_flash_attention_impl())
    module.restore_flash_attention_impl()
    return current, module.current_flash_attention_impl(), seen


def after_an_unknown_name(torch: Any) -> Any:
    module, seen = registered(torch)
    module.activate_flash_attention_impl("mine")
    with pytest.raises(ValueError, match="Unknown flash attention impl 'nobody'") as raised:
        module.activate_flash_attention_impl("nobody")
    return str(raised.value), module.current_flash_attention_impl(), seen


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "listed": lambda torch: registered(torch)[0].list_flash_attention_impls(),
    "taken in turn": taken_in_turn,
    "after an unknown name": after_an_unknown_name,
    "a package that is missing": lambda torch: torch.nn.attention.activate_flash_attention_impl("FA3"),
    "another": lambda torch: torch.nn.attention.activate_flash_attention_impl("FA4"),
    "public names": lambda torch: torch.nn.attention.__all__,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_implementations_are_pytorchs(name: str) -> None:
    assert_same(PROGRAMS[name], pytest.importorskip("torch"))


def test_restoring_what_was_not_changed_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="glasstorch.nn.attention._registry"):
        attention.restore_flash_attention_impl(_raise_warn=False)
        assert caplog.records == []
        attention.restore_flash_attention_impl()
    assert caplog.messages == ["Trying to restore default FA2 impl when no custom impl was activated"]


def test_a_package_for_pytorchs_tensors_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    from types import ModuleType

    monkeypatch.setitem(sys.modules, "flash_attn_interface", ModuleType("flash_attn_interface"))
    with pytest.raises(RuntimeError, match="brings kernels for PyTorch's own tensors; FA3 cannot run on others"):
        glasstorch.nn.attention.activate_flash_attention_impl("FA3")
    assert attention.current_flash_attention_impl() is None


def test_an_implementation_runs_in_the_operators_place() -> None:
    """A registration puts a kernel before the library's own, and its handle takes it away."""
    from glasstorch import library

    calls = []

    def register() -> Any:
        registry = library.Library("aten", "IMPL", "CPU")

        def mine(query: Any, *args: Any, **kwargs: Any) -> Any:
            calls.append(tuple(query.shape))
            return query, query.sum(-1)

        registry.impl("_scaled_dot_product_flash_attention_for_cpu", mine, allow_override=True)

        class Registered:
            def remove(self) -> None:
                registry.close()

        return Registered()

    x = glasstorch.ones(1, 2, 4, 8)
    attention.register_flash_attention_impl("mine", register_fn=register)
    with attention.sdpa_kernel(attention.SDPBackend.FLASH_ATTENTION):
        attention.activate_flash_attention_impl("mine")
        glasstorch.nn.functional.scaled_dot_product_attention(x, x, x)
        attention.restore_flash_attention_impl()
        glasstorch.nn.functional.scaled_dot_product_attention(x, x, x)
    assert calls == [(1, 2, 4, 8)]


def test_a_way_of_attention_prints_its_name(require: Callable[[str], Any]) -> None:
    def program(t: Any) -> list[str]:
        math = t.nn.attention.SDPBackend.MATH
        return [str(math), repr(math), f"{math}", f"{t.nn.attention.SDPBackend(1)!s}"]

    assert_same(program, require("torch"))
