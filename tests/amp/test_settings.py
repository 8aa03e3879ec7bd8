"""Where is it kept whether autocast is on?"""

from __future__ import annotations

import asyncio
import threading

import pytest

import glasstorch
from glasstorch.amp.settings import DEVICES, autocast_device, is_on, switch
from glasstorch.core.keys import FUNCTIONALITIES, FUNCTIONALITY_BIT
from glasstorch.dispatch.active_keys import ALLOWED_BY_DEFAULT, active_keys


def test_every_autocast_key_belongs_to_one_device() -> None:
    assert sorted(one.key for one in DEVICES.values()) == sorted(n for n in FUNCTIONALITIES if n.startswith("Autocast"))


def test_being_on_is_a_key_that_is_not_masked() -> None:
    assert not is_on("cpu")
    switch("cpu", True)
    assert active_keys.get()[1] == ALLOWED_BY_DEFAULT | FUNCTIONALITY_BIT["AutocastCPU"]
    assert is_on("cpu")
    assert not is_on("cuda")
    switch("cpu", False)
    assert active_keys.get()[1] == ALLOWED_BY_DEFAULT


def test_an_index_says_nothing_more() -> None:
    assert autocast_device("cuda:1") is DEVICES["cuda"]


@pytest.mark.parametrize(("name", "said"), [("meta", "unknown device type for autocast"), ("foo", "Expected one of")])
def test_other_devices_are_refused(name: str, said: str) -> None:
    with pytest.raises(RuntimeError, match=said):
        autocast_device(name)


def test_a_thread_and_a_task_have_settings_of_their_own() -> None:
    found = []

    def look() -> None:
        found.append((is_on("cpu"), glasstorch.get_autocast_dtype("cpu"), glasstorch.is_autocast_cache_enabled()))

    async def change() -> None:
        glasstorch.autocast("cpu", dtype=glasstorch.float16).__enter__()

    async def both() -> None:
        await asyncio.create_task(change())
        look()

    with glasstorch.autocast("cpu", dtype=glasstorch.float16, cache_enabled=False):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    asyncio.run(both())
    assert found == [(False, glasstorch.bfloat16, True)] * 2
