"""How does a test keep both libraries from saying that invariants are not checked?"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def invariants_switched_off() -> Iterator[None]:
    """Inside, both libraries have been told not to check: neither warns that it does not."""
    with ExitStack() as stack:
        for name in ("glasstorch", "torch"):
            if importlib.util.find_spec(name) is not None:
                library = importlib.import_module(name)
                stack.enter_context(library.sparse.check_sparse_tensor_invariants(enable=False))
        yield
