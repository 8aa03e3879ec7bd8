"""Is recording switched off and on exactly where it is said to be?"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

import glasstorch


def records(torch: Any) -> bool:
    """Whether an operator is recorded, and whether the library says so."""
    recorded = bool((torch.ones(1, requires_grad=True) * 1).requires_grad)
    assert torch.is_grad_enabled() is recorded
    return recorded


def test_nothing_is_recorded_inside_no_grad(torch: Any) -> None:
    assert records(torch)
    with torch.no_grad():
        assert not records(torch)
        with torch.enable_grad():
            assert records(torch)
        assert not records(torch)
    assert records(torch)


def test_a_result_made_without_recording_is_a_leaf(torch: Any) -> None:
    a = torch.ones(1, requires_grad=True)
    with torch.no_grad():
        b = a * 2
        c = torch.ones(1, requires_grad=True)
    assert (b.requires_grad, b.is_leaf, c.requires_grad, c.is_leaf) == (False, True, True, True)


def test_a_block_that_raises_puts_the_mode_back(torch: Any) -> None:
    with pytest.raises(ValueError), torch.no_grad():
        raise ValueError
    assert records(torch)


@pytest.mark.parametrize("called", [True, False])
def test_a_function_can_be_decorated(torch: Any, called: bool) -> None:
    decorate = torch.no_grad() if called else torch.no_grad

    @decorate
    def f(x: Any) -> Any:
        """Doc."""
        return x * 2

    assert (f.__name__, f.__doc__) == ("f", "Doc.")
    assert not f(torch.ones(1, requires_grad=True)).requires_grad
    assert records(torch)


def test_a_decorated_function_may_call_itself(torch: Any) -> None:
    @torch.no_grad()
    def f(depth: int) -> list[bool]:
        return [records(torch), *(f(depth - 1) if depth else [])]

    assert f(3) == [False] * 4
    assert records(torch)


def test_a_decorated_generator_runs_in_its_mode_and_its_caller_does_not(torch: Any) -> None:
    @torch.no_grad()
    def generate() -> Any:
        got = yield records(torch)
        yield (got, records(torch))

    generator = generate()
    assert next(generator) is False
    assert records(torch)
    assert generator.send("sent") == ("sent", False)
    assert records(torch)
    generator.close()


def test_set_grad_enabled_works_at_once_and_as_a_block(torch: Any) -> None:
    try:
        torch.set_grad_enabled(False)
        assert not records(torch)
        with torch.set_grad_enabled(True):
            assert records(torch)
        assert not records(torch)
    finally:
        torch.set_grad_enabled(True)
    with torch.set_grad_enabled(False):
        assert not records(torch)
    assert records(torch)


def test_set_grad_enabled_decorates_without_switching_anything_now(torch: Any) -> None:
    @torch.set_grad_enabled(False)
    def f() -> bool:
        return records(torch)

    assert records(torch)
    assert not f()
    assert records(torch)


def test_one_guard_can_be_entered_twice() -> None:
    import glasstorch

    guard = glasstorch.no_grad()  # under PyTorch the second entry forgets what the first was to put back
    with guard:
        with guard:
            assert not records(glasstorch)
        assert not records(glasstorch)
    assert records(glasstorch)


def test_another_thread_records_as_ever(torch: Any) -> None:
    seen: list[bool] = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append(records(torch)))
        thread.start()
        thread.join()
    assert seen == [True]


def test_interleaved_tasks_have_modes_of_their_own() -> None:
    import glasstorch

    async def quiet(inside: asyncio.Event, leave: asyncio.Event) -> bool:
        with glasstorch.no_grad():
            inside.set()
            await leave.wait()
            return records(glasstorch)

    async def main() -> tuple[bool, bool]:
        inside, leave = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(quiet(inside, leave))
        await inside.wait()
        meanwhile = records(glasstorch)
        leave.set()
        return meanwhile, await task

    assert asyncio.run(main()) == (True, False)


def test_a_decorated_class_is_made_in_the_mode_and_its_methods_run_outside(torch: Any) -> None:
    class Made:
        def __init__(self) -> None:
            self.at_first = torch.is_grad_enabled()

        def later(self) -> bool:
            return bool(torch.is_grad_enabled())

    for decorate in (
        torch.no_grad,
        lambda cls: torch.no_grad()(cls),
        lambda cls: torch.set_grad_enabled(False)(cls),
        torch.inference_mode,
    ):
        with pytest.warns(FutureWarning, match="Decorating classes is deprecated and will be disabled"):
            made = decorate(Made)()
        assert (made.at_first, made.later()) == (False, True)
    assert torch.is_grad_enabled()


def test_a_coroutine_runs_outside_of_the_mode_that_decorates_it(torch: Any) -> None:
    @torch.no_grad()
    async def mode() -> bool:
        return bool(torch.is_grad_enabled())

    @torch.no_grad()
    async def modes() -> Any:
        yield torch.is_grad_enabled()

    async def all_modes() -> list[bool]:
        return [mode async for mode in modes()]

    assert asyncio.run(mode()) is True
    assert asyncio.run(all_modes()) == [True]


def test_a_mode_can_be_copied_and_printed(torch: Any) -> None:
    assert type(torch.no_grad().clone()) is torch.no_grad
    assert type(torch.enable_grad().clone()) is torch.enable_grad
    assert torch.inference_mode(False).clone().mode is False
    with torch.set_grad_enabled(True) as _:
        mode = torch.set_grad_enabled(False)
        assert mode.clone().mode is False
        assert repr(mode).endswith("set_grad_enabled(mode=False)")


def test_a_generator_is_closed_in_the_mode(torch: Any) -> None:
    seen = []

    @torch.no_grad()
    def numbers() -> Any:
        try:
            got = yield torch.is_grad_enabled()
            seen.append((got, torch.is_grad_enabled()))
            yield
        finally:
            seen.append(("closed", torch.is_grad_enabled()))

    generator = numbers()
    assert next(generator) is False
    assert torch.is_grad_enabled()
    generator.send(5)
    generator.close()
    assert seen == [(5, False), ("closed", False)]
    assert torch.is_grad_enabled()


def test_a_mode_of_functions_sees_recording_switched(require: Any) -> None:
    def program(torch: Any) -> list[object]:
        log: list[object] = []

        class Log(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
            def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                assert func is torch._C._set_grad_enabled
                log.append((types, args, kwargs))
                return func(*args, **(kwargs or {}))

        @torch.no_grad()
        def decorated() -> bool:
            return bool(torch.is_grad_enabled())

        with Log():
            with torch.no_grad(), torch.enable_grad():
                log.append(torch.is_grad_enabled())
            with torch.set_grad_enabled(False):
                log.append(torch.is_grad_enabled())
            with torch.inference_mode():
                log.append(torch.is_grad_enabled())
            log.append(decorated())
            torch.set_grad_enabled(True)
            torch._C._set_grad_enabled(True)
            with Log():
                torch._C._set_grad_enabled(True)
        return log

    assert program(glasstorch) == program(require("torch"))


@pytest.mark.parametrize("arguments", [((), {}), ((3,), {}), ((), {"arg": True}), ((None,), {})])
def test_what_is_no_setting_is_refused_in_pytorchs_words(require: Any, arguments: Any) -> None:
    def refused(torch: Any) -> str:
        with pytest.raises(TypeError) as error:
            torch._C._set_grad_enabled(*arguments[0], **arguments[1])
        return str(error.value)

    assert refused(glasstorch) == refused(require("torch"))


def test_a_mode_that_answers_leaves_recording_as_it_is(require: Any) -> None:
    def program(torch: Any) -> object:
        class Ignore(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
            def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                return None

        with Ignore(), torch.no_grad():
            return torch.is_grad_enabled()

    assert program(glasstorch) is program(require("torch")) is True
