"""How does a test keep both libraries from saying that invariants are not checked?"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import glasstorch


@contextmanager
def invariants_switched_off() -> Iterator[None]:
    """Inside, both libraries have been told not to check: neither warns that it does not."""
    with ExitStack() as stack:
        libraries = [glasstorch]
        with suppress(ImportError):  # it is not installed, or out of reach
            libraries.append(importlib.import_module("torch"))
        for library in libraries:
            stack.enter_context(library.sparse.check_sparse_tensor_invariants(enable=False))
        yield
