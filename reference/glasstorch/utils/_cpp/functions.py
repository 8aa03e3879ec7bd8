"""How does a node of the graph run a backward that is written in C++?

Mirrors: torch/csrc/autograd/custom_function.h (CppNode), python_cpp_function.cpp
Differs: the node is that of a Function of Python, made once for each class of C++. `grad_fn` shows PyTorch's names.
"""

from __future__ import annotations

import weakref
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.autograd.function import Function
from glasstorch.autograd.function_node import BackwardCFunction
from glasstorch.utils._cpp.calls import CppLibrary, service


class _Backward:
    """The closure that runs backward, dropped with the last node that has it."""

    def __init__(self, library: CppLibrary, closure: int) -> None:
        self.library = library
        self.closure = closure
        weakref.finalize(self, library.drop, closure).atexit = False


class _CppFunction(Function):
    """What is common to the classes of C++."""

    @staticmethod
    def forward(ctx: Any, backward: _Backward, closure: int, *tensors: Tensor) -> tuple[Tensor, ...]:
        needed = list(ctx.needs_input_grad[2:])
        results, saved, dirty, without_gradient, materialize = backward.library.run(closure, [needed])
        ctx.save_for_backward(*saved)
        ctx.mark_dirty(*dirty)
        ctx.mark_non_differentiable(*without_gradient)
        ctx.set_materialize_grads(materialize)
        ctx.cpp_backward = backward
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        backward = ctx.cpp_backward
        needed = list(ctx.needs_input_grad[2:])
        (found,) = backward.library.run(backward.closure, [list(gradients), list(ctx.saved_tensors), needed])
        return None, None, *found


class _Node(BackwardCFunction):
    """A node that says of itself what PyTorch's says."""

    cpp_name: str

    def name(self) -> str:
        return self.cpp_name

    def __repr__(self) -> str:
        return f"<CppFunction object at {id(self):#x}>"


_classes: Final[dict[str, type[Function]]] = {}


def _class_of(name: str) -> type[Function]:
    """The Function of a class of C++, `torch::autograd::CppNode<Square>`."""
    if name not in _classes:
        made: type[Function] = type(name, (_CppFunction,), {})
        made._backward_cls = type(
            "CppFunction", (_Node,), {"_forward_cls": made, "cpp_name": name, "__module__": "builtins"}
        )
        _classes[name] = made
    return _classes[name]


@service
def apply(library: CppLibrary, name: str, forward: int, backward: int, tensors: list[Tensor]) -> list[Any]:
    """Run forward without recording it, and give the results a node that runs backward."""
    return [list(_class_of(name).apply(_Backward(library, backward), forward, *tensors))]
