"""What becomes of what a Function's forward has returned?

Mirrors: torch/csrc/autograd/custom_function.cpp (_process_backward_mode_ad), torch/csrc/autograd/python_function.cpp
    (process_outputs)
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.function_jvp import Jvp
from glasstorch.autograd.function_node import BackwardCFunction
from glasstorch.autograd.history import AutogradMeta, MadeBy, check_inplace, rebase_history
from glasstorch.autograd.modes import no_grad
from glasstorch.autograd.saved import SavedVariable
from glasstorch.core.dtype import FLOATING
from glasstorch.core.errors import AutogradError, InplaceError
from glasstorch.core.user_line import warn_user


class Outputs:
    """What forward returned, on its way to what `apply` returns."""

    def __init__(
        self, name: str, node: BackwardCFunction, args: tuple[Any, ...], returned: tuple[Any, ...], recorded: bool
    ) -> None:
        self.name, self.node, self.recorded = name, node, recorded
        self.arguments = {id(a) for a in args if isinstance(a, Tensor)}
        self.returned = returned
        self.dirty = _tensors(node.dirty_tensors, "mark_dirty can only accept variables, but argument {} is of type {}")
        self.constant = _tensors(
            node.non_differentiable, "mark_non_differentiable only accepts variable arguments, but argument {} is a {}"
        )

    def finished(self, with_setup: bool, jvp: Jvp | None) -> tuple[Any, ...]:
        """The results, each with its history and tangent; the node then has what it saves."""
        node = self.node
        saved = {id(tensor) for tensor in node.to_save or ()} if with_setup else set()
        for tensor in node.dirty_tensors or ():
            tensor.bump_version()
        tensors = sum(isinstance(tensor, Tensor) for tensor in self.returned)
        outputs: list[Any] = []
        metadata: list[Any] = []
        for number, tensor in enumerate(self.returned):
            if not isinstance(tensor, Tensor):
                outputs.append(tensor)
                metadata.append(None)
                continue
            differentiable = self.is_differentiable(tensor)
            if differentiable and id(tensor) in saved & self.arguments - self.dirty:
                raise AutogradError(
                    "An input that has been returned as-is as output is being saved for backward. This is not "
                    "supported if you override setup_context. You should return and save a view of the input "
                    "instead, e.g. with x.view_as(x) or setup ctx inside the forward function itself."
                )
            output = self.with_history(tensor, number, differentiable, alone=tensors == 1)
            outputs.append(output)
            metadata.append((output._shape, output.dtype, output.device))
        if sum(map(self.is_differentiable, filter(_is_tensor, self.returned))) > 1:
            for output in filter(_is_tensor, outputs):
                if output._is_view():
                    output._autograd_meta.made = MadeBy.SEVERAL
        if not self.dirty <= set(map(id, self.returned)):
            raise AutogradError(
                f"Some elements marked as dirty during the forward method were not returned as output. The inputs that "
                f"are modified inplace must all be outputs of the Function: {self.name}.forward must return what it "
                f"marks."
            )
        if jvp:
            jvp.run(node.apply_jvp, node.materialize_grads, self.returned, outputs, self.constant, self.dirty)
        node.saved_for_forward = None
        if self.recorded:
            node.materialized = tuple(metadata)
            node.input_metadata = tuple(
                found if _is_tensor(r) and self.is_differentiable(r) else None
                for r, found in zip(self.returned, metadata, strict=True)
            )
            node.saved = self.saved_variables()
        node.to_save = node.dirty_tensors = node.non_differentiable = None
        return tuple(outputs)

    def is_differentiable(self, tensor: Tensor) -> bool:
        """Whether the result has a gradient."""
        return self.recorded and id(tensor) not in self.constant and tensor.dtype.category >= FLOATING

    def with_history(self, tensor: Tensor, number: int, differentiable: bool, alone: bool) -> Tensor:
        """One result of forward, with this node as its history, or without one."""
        is_input, is_dirty = id(tensor) in self.arguments, id(tensor) in self.dirty
        if not differentiable:
            if tensor.requires_grad:
                if not is_input and tensor._is_view():
                    return tensor
                return tensor.detach() if is_input else tensor.detach_()
            return _as_view(tensor) if is_input and not is_dirty else tensor
        if is_dirty:
            self.rebase(tensor, number, is_input, alone)
            return tensor
        if is_input:
            tensor = _as_view(tensor)
        meta = tensor._autograd_meta
        if meta is None:
            meta = tensor._autograd_meta = AutogradMeta()
        elif meta.base is not None:
            meta.seen_version = tensor._version
            meta.made = MadeBy.FUNCTION
        meta.grad_fn, meta.output_nr = self.node, number
        return tensor

    def rebase(self, tensor: Tensor, number: int, is_input: bool, alone: bool) -> None:
        """Make this node the history of an argument that forward changed."""
        if tensor.is_leaf and tensor.requires_grad:
            raise InplaceError("a leaf Variable that requires grad has been used in an in-place operation.")
        if not is_input:
            warn_user(
                "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated "
                "should be passed to ctx.mark_dirty()."
            )
        if tensor._is_view() and not alone:
            raise AutogradError(
                "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot "
                "return more than one Tensor. This is not supported by the current autograd engine. You should either "
                "make sure the input is not a view (using .clone() for example) or make your Function only return one "
                "Tensor (potentially splitting it into two Functions: one doing the inplace that returns a single "
                "Tensor and a second one that does the other operations)."
            )
        check_inplace(tensor)
        rebase_history(tensor, self.node)
        if tensor._autograd_meta.grad_fn is self.node:
            tensor._autograd_meta.output_nr = number

    def saved_variables(self) -> list[SavedVariable | None]:
        """What is kept of the tensors in `to_save`; a result without its history, which would hold the node."""
        to_save = self.node.to_save or ()
        if not isinstance(to_save, tuple):
            raise AutogradError(f"to_save attribute is expected to be a tuple but is {type(to_save).__name__}")
        places = {id(tensor): number for number, tensor in enumerate(self.returned)}
        kept: list[SavedVariable | None] = []
        for i, tensor in enumerate(to_save):
            if tensor is None:
                kept.append(None)
            elif not isinstance(tensor, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type {type(tensor).__name__}"
                )
            elif id(tensor) in places and id(tensor) not in self.arguments:
                kept.append(SavedVariable(tensor, self.node, places[id(tensor)]))
            else:
                kept.append(SavedVariable(tensor))
        return kept


def _is_tensor(value: object) -> bool:
    return isinstance(value, Tensor)


def _tensors(marked: tuple[Any, ...] | None, refusal: str) -> set[int]:
    """The tensors that forward has marked, by their identity."""
    for i, tensor in enumerate(marked or ()):
        if not isinstance(tensor, Tensor):
            raise AutogradError(refusal.format(i, type(tensor).__name__))
    return set(map(id, marked or ()))


def _as_view(tensor: Tensor) -> Tensor:
    """A view of an argument that is returned as it is, so that the argument keeps its own history."""
    with no_grad():
        view = tensor.view_as(tensor)
    if view._is_view():
        view._autograd_meta.made = MadeBy.FUNCTION
    return view
