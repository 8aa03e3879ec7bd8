"""How do threads share a loop over a large array?

Mirrors: aten/src/ATen/Parallel.h (parallel_for), ParallelNative.cpp
Differs: Python threads. NumPy releases the interpreter lock while it computes, so they run in parallel; between the
    steps of a loop of several steps they contend for the lock.

# Note [When threads pay]
Handing half of a loop to a waiting thread costs about 15 us. Adding two arrays on two processors took, alone and
shared: 40 and 47 us for 2**17 floats, 92 and 72 for 2**18, 387 and 243 for 2**20; exp 52 and 52, 105 and 84, 391 and
264. A thread therefore gets half of `thresholds.TWO_THREADS_FROM` elements at least.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from glasstorch.core.parallel import get_num_threads
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.fast import thresholds

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor  # imported where it is used: most programs need no threads

PART_MULTIPLE: Final = 64  # elements: parts start at multiples of it, so that no two threads write to one cache line

Part = Callable[..., None]  # part(out, *inputs)

_helpers: ThreadPoolExecutor | None = None


def helpers() -> ThreadPoolExecutor:
    """The thread pool, started on first use, and again in a forked process."""
    global _helpers
    if _helpers is None:
        from concurrent.futures import ThreadPoolExecutor

        _helpers = ThreadPoolExecutor(max_workers=256, thread_name_prefix="glasstorch")
    return _helpers


def _forget_helpers() -> None:
    """Drop the pool: in a forked process its threads are gone, and its locks may never be released."""
    global _helpers
    _helpers = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_helpers)


def parts_of(out: Array, inputs: Sequence[Array]) -> int:
    """The number of parts to split a loop into; 1 if it is small or the arrays are not contiguous in one order."""
    two = thresholds.TWO_THREADS_FROM
    if out.size < two or (parts := min(get_num_threads(), out.size * 2 // two)) == 1:
        return 1
    alike = out.flags.c_contiguous and all(
        not array.ndim or (array.shape == out.shape and array.flags.c_contiguous) for array in inputs
    )
    return parts if alike else 1


def share(part: Part, out: Array, inputs: Sequence[Array], parts: int) -> None:
    """Call `part(out, *inputs)` on `parts` parts of the arrays, each in a thread, the first in the calling one."""
    flat = [array.reshape(-1) if array.ndim else array for array in (out, *inputs)]
    step = -(-out.size // parts // PART_MULTIPLE) * PART_MULTIPLE
    jobs = [
        [array[start : start + step] if array.ndim else array for array in flat] for start in range(0, out.size, step)
    ]
    others = [helpers().submit(part, *job) for job in jobs[1:]]
    try:
        part(*jobs[0])
    finally:
        for other in others:
            other.exception()  # waits: no thread may still write to the arrays when an error is raised
    for other in others:
        other.result()
