"""How many operators does a program call, and how much memory do their results take while it runs?

For cells that count and do not show how: `counted_calls` and `watched_results` see what a TorchDispatchMode sees, each
operator below autograd; `numbers_saved` walks a graph; `peak_memory` asks the allocator of the CPU. Nothing is timed.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glasstorch import Tensor
    from glasstorch.core.storage import Storage


@contextmanager
def counted_calls() -> Iterator[Counter[str]]:
    """Count the operators that run below autograd in a `with` block, by name and overload: `mm.default`."""
    counts: Counter[str] = Counter()
    with seeing(lambda operator, results: counts.update([operator])):
        yield counts


class Results:
    """The operators of a `with` block, and the bytes of their results that are alive. No result is kept alive."""

    def __init__(self, there_before: tuple[Tensor, ...]) -> None:
        self.calls: Counter[str] = Counter()
        self.curve: list[int] = []  # the bytes that are alive after each operator
        self.made = 0  # the bytes of all new memory
        self.known = {tensor.untyped_storage().data_ptr() for tensor in there_before}
        self.storages: weakref.WeakSet[Storage] = weakref.WeakSet()

    @property
    def alive(self) -> int:
        """The bytes that are alive now; memory that several results share counts once."""
        return sum(storage.nbytes() for storage in self.storages)

    @property
    def most(self) -> int:
        """The most bytes that were alive at any time."""
        return max(self.curve, default=0)

    def add(self, operator: str, results: list[Tensor]) -> None:
        """Note a call and what it returned."""
        self.calls[operator] += 1
        for storage in (result.untyped_storage() for result in results):
            if storage not in self.storages and storage.data_ptr() not in self.known:
                self.storages.add(storage)
                self.made += storage.nbytes()
        self.curve.append(self.alive)


@contextmanager
def watched_results(*there_before: Tensor) -> Iterator[Results]:
    """Measure the results of the operators in a `with` block; memory of the tensors `there_before` does not count."""
    results = Results(there_before)
    with seeing(results.add):
        yield results


@contextmanager
def seeing(note: Callable[[str, list[Tensor]], None]) -> Iterator[None]:
    """Tell `note` of each operator below autograd, and of the tensors that it returned."""
    from glasstorch import Tensor
    from glasstorch.utils._python_dispatch import TorchDispatchMode

    class Seeing(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = function(*args, **(kwargs or {}))
            several = result if isinstance(result, list | tuple) else (result,)
            note(str(function).removeprefix("aten."), [one for one in several if isinstance(one, Tensor)])
            return result

    with Seeing():
        yield


def numbers_saved(result: Tensor) -> int:
    """How many numbers the graph of a result keeps in the tensors that its nodes have saved; shared memory counts once.

    It follows `next_functions` from the result's `grad_fn`, and reads each node's `_saved_...`, or the `saved_tensors`
    of a custom Function.
    """
    from glasstorch import Tensor

    numbers: dict[int, int] = {}  # by the memory
    seen, todo = set(), [result.grad_fn]
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        names = (name for name in dir(node) if name.startswith("_saved_") or name == "saved_tensors")
        for saved in (getattr(node, name) for name in names):
            for one in saved if isinstance(saved, tuple | list) else (saved,):
                if isinstance(one, Tensor):
                    numbers[one.untyped_storage().data_ptr()] = one.numel()
        todo += [target for target, _ in node.next_functions]
    return sum(numbers.values())


def peak_memory(function: Callable[..., object], *inputs: object) -> int:
    """The most bytes that a call has in use on the CPU at any time, beyond those that were in use before it.

    Blocks below `LARGE` bytes (in `core/allocator.py`) are not counted: measure with tensors that are larger.
    """
    from glasstorch.core.allocator import cpu_allocator

    before, most = cpu_allocator.bytes_in_use, 0
    allocate = cpu_allocator.allocate

    def allocate_and_measure(nbytes: int) -> Any:
        nonlocal most
        memory = allocate(nbytes)
        most = max(most, cpu_allocator.bytes_in_use - before)
        return memory

    cpu_allocator.allocate = allocate_and_measure  # type: ignore[method-assign]
    try:
        function(*inputs)
    finally:
        del cpu_allocator.allocate
    return most
