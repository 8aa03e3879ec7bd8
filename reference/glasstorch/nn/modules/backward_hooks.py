"""How does a module learn the gradients of its inputs and outputs?

Two nodes that compute nothing stand around the module in the backward graph, one behind its outputs and one before its
inputs. What passes through them are the gradients that a hook is given and may replace.

Mirrors: torch/utils/hooks.py (BackwardHook), torch/nn/modules/_functions.py (BackwardHookFunction)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.function import Function
from glasstorch.autograd.modes import is_grad_enabled
from glasstorch.autograd.node import Node

Gradients = tuple[Any, ...]  # a Tensor or None for each


class BackwardHookFunction(Function):
    """Returns its inputs, and their gradients, as they are."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        ctx.mark_non_differentiable(*(arg for arg in args if not arg.requires_grad))
        return args

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads


class BackwardHook:
    """The backward hooks of one call of a module.

    Arguments that are not tensors count as None where a hook sees them.
    """

    def __init__(
        self, module: Any, user_hooks: Sequence[Callable[..., Any]], user_pre_hooks: Sequence[Callable[..., Any]]
    ) -> None:
        self.module, self.user_hooks, self.user_pre_hooks = module, user_hooks, user_pre_hooks
        self.grad_outputs: Gradients | None = None
        self.n_inputs = self.n_outputs = -1
        self.input_tensors_index: list[int] | None = None  # the positions of the tensors; None where none is watched
        self.output_tensors_index: list[int] | None = None

    def setup_input_hook(self, args: tuple[Any, ...]) -> Any:
        """The module's arguments, from here on watched."""
        watched, self.input_tensors_index, node = _behind_a_node(args)
        self.n_inputs = len(args)
        if node is not None:
            node.register_hook(self._inputs_are_known)
        return watched

    def setup_output_hook(self, args: Any) -> Any:
        """The module's output, from here on watched: a tuple, or one value."""
        outputs = args if isinstance(args, tuple) else (args,)
        watched, self.output_tensors_index, node = _behind_a_node(outputs)
        self.n_outputs = len(outputs)
        if node is not None:
            node.register_hook(self._outputs_are_known)
        return watched if isinstance(args, tuple) else watched[0]

    def _outputs_are_known(self, _: Sequence[Any], gradients: Sequence[Any]) -> Gradients:
        assert self.output_tensors_index is not None
        grad_outputs = _placed(self.output_tensors_index, gradients, self.n_outputs)
        for hook in self.user_pre_hooks:
            replaced = hook(self.module, grad_outputs)
            if replaced is None:
                continue
            if len(replaced) != len(grad_outputs):
                raise RuntimeError(
                    "Backward pre hook returned an invalid number of grad_output, "
                    f"got {len(replaced)}, but expected {len(grad_outputs)}"
                )
            grad_outputs = replaced
        if self.input_tensors_index is None:
            self._run_without_inputs(grad_outputs)
        else:
            self.grad_outputs = grad_outputs
        return tuple(grad_outputs[i] for i in self.output_tensors_index)

    def _run_without_inputs(self, grad_outputs: Gradients) -> None:
        """No input requires gradients, so that the hooks are called now."""
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
            "require gradients. See "
            "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
            "#torch.nn.Module.register_full_backward_hook for more details.",
            stacklevel=5,
        )
        for hook in self.user_hooks:
            replaced = hook(self.module, (None,) * self.n_inputs, grad_outputs)
            if replaced is not None and not (isinstance(replaced, tuple) and all(one is None for one in replaced)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for "
                    "all gradients."
                )

    def _inputs_are_known(self, gradients: Sequence[Any], _: Sequence[Any]) -> Gradients | None:
        if self.grad_outputs is None:
            return None  # the gradient has not come through the module's output, as in a double backward
        assert self.input_tensors_index is not None
        grad_inputs = _placed(self.input_tensors_index, gradients, self.n_inputs)
        for hook in self.user_hooks:
            replaced = hook(self.module, grad_inputs, self.grad_outputs)
            if replaced is None:
                continue
            if len(replaced) != len(grad_inputs):
                raise RuntimeError(
                    f"Backward hook returned an invalid number of grad_input, got {len(replaced)}, but expected "
                    f"{len(grad_inputs)}"
                )
            grad_inputs = replaced
        self.grad_outputs = None
        return tuple(grad_inputs[i] for i in self.input_tensors_index)


def _behind_a_node(values: tuple[Any, ...]) -> tuple[Any, list[int] | None, Node | None]:
    """The values with their tensors behind a node of their own, where these tensors stand, and the node.

    The values stay as they are, without a node, where no gradient is recorded.
    """
    positions = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    if not (is_grad_enabled() and any(values[i].requires_grad for i in positions)):
        return values, None, None
    tensors = BackwardHookFunction.apply(*(values[i] for i in positions))
    changed = list(values)
    for position, tensor in zip(positions, tensors, strict=True):
        changed[position] = tensor
    node = next(tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None)
    # A named tuple takes its fields as separate arguments.
    return tuple(changed) if type(values) is tuple else type(values)(*changed), positions, node


def _placed(positions: list[int], gradients: Sequence[Any], length: int) -> Gradients:
    """The gradients at the places of their tensors, and None at the others."""
    placed: list[Any] = [None] * length
    for position, gradient in zip(positions, gradients, strict=True):
        placed[position] = gradient
    return tuple(placed)
