"""Do included and excluded keys reach exactly the calls they are meant for?"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from glasstorch.core.keys import ALL_KEYS, AUTOCAST, CPU_KEYS, DispatchKeySet, key_set_of
from glasstorch.dispatch.active_keys import active_keys, compute_keys, exclude, include

Require = Callable[[str], Any]


def test_autocast_is_off_until_somebody_switches_it_on() -> None:
    assert repr(DispatchKeySet(compute_keys(CPU_KEYS))) == (
        "DispatchKeySet(CPU, BackendSelect, ADInplaceOrView, AutogradCPU)"
    )


def test_an_included_key_is_in_every_call_inside() -> None:
    before = compute_keys(CPU_KEYS)
    with include(key_set_of("Tracer")):
        assert compute_keys(CPU_KEYS) == before | key_set_of("Tracer")
        assert compute_keys(0) & key_set_of("Tracer")
    assert compute_keys(CPU_KEYS) == before


def test_an_excluded_key_is_in_no_call_inside_even_if_it_is_included() -> None:
    tracer = key_set_of("Tracer")
    with exclude(tracer), include(tracer):
        assert not compute_keys(CPU_KEYS | tracer) & tracer


def test_excluding_a_key_leaves_the_backend() -> None:
    with exclude(key_set_of("AutogradCPU")):
        assert DispatchKeySet(compute_keys(CPU_KEYS)).has("CPU")
        assert not DispatchKeySet(compute_keys(CPU_KEYS)).has("AutogradCPU")


def test_a_block_that_raises_puts_the_keys_back() -> None:
    before = active_keys.get()
    with pytest.raises(ValueError), include(key_set_of("Tracer")), exclude(key_set_of("AutogradCPU")):
        raise ValueError
    assert active_keys.get() == before


def test_another_thread_has_its_own_keys() -> None:
    seen: list[int] = []
    with exclude(key_set_of("AutogradCPU")):
        thread = threading.Thread(target=lambda: seen.append(compute_keys(CPU_KEYS)))
        thread.start()
        thread.join()
    assert seen == [compute_keys(CPU_KEYS)]


def test_interleaved_tasks_do_not_see_each_others_keys() -> None:
    async def task(inside: asyncio.Event, leave: asyncio.Event) -> bool:
        with exclude(key_set_of("AutogradCPU")):
            inside.set()
            await leave.wait()
            return DispatchKeySet(compute_keys(CPU_KEYS)).has("AutogradCPU")

    async def main() -> tuple[bool, bool]:
        inside, leave = asyncio.Event(), asyncio.Event()
        running = asyncio.create_task(task(inside, leave))
        await inside.wait()
        meanwhile = DispatchKeySet(compute_keys(CPU_KEYS)).has("AutogradCPU")
        leave.set()
        return meanwhile, await running

    assert asyncio.run(main()) == (True, False)


def test_what_is_active_by_default_is_what_pytorch_includes_and_excludes(require: Require) -> None:
    torch = require("torch")
    included, allowed = active_keys.get()
    assert repr(DispatchKeySet(included)) == repr(torch._C._dispatch_tls_local_include_set())
    assert repr(DispatchKeySet(ALL_KEYS & ~allowed)) == repr(torch._C._dispatch_tls_local_exclude_set())
    assert ALL_KEYS & ~allowed == AUTOCAST
