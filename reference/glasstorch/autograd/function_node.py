"""What is the `ctx` of a user's Function, which is its node in the graph?

Mirrors: torch/autograd/function.py (FunctionCtx, BackwardCFunction), torch/csrc/autograd/python_function.cpp (PyNode)
Differs: the node itself is the context; a Function has the node's members too, as both derive from `_FunctionBase`.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, TypeVar

from glasstorch._tensor import Tensor
from glasstorch.autograd.hooks import Gradients, registered
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Metadata, Node
from glasstorch.autograd.saved import SavedVariable
from glasstorch.calls.overloaded import users_code
from glasstorch.core.errors import AutogradError
from glasstorch.core.removable_handle import RemovableHandle
from glasstorch.operators.generated.functions import zeros

Kind = TypeVar("Kind", bound=type)
NOT_OF_NODES = ("__call__", "__repr__", "__abstractmethods__", "_abc_impl")  # what a Function's node has not in common


class _HookMixin:
    """Of an older way to register hooks."""

    @staticmethod
    def _register_hook(
        backward_hooks: OrderedDict[int, Any] | None, hook: Any
    ) -> tuple[OrderedDict[int, Any], RemovableHandle]:
        hooks = OrderedDict() if backward_hooks is None else backward_hooks
        return hooks, registered(hooks, hook)


class FunctionCtx:
    """What the `ctx` of a custom Function can be told, in its forward or setup_context."""

    to_save: tuple[Tensor | None, ...] | None
    saved_for_forward: tuple[Tensor | None, ...] | None
    dirty_tensors: tuple[Tensor, ...] | None
    non_differentiable: tuple[Tensor, ...] | None
    materialize_grads: bool

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save tensors for backward, available there as `saved_tensors`; a second call replaces the first."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Save tensors for jvp, available there as `saved_tensors`."""
        for tensor in tensors:
            assert isinstance(tensor, Tensor) or tensor is None, (
                "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on "
                "ctx."
            )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Declare which arguments forward changed in place; they must be returned."""
        self.dirty_tensors = args

    def mark_shared_storage(self, *pairs: tuple[Tensor, Tensor]) -> None:
        """Do nothing: which tensors share a storage is known."""
        warnings.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. Note that "
            "calls to `set_()` are not tracked",
            FutureWarning,
            stacklevel=2,
        )

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Declare which results carry no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward receives zeros (the default) or None for results that no gradient reached."""
        self.materialize_grads = value


def with_members_of_node(kind: Kind) -> Kind:
    """The class, with the members of Node that it does not define itself."""
    for name, member in vars(Node).items():
        if name not in vars(kind) and name not in NOT_OF_NODES:
            setattr(kind, name, member)
    return kind


# PyTorch's `_FunctionBase` does what a node does, and is not derived from one: THPFunction repeats the members that
# Python sees of a C++ node. A type checker is told otherwise, as the engine takes it for a node.
if TYPE_CHECKING:
    _NodeToTheTypeChecker = Node
else:
    _NodeToTheTypeChecker = object


@with_members_of_node
class _FunctionBase(_NodeToTheTypeChecker):
    """What PyTorch has in C++ of a Function and its node: what a node does, what is kept, what saved tensors are."""

    of_user = True
    _forward_cls: type[Any]  # the Function
    to_save: tuple[Tensor | None, ...] | None = None
    saved_for_forward: tuple[Tensor | None, ...] | None = None
    dirty_tensors: tuple[Tensor, ...] | None = None
    non_differentiable: tuple[Tensor, ...] | None = None
    materialize_grads = True
    needs_input_grad: Any = None  # a bool for each argument of forward
    saved: list[SavedVariable | None] | None = None  # once forward has returned
    materialized: tuple[Metadata | None, ...] = ()  # what a gradient of zeros is to be, for each result

    def __init__(self, edges: Any, needs_input_grad: tuple[bool, ...], argument_positions: list[int]) -> None:
        Node.__init__(self, edges)
        self.needs_input_grad = needs_input_grad
        self.argument_positions = argument_positions  # of the arguments that are tensors
        self.accessed = False

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors from `save_for_backward`; an error if one was changed in place since, or the graph was freed.

        In jvp, those from `save_for_forward`. A class with `clear_saved_tensors_on_access` lets go of them here.
        """
        if self.saved_for_forward is not None and self.saved is None and not self.released:
            return self.saved_for_forward
        if self.accessed:
            raise AutogradError(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the "
                "autograd.Function. Either access saved_tensors only once, or set clear_saved_tensors_on_access=False."
            )
        if self.saved is None:
            return self.unpack(None) or ()  # raises if it was released
        token = grad_mode.set(True)  # a result comes back with its history
        try:
            tensors = tuple(self.unpack_list(self.saved))
        finally:
            grad_mode.reset(token)
        if self._forward_cls.clear_saved_tensors_on_access:
            self.saved, self.accessed = None, True
        return tensors

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The old name of `saved_tensors`."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[SavedVariable | None, ...]:
        """What is kept of each saved tensor."""
        return self.unpack(None) or () if self.saved is None else tuple(self.saved)

    def release_variables(self) -> None:
        self.saved, self.to_save, self.released = None, None, True


@Node.register
class BackwardCFunction(_FunctionBase, FunctionCtx, _HookMixin):
    """The node of a custom Function, and the `ctx` that its forward and backward receive."""

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {id(self):#x}>"

    def apply(self, grads: Gradients) -> Gradients:
        if self.materialize_grads:
            grads = [
                zeros(like[0], dtype=like[1], device=like[2]) if g is None and like is not None else g
                for g, like in zip(grads, self.materialized, strict=True)
            ]
        with users_code():
            results = self._forward_cls._user_backward()(self, *grads)
        results = list(results) if isinstance(results, tuple | list) else [results]
        expected = len(self.needs_input_grad)
        while len(results) > expected and results[-1] is None:
            results.pop()
        if len(results) != expected:
            raise AutogradError(
                f"function {self.name()} returned an incorrect number of gradients (expected {expected}, got "
                f"{len(results)})"
            )
        for i, result in enumerate(results):
            if result is not None and not isinstance(result, Tensor):
                raise AutogradError(f"expected Variable or None (got {type(result).__name__})")
            if result is not None and i not in self.argument_positions:
                raise AutogradError(
                    f"function {self.name()} returned a gradient different than None at position {i + 1}, but the "
                    f"corresponding forward input was not a Variable"
                )
        return [results[i] for i in self.argument_positions]

    def apply_jvp(self, *tangents: Any) -> Any:
        """Run the Function's jvp: the tangents of its results, from those of its arguments."""
        return self._forward_cls.jvp(self, *tangents)
