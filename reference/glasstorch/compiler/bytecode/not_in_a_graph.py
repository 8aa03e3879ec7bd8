"""Which calls change something of a tensor that is neither its elements nor its sizes, so that no graph can hold them?

Mirrors: torch/_dynamo/variables/tensor.py (method_requires_grad_, method_retain_grad), torch/_dynamo/variables/torch.py
Differs: a tensor of the graph that begins to require grad ends it, too; in PyTorch only one that leaves the graph does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import Constant, Sequence, TensorValue, Value, known


def method_without_effect(owner: TensorValue, name: str, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """Whether a method changes nothing of this tensor; Unsupported if it changes what a graph cannot change."""
    if name == "requires_grad_":
        wanted = known(next(iter([*args, *kwargs.values()]), Constant(True)))
        if wanted is not owner.example.requires_grad:
            raise Unsupported("Unsupported Tensor.requires_grad_() call")
        return True
    if name == "retain_grad":
        raise Unsupported("Tensor.retain_grad(): gradients of what is inside of a graph are not kept")
    if name == "detach_" and owner.source is not None and owner.example.requires_grad:
        raise Unsupported("Tensor.detach_() of a tensor of the outside, whose history a graph cannot change")
    return False


def call_of_the_library(
    recorder: Recorder, function: Callable[..., Any], args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """A node that calls one of the library's functions; Unsupported if it makes a leaf or resizes an input."""
    wanted = kwargs.get("requires_grad")
    if isinstance(wanted, Constant) and wanted.value is True:
        raise Unsupported("Attempted to use tensor creation function with requires_grad=True")
    out = kwargs.get("out")
    written = out.items if isinstance(out, Sequence) else [out]
    inputs = [value for value in written if isinstance(value, TensorValue) and value.source is not None]
    before = [value.example._shape for value in inputs]
    result = recorder.call_function(function, args, kwargs)
    if any(value.example._shape != shape for value, shape in zip(inputs, before, strict=True)):
        raise Unsupported("Shape mismatch with out= tensor variant")
    return result
