"""How does a compiled graph run as one node of autograd?

Mirrors: torch/_functorch/_aot_autograd/runtime_wrappers.py (AOTDispatchAutograd, RuntimeWrapper)
Differs: programs that effects.py refuses are errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.function import Function
from glasstorch.autograd.modes import is_grad_enabled
from glasstorch.compiler.boxed import call
from glasstorch.compiler.effects import Effects, ViewOf
from glasstorch.fx._names import at

Backward = Callable[[], Callable[..., Any]]  # gives the compiled backward graph, compiling it when first asked


def node_of(
    forward: Callable[..., Any], backward: Backward, effects: Effects, strides: Sequence[tuple[int, ...] | None]
) -> Callable[..., list[Any]]:
    """A function that runs the forward graph as one node, whose backward runs the other graph.

    `strides` are those of the tangents with which the backward graph was traced; None for those that are row-major.
    """
    count, first = len(effects.differentiable), len(effects.written)
    # `finish` makes these of what they are views of.
    views = {first + i for i, result in enumerate(effects.results) if isinstance(result, ViewOf)}

    class CompiledFunction(Function):
        @staticmethod
        def forward(ctx: Any, *args: Any) -> tuple[Any, ...]:
            found = call(forward, list(args))
            results = [None if i in views else _alone(value) for i, value in enumerate(found[:count])]
            saved = _unwritten(found[count:], [args[i] for i in effects.written])
            ctx.save_for_backward(*[value for value in saved if isinstance(value, Tensor)])
            ctx.others = [None if isinstance(value, Tensor) else value for value in saved]
            plain = [value for value, takes in zip(results, effects.differentiable, strict=True) if not takes]
            ctx.mark_non_differentiable(*[value for value in plain if isinstance(value, Tensor)])
            return tuple(results)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
            tensors = iter(ctx.saved_tensors)
            saved = [next(tensors) if value is None else value for value in ctx.others]
            arriving = [g for g, takes in zip(gradients, effects.differentiable, strict=True) if takes]
            tangents = [_laid_out(g, wanted) for g, wanted in zip(arriving, strides, strict=True)]
            if is_grad_enabled() and any(value.requires_grad for value in (*saved, *tangents) if _is_tensor(value)):
                raise RuntimeError("torch.compile with aot_autograd does not currently support double backward")
            return tuple(call(backward(), [*saved, *tangents]))

    return lambda *args: list(CompiledFunction.apply(*args))


def _unwritten(saved: Sequence[Any], written: Sequence[Tensor]) -> Sequence[Any]:
    """What is saved for the backward pass, with copies of what lies in the memory of arguments that are written to.

    `finish` writes to them after this; PyTorch raises an error in the backward pass.
    """
    if not written:
        return saved
    memory = {arg.untyped_storage()._cdata for arg in written}
    return [
        value.clone() if isinstance(value, Tensor) and value.untyped_storage()._cdata in memory else value
        for value in saved
    ]


def _alone(value: Any) -> Any:
    """A result that nothing else shows a part of, so that it is no view for autograd, whatever it was cut from."""
    if isinstance(value, Tensor) and value._base is not None:
        return at("ops.aten._unsafe_view.default")(value, value.shape)
    return value


def _laid_out(gradient: Tensor, strides: tuple[int, ...] | None) -> Any:
    """A gradient in the layout that its graph was traced for, which views in it may depend on."""
    if strides is None:
        return gradient.contiguous()
    if gradient.stride() == strides:
        return gradient
    made = at("empty_strided")(gradient.shape, strides, dtype=gradient.dtype, device=gradient.device)
    return made.copy_(gradient)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


def finish(effects: Effects, args: Sequence[Any], found: Sequence[Any]) -> list[Any]:
    """The function's results, after its writes: of the arguments, and of what the graph gave."""
    for i, new in zip(effects.written, found, strict=False):
        if effects.arguments[i].is_written_unseen:
            args[i].detach().copy_(new.detach())
        else:
            args[i].copy_(new)
    given = found[len(effects.written) :]
    results = []
    for result, value in zip(effects.results, given, strict=False):
        if isinstance(result, ViewOf):
            value = args[result.number] if result.of_argument else given[result.number]
            for step in result.path:
                value = step.make(value)
        results.append(value)
    for argument, arg in zip(effects.arguments, args, strict=True):
        if argument.geometry is not None:
            shape, strides, moved = argument.geometry
            arg.as_strided_(shape, strides, arg.storage_offset() + moved)
    return results
