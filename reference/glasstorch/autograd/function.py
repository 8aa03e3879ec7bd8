"""How does a user write an operator's forward and backward in Python?

Mirrors: torch/autograd/function.py (Function), torch/csrc/autograd/python_function.cpp (THPFunction_apply)
Differs: the node itself is the context (function_node.py); function_outputs.py has what becomes of the results, and
    function_jvp.py forward mode. A call under a transform is in func/function.py.
"""

from __future__ import annotations

import warnings
from abc import ABCMeta
from collections.abc import Callable
from inspect import signature
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.function_jvp import Jvp
from glasstorch.autograd.function_node import BackwardCFunction as BackwardCFunction
from glasstorch.autograd.function_node import FunctionCtx as FunctionCtx
from glasstorch.autograd.function_node import _FunctionBase, _HookMixin
from glasstorch.autograd.function_outputs import Outputs
from glasstorch.autograd.history import gradient_edge
from glasstorch.autograd.modes import grad_mode, no_grad
from glasstorch.autograd.once_differentiable import once_differentiable as once_differentiable
from glasstorch.autograd.tangents import forward_mode
from glasstorch.autograd.tangents import level as dual_level
from glasstorch.core.errors import AutogradError
from glasstorch.core.keys import TRANSFORMED
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.dispatch.active_keys import active_keys

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "NestedIOFunction",
    "once_differentiable",
]

_under_transforms: Callable[[type[Function], tuple[Any, ...]], Any]


def set_under_transforms(function: Callable[[type[Function], tuple[Any, ...]], Any]) -> None:
    """Called once by func/function.py, with what calls a Function where a transform runs."""
    global _under_transforms
    _under_transforms = function


class FunctionMeta(ABCMeta):
    """The class of Functions: it makes for each the class of its nodes, `MyFunctionBackward`."""

    _backward_cls: type[BackwardCFunction]

    def __init__(cls, name: str, bases: tuple[type, ...], attributes: dict[str, Any]) -> None:
        members = {"_forward_cls": cls, "__module__": BackwardCFunction.__module__}
        cls._backward_cls = type(f"{name}Backward", (BackwardCFunction,), members)
        super().__init__(name, bases, attributes)


class _SingleLevelFunction(_FunctionBase, FunctionCtx, _HookMixin, metaclass=FunctionMeta):
    """What of a Function does not ask whether a transform runs: the methods that a user writes."""

    clear_saved_tensors_on_access = False

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result; `ctx`, the first argument unless there is a setup_context, keeps what backward needs."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Store what backward needs in `ctx`, after forward."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Compute the gradient of each argument of forward from those of its results."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Compute the tangent of each result of forward from those of its arguments."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )


class Function(_SingleLevelFunction):
    """Base of a user's operator: static methods `forward(ctx, *args)` and `backward(ctx, *grads)`.

    With a static method `setup_context(ctx, inputs, output)`, forward has no `ctx`: it is `forward(*args)`.
    Call `apply`. backward returns one gradient (or None) for each argument of forward. Both may use operators;
    backward's are recorded when `create_graph` asks for it. `vjp` is another name for backward, and `jvp(ctx,
    *tangents)` computes the tangents of the results in forward mode.

    >>> class Square(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * grad
    """

    generate_vmap_rule = False

    def __init__(self, *args: object, **kwargs: object) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should "
            f"invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            f"version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Refused: call `apply` on the class."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> Any:
        """Compute the batched results, and where their batch dimension is, from batched arguments."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def _user_backward(cls) -> Any:
        """The Function's `backward` or `vjp`, whichever it has."""
        if cls.backward is not Function.backward and cls.vjp is not Function.vjp:
            raise AutogradError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                "implement one of them."
            )
        return cls.backward if cls.vjp is Function.vjp else cls.vjp

    @classmethod
    def _by_position(cls, args: tuple[Any, ...], kwargs: dict[str, Any], with_setup: bool) -> tuple[Any, ...]:
        """The arguments of `apply` in forward's order; TypeError where one can only be given by name."""
        context = () if with_setup else (None,)
        bound = signature(cls.forward).bind(*context, *args, **kwargs)
        if with_setup:
            bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(
                f"forward() got an unexpected keyword argument {next(iter(bound.kwargs))!r}: {cls.__name__}.apply "
                "passes all arguments by position, so it takes by name only those that follow the others without a gap"
            )
        return bound.args[len(context) :]

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward and, where some argument requires grad, record a node that will run backward.

        An argument given by name counts as if it were given by position, and with a setup_context a default does too.
        """
        with_setup = cls.setup_context is not Function.setup_context
        if kwargs or with_setup:
            args = cls._by_position(args, kwargs, with_setup)
        if active_keys.get()[0] & TRANSFORMED:
            if not with_setup:
                raise RuntimeError(
                    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it "
                    "must override the setup_context staticmethod. For more details, please see "
                    "https://pytorch.org/docs/main/notes/extending.func.html"
                )
            return _under_transforms(cls, args)
        return cls._apply_once(args, with_setup)

    @classmethod
    def _apply_once(cls, args: tuple[Any, ...], with_setup: bool) -> Any:
        """Run forward and record it, at one level."""
        positions = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        edges = [gradient_edge(args[i]) for i in positions] if grad_mode.get() else [None] * len(positions)
        wanted = {i for i, edge in zip(positions, edges, strict=True) if edge is not None}
        node = cls._backward_cls(edges, tuple(i in wanted for i in range(len(args))), positions)
        jvp = None if dual_level.get() is None else Jvp(args)
        with no_grad(), forward_mode(enabled=False):
            if with_setup:
                result = cls.forward(*args)
                cls.setup_context(node, args, result)
            else:
                result = cls.forward(node, *args)
        several = isinstance(result, tuple)
        returned = result if several else (result,)
        outputs = Outputs(cls.__name__, node, args, returned, recorded=bool(wanted)).finished(with_setup, jvp)
        return outputs if several else outputs[0]


class InplaceFunction(Function):
    """Present for old programs, which wrote `forward` and `backward` of an instance; derive from Function instead."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """Present for old programs: a Function of an instance with nested arguments, which can no longer be called.

    As in PyTorch, its methods call those of a base that is gone.
    """

    def _do_forward(self, *input: Any) -> Any:
        return super()._do_forward(input)  # type: ignore[misc]

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self._do_forward(*args)

    def forward_extended(self, *input: Any) -> None:
        """To be overridden."""
        raise NotImplementedError

    def backward_extended(self, *grad_output: Any) -> None:
        """To be overridden."""
        raise NotImplementedError


__getattr__ = _refuse_unknown_names(__name__)
