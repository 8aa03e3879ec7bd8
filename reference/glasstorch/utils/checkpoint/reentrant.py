"""How is a function run again by a backward pass inside of the backward pass?

The forward pass runs without recording, so that nothing is saved but the arguments. The node's backward runs the
function once more, recording, and goes backward through that graph at once.

Mirrors: torch/utils/checkpoint.py (CheckpointFunction, detach_variable, check_backward_validity)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.engine import is_checkpoint_valid
from glasstorch.autograd.function import Function
from glasstorch.autograd.graph import backward
from glasstorch.autograd.modes import enable_grad, no_grad
from glasstorch.core.errors import AutogradError
from glasstorch.core.user_line import warn_user
from glasstorch.utils.checkpoint.surroundings import Surroundings


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments as leaves that require grad where the tensors did; what is no tensor stays."""
    if not isinstance(inputs, tuple):
        raise AutogradError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    detached = []
    for one in inputs:
        if isinstance(one, Tensor):
            leaf = one.detach()
            leaf.requires_grad = one.requires_grad
            detached.append(leaf)
        else:
            detached.append(one)
    return tuple(detached)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no tensor among the arguments requires grad: then nothing of the function gets a gradient."""
    if not any(one.requires_grad for one in inputs if isinstance(one, Tensor)):
        warn_user("None of the inputs have requires_grad=True. Gradients will be None")


class CheckpointFunction(Function):
    """A function as one node, whose backward runs it again: `checkpoint(..., use_reentrant=True)`."""

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        """Run the function without recording."""
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.surroundings = Surroundings(args, preserve_rng_state)
        ctx.tensor_indices = [i for i, one in enumerate(args) if isinstance(one, Tensor)]
        ctx.inputs = [None if isinstance(one, Tensor) else one for one in args]
        ctx.save_for_backward(*(args[i] for i in ctx.tensor_indices))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        """Run the function again, recording, and go backward through it: leaves that it uses get their gradients."""
        if not is_checkpoint_valid():
            raise AutogradError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        inputs = list(ctx.inputs)
        for i, tensor in zip(ctx.tensor_indices, ctx.saved_tensors, strict=True):
            inputs[i] = tensor
        detached = detach_variable(tuple(inputs))
        with ctx.surroundings.again(), enable_grad():
            outputs = ctx.run_function(*detached)
        outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
        pairs = [
            (output, grad)
            for output, grad in zip(outputs, args, strict=False)
            if isinstance(output, Tensor) and output.requires_grad
        ]
        if not pairs:
            raise AutogradError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([output for output, _ in pairs], [grad for _, grad in pairs])
        return None, None, *(one.grad if isinstance(one, Tensor) else None for one in detached)
