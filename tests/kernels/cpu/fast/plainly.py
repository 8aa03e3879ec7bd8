"""How is a call made with the plain kernels alone, and how with the fast ones, in one process?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.fast import FAST, SLOTS
from glasstorch.dispatch.operator import Kernel, registry

_without_fast: dict[int, tuple[Kernel, Kernel]] = {}  # id of a kernel -> it, and the same without its fast form


def _plain(kernel: Kernel) -> Kernel:
    """A kernel without its fast form; made once, for this is asked often."""
    known = _without_fast.get(id(kernel))
    if known is None:
        known = _without_fast[id(kernel)] = kernel, replace(kernel, fast=None)
    return known[1]


def _kernels() -> list[tuple[list[Kernel], int]]:
    """Where the kernels that have a fast one in front of them are kept: the stack of the operator, and the place."""
    names = {one.over for one in FAST if one.over not in SLOTS}
    return [(stack, i) for name in sorted(names) for stack in [registry.find(name).kernels[DispatchKey.CPU]]
            for i, kernel in enumerate(stack) if kernel.fast is not None]  # fmt: skip


@contextmanager
def plainly() -> Iterator[None]:
    """No fast function runs inside."""
    kept = [(stack, i, stack[i]) for stack, i in _kernels()]
    running = {slot: slot.run for slot in SLOTS.values()}
    try:
        for slot in running:
            slot.run = slot.plain
        for stack, i, kernel in kept:
            stack[i] = _plain(kernel)
        registry.changed()
        yield
    finally:
        for slot, run in running.items():
            slot.run = run
        for stack, i, kernel in kept:
            stack[i] = kernel
        registry.changed()


@contextmanager
def counted() -> Iterator[dict[str, int]]:
    """How often each fast function is called inside, by what it stands in front of."""
    calls = {one.over: 0 for one in FAST}

    def counting(over: str, function: Any) -> Any:
        def count(*args: Any, **kwargs: Any) -> Any:
            calls[over] += 1
            return function(*args, **kwargs)

        return count

    kept = [(stack, i, stack[i]) for stack, i in _kernels()]
    running = {name: slot.run for name, slot in SLOTS.items()}
    by_kernel = {id(one.function): one.over for one in FAST}
    try:
        for one in FAST:
            if one.over in SLOTS:
                SLOTS[one.over].run = counting(one.over, one.function)
        for name in {one.over for one in FAST} - set(SLOTS):
            for stack in [registry.find(name).kernels[DispatchKey.CPU]]:
                for i, kernel in enumerate(stack):
                    if kernel.fast is not None and id(kernel.fast) in by_kernel:
                        stack[i] = replace(kernel, fast=counting(name, kernel.fast))
        registry.changed()
        yield calls
    finally:
        for name, run in running.items():
            SLOTS[name].run = run
        for stack, i, kernel in kept:
            stack[i] = kernel
        registry.changed()
