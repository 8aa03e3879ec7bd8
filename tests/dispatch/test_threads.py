"""Do threads and tasks keep their own keys, while others switch theirs, trace, and register?"""

from __future__ import annotations

import asyncio
import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import glasstorch
from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch import guards
from glasstorch.dispatch.active_keys import BY_DEFAULT, active_keys
from glasstorch.dispatch.library import Library
from glasstorch.dispatch.operator import fallthrough_kernel
from glasstorch.dispatch.trace import trace
from glasstorch.utils._python_dispatch import TorchDispatchMode

AT_LEAST = 10
SECONDS = pytest.mark.parametrize("seconds", [0.5, pytest.param(10.0, marks=pytest.mark.slow)])


class Seen(TorchDispatchMode):
    """Notes the operators that reach it."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(func.name)
        return func(*args, **kwargs or {})


def gradient(x: Any) -> bool:
    w = x.clone().requires_grad_()
    (w * w).sum().backward()
    return bool((w.grad == 2 * x).all())


def without_gradient(x: Any) -> bool:
    with glasstorch.no_grad():
        y = x.clone().requires_grad_() * 2
    return not y.requires_grad and bool((y == x + x).all())


def inference(x: Any) -> bool:
    with glasstorch.inference_mode():
        y = x * 2
        return bool(y.is_inference()) and "AutogradOther" in str(guards.excluded_now())


def below_autograd(x: Any) -> bool:
    w = x.clone().requires_grad_()
    with guards.AutoDispatchBelowAutograd():
        below = (w * 2).requires_grad
    return not below and bool((w * 2).requires_grad)


def autocast(x: Any) -> bool:
    with glasstorch.autocast("cpu", dtype=glasstorch.bfloat16):
        lower = (x @ x).dtype
    return lower is glasstorch.bfloat16 and (x @ x).dtype is glasstorch.float32


def mode(x: Any) -> bool:
    with Seen() as seen:
        x.exp().neg()
    x.sin()
    return seen.names == ["aten::exp", "aten::neg"]


def traced(x: Any) -> bool:
    with trace() as hops:
        x.cos()
    x.sin()
    return [(hop.operator, hop.key.name) for hop in hops] == [("aten::cos", "AutogradCPU"), ("aten::cos", "CPU")]


def mapped(x: Any) -> bool:
    squares = glasstorch.func.vmap(glasstorch.func.grad(lambda row: (row * row).sum()))(x)
    return bool((squares == 2 * x).all())


PROGRAMS = (gradient, without_gradient, inference, below_autograd, autocast, mode, traced, mapped)


def together(seconds: float, *works: Callable[[], None]) -> None:
    """Let each of these run again and again in a thread of its own, ten times at least; raise what one raises."""
    until, errors = time.monotonic() + seconds, []

    def work(once: Callable[[], None]) -> None:
        try:
            rounds = 0
            while (rounds < AT_LEAST or time.monotonic() < until) and not errors:
                once()
                rounds += 1
        except BaseException as error:  # noqa: BLE001  # is raised in the test's thread
            errors.append(error)

    threads = [threading.Thread(target=work, args=(once,)) for once in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def checks(program: Callable[[Any], bool]) -> Callable[[], None]:
    """One round: the program's answer is right, and it leaves the keys as they were."""
    x = glasstorch.arange(9.0).view(3, 3) + 1

    def once() -> None:
        assert program(x), f"{program.__name__} gave a wrong answer"
        assert active_keys.get() == BY_DEFAULT, program.__name__

    return once


@SECONDS
def test_eight_threads_under_different_guards_give_right_answers_only(seconds: float) -> None:
    together(seconds, *map(checks, PROGRAMS))


@SECONDS
def test_eight_threads_that_change_their_guards_give_right_answers_only(seconds: float) -> None:
    def shuffled(seed: int) -> Callable[[], None]:
        draw, rounds = random.Random(seed), [checks(program) for program in PROGRAMS]
        return lambda: draw.choice(rounds)()

    together(seconds, *(shuffled(seed) for seed in range(8)))


@SECONDS
def test_who_calls_while_others_register_gets_the_kernel_that_is_registered(seconds: float) -> None:
    with Library("threads", "DEF") as library:
        operator = library.define("op(Tensor x) -> int")
        library.impl("op", lambda x: 0, "CPU")
        x = glasstorch.ones(2)
        # What a call answers from now on: None while that changes. A new tuple for each state.
        state: list[tuple[int | None, int]] = [(0, 0)]
        numbers = itertools.count(1)
        keys = itertools.cycle(("CPU", "AutogradCPU", "ADInplaceOrView", "Autograd"))
        answered: set[int] = set()

        def register() -> None:
            number, key = next(numbers), next(keys)
            state[0] = None, number
            with Library("threads", "IMPL") as added:
                added.impl("op", lambda x: number, key, allow_override=True)
                added.impl("op", fallthrough_kernel, "AutocastCPU")
                state[0] = number, number
                time.sleep(0)
                for _ in range(20):
                    assert operator(x) == number
                state[0] = None, number
            state[0] = 0, number

        def call() -> None:
            before = state[0]
            answer = operator(x)
            if state[0] is before and before[0] is not None:
                assert answer == before[0]
            else:
                assert 0 <= answer <= state[0][1]
            answered.add(answer)

        together(seconds, register, *[call] * 7)
        assert operator(x) == 0
        assert len(answered) > 1
        assert operator.kernels[DispatchKey.CPU][0] is operator.kernels[DispatchKey.CPU][-1]


def test_fallbacks_come_and_go_while_others_call() -> None:
    x = glasstorch.ones(2)

    def register() -> None:
        with Library("_", "IMPL") as library:
            library.fallback(lambda operator, *args: pytest.fail("nobody has this key"), "PrivateUse1")

    def call() -> None:
        assert (x + x).tolist() == [2, 2]

    together(0.3, register, *[call] * 3)


def test_operators_are_defined_and_taken_back_while_others_call() -> None:
    x, names = glasstorch.ones(2), itertools.count()

    def define() -> None:
        with Library(f"threads_{threading.get_ident()}_{next(names)}", "DEF") as library:
            operator = library.define("op(Tensor x) -> Tensor")
            library.impl("op", lambda x: x * 2, "CompositeImplicitAutograd")
            assert operator(x).tolist() == [2, 2]

    def call() -> None:
        assert x.mul(3).tolist() == [3, 3]

    together(0.3, *[define] * 3, *[call] * 3)


def test_tasks_keep_their_masks_across_every_wait() -> None:
    async def guarded(guard: guards.Guard, rounds: int) -> None:
        with guard:
            mine = active_keys.get()
            for _ in range(rounds):
                await asyncio.sleep(0)
                assert active_keys.get() == mine
        assert active_keys.get() == BY_DEFAULT

    async def computing(program: Callable[[Any], bool]) -> None:
        x = glasstorch.arange(9.0).view(3, 3) + 1
        for _ in range(5):
            assert program(x), program.__name__
            await asyncio.sleep(0)

    async def within(no_gradient: bool) -> None:
        w = glasstorch.ones(2, requires_grad=True)
        with glasstorch.set_grad_enabled(not no_gradient):
            for _ in range(10):
                await asyncio.sleep(0)
                assert (w * 2).requires_grad is not no_gradient

    def tasks() -> Iterator[Any]:
        for rounds in range(1, 9):
            yield guarded(guards.IncludeDispatchKeyGuard("Tracer"), rounds)
            yield guarded(guards.AutoDispatchBelowADInplaceOrView(), rounds)
            yield guarded(guards.EnablePreDispatch(), rounds)
            yield within(rounds % 2 == 0)
        yield from map(computing, PROGRAMS)

    async def all_of_them() -> None:
        await asyncio.gather(*tasks())

    asyncio.run(all_of_them())
    assert active_keys.get() == BY_DEFAULT
