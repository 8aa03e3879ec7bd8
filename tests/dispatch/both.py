"""Operators that are registered alike in PyTorch and here."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from glasstorch.core.keys import ALIASES
from glasstorch.dispatch.library import Library
from glasstorch.dispatch.operator import Operator

# One or two keys of every kind, and all aliases.
REGISTERED = (
    "CPU", "CUDA", "XLA", "QuantizedCPU", "SparseCPU", "SparseCsrCUDA", "NestedTensorCPU", "MkldnnCPU", "FPGA",
    "AutogradCPU", "AutogradXLA", "AutogradOther", "AutogradNestedTensor", "ADInplaceOrView", "BackendSelect",
    "Tracer", "AutocastCPU", "FuncTorchBatched", *ALIASES,
)  # fmt: skip
_names = itertools.count()


@contextmanager
def registered_in_both(torch: Any, keys: Iterable[str]) -> Iterator[tuple[str, Operator]]:
    """The full name of an operator of PyTorch, and ours, each with a kernel for every one of these keys."""
    namespace = f"glasstorch_table_{next(_names)}"
    with torch.library._scoped_library(namespace, "DEF") as theirs, Library(namespace, "DEF") as ours:
        theirs.define("op(Tensor x) -> Tensor")
        operator = ours.define("op(Tensor x) -> Tensor")
        for key in sorted(keys):
            theirs.impl("op", lambda x: x, key)
            ours.impl("op", lambda x: x, key)
        yield f"{namespace}::op", operator
