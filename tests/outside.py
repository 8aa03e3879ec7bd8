"""What do expressions give in a process of its own that has the device of examples/outside_device.py?

A device can be brought once in a process, so each group of tests has its process. `bare_device` is one that can be
taken away again: it keeps the name privateuseone, and has no kernels but those that make and copy.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parents[1]
DEVICE = "from outside_device import NAME, backend_registration, fell_back, guard, hooks, library, torch, allocator\n"
BODY = """
import json, sys, warnings
sys.path.insert(0, sys.argv[1])
job = json.load(sys.stdin)
space = {}
exec(job["setup"], space)
found = {}
for label, text in job["expressions"].items():
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            value = repr(eval(text, space))
        except BaseException as error:
            value = f"{type(error).__name__}: {error}"
    found[label] = [value, *(str(one.message) for one in given)]
print(json.dumps(found))
"""
# The matrices are small: threads that wait for each other would take most of the time where tests run in parallel.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def evaluated(expressions: Mapping[str, str], setup: str = DEVICE) -> dict[str, list[str]]:
    """For each expression what it gives as text, or its error, and then the warnings that it gave."""
    done = subprocess.run(
        [sys.executable, "-c", BODY, str(ROOT / "examples")],
        check=False,
        input=json.dumps({"setup": setup, "expressions": dict(expressions)}),
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT / "reference"), **ONE_THREAD},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


class Block:
    """Memory of the bare device."""

    def __init__(self, address: int, nbytes: int) -> None:
        self.address, self.nbytes, self.data = address, nbytes, bytearray(nbytes)


class Allocator:
    """Gives it."""

    def __init__(self) -> None:
        self.next = 1 << 44

    def allocate(self, nbytes: int, on: Any) -> Block:
        self.next += nbytes + 64
        return Block(self.next, nbytes)


@contextmanager
def bare_device() -> Iterator[str]:
    """The name of a device in this process on which everything but making and copying falls back to the CPU."""
    import numpy as np

    from glasstorch.core.private_use import DeviceGuard, registered
    from glasstorch.dispatch.library import Library
    from glasstorch.utils import backend_registration

    def elements(tensor: Any) -> Any:
        if tensor.is_cpu:
            return backend_registration.host_array(tensor)
        size, memory = tensor.itemsize, tensor.untyped_storage().block.data
        strides = [step * size for step in tensor.stride()]
        if not tensor.numel():
            return np.empty(tuple(tensor.shape), tensor.dtype.numpy)
        return np.ndarray(tuple(tensor.shape), tensor.dtype.numpy, memory, tensor.storage_offset() * size, strides)

    def copy_from(source: Any, target: Any, non_blocking: bool = False) -> Any:
        elements(target)[...] = elements(source)
        return target

    def empty(size: Any, dtype: Any = None, layout: Any = None, device: Any = None, *more: Any, **named: Any) -> Any:
        return backend_registration.empty_tensor(size, dtype, device)

    def empty_strided(size: Any, stride: Any, dtype: Any = None, layout: Any = None, device: Any = None, *more: Any,
                      **named: Any) -> Any:  # fmt: skip
        return backend_registration.empty_tensor(size, dtype, device, stride)

    before = dict(vars(registered))
    registered.module, registered.allocator, registered.guard = SimpleNamespace(), Allocator(), DeviceGuard()
    with Library("aten", "IMPL", "PrivateUse1") as library, Library("_", "IMPL") as everything:
        library.impl("empty.memory_format", empty)
        library.impl("empty_strided", empty_strided)
        library.impl("_copy_from", copy_from)
        library.impl("_copy_from_and_resize", lambda source, target: copy_from(source, target.resize_(source.shape)))
        everything.fallback(backend_registration.cpu_fallback, "PrivateUse1")
        try:
            yield backend_registration.private_use.name()
        finally:
            for name in ("module", "allocator", "guard", "initialised"):
                vars(registered).pop(name, None)
            vars(registered).update(before)
