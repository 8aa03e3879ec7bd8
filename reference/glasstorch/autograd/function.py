"""How does a user write an operator's forward and backward in Python?

Mirrors: torch/autograd/function.py (Function, FunctionCtx), torch/csrc/autograd/python_function.cpp (PyNode)
Differs: the node itself is the context; `vmap` and `jvp` come with later parts.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.history import MadeBy, check_inplace, gradient_edge, rebase_history, set_histories
from glasstorch.autograd.hooks import Gradients
from glasstorch.autograd.modes import grad_mode, no_grad
from glasstorch.autograd.node import Metadata, Node
from glasstorch.autograd.once_differentiable import once_differentiable as once_differentiable
from glasstorch.autograd.saved import SavedVariable
from glasstorch.core.errors import AutogradError
from glasstorch.operators.generated.functions import zeros


class FunctionCtx:
    """What the `ctx` of a custom Function can be told."""

    to_save: tuple[Tensor | None, ...]
    dirty: tuple[Tensor, ...]
    non_differentiable: tuple[Tensor, ...]
    materialize_grads: bool

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save tensors for backward, available there as `saved_tensors`; only in forward or setup_context."""
        self.to_save = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Declare which arguments forward changed in place; they must be returned."""
        self.dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Declare which results carry no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward receives zeros (the default) or None for results that no gradient reached."""
        self.materialize_grads = value


class BackwardCFunction(Node, FunctionCtx):
    """The node of a custom Function, and the `ctx` that its forward and backward receive."""

    function: type[Function]

    def __init__(self, edges: Any, needs_input_grad: tuple[bool, ...]) -> None:
        super().__init__(edges)
        self.needs_input_grad = needs_input_grad
        self.to_save: tuple[Tensor | None, ...] = ()
        self.saved: list[SavedVariable | None] | None = None
        self.dirty: tuple[Tensor, ...] = ()
        self.non_differentiable: tuple[Tensor, ...] = ()
        self.materialize_grads = True
        self.argument_positions: list[int] = []  # of the arguments that are tensors
        self.results: list[Metadata | None] = []  # the metadata that each result's gradient must match

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {id(self):#x}>"

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors from `save_for_backward`; an error if one was changed in place since, or the graph was freed."""
        if self.saved is None:
            return self.unpack(None) if self.released else self.to_save  # unpack raises if it was released
        return tuple(None if s is None else self.unpack(s) for s in self.saved)

    def apply(self, grads: Gradients) -> Gradients:
        if self.materialize_grads:
            grads = [
                zeros(like[0], dtype=like[1], device=like[2]) if g is None and like is not None else g
                for g, like in zip(grads, self.results, strict=True)
            ]
        results = self.function.backward(self, *grads)
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
                raise AutogradError(f"{self.name()}: expected Variable or None (got {type(result).__name__})")
            if result is not None and i not in self.argument_positions:
                raise AutogradError(
                    f"function {self.name()} returned a gradient different than None at position {i + 1}, but the "
                    f"corresponding forward input was not a Variable"
                )
        return [results[i] for i in self.argument_positions]

    def release_variables(self) -> None:
        self.saved, self.to_save, self.released = None, (), True


class Function:
    """Base of a user's operator: static methods `forward(ctx, *args)` and `backward(ctx, *grads)`.

    With a static method `setup_context(ctx, inputs, output)`, forward has no `ctx`: it is `forward(*args)`.
    Call `apply`. backward returns one gradient (or None) for each argument of forward. Both may use operators;
    backward's are recorded when `create_graph` asks for it.

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

    _backward_cls: type[BackwardCFunction]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        members = {"function": cls, "__module__": BackwardCFunction.__module__}
        cls._backward_cls = type(f"{cls.__name__}Backward", (BackwardCFunction,), members)

    def __init__(self, *args: object, **kwargs: object) -> None:
        raise RuntimeError(
            f"{type(self).__name__} should not be instantiated. Methods on autograd functions are all static, so you "
            f"should invoke them on the class itself: call {type(self).__name__}.apply(...)"
        )

    @staticmethod
    def forward(*args: Any) -> Any:
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
            "You must implement the backward function for custom autograd.Function to use it with backward()."
        )

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
        positions = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        edges = [gradient_edge(args[i]) for i in positions] if grad_mode.get() else [None] * len(positions)
        wanted = {i for i, edge in zip(positions, edges, strict=True) if edge is not None}
        node = cls._backward_cls(edges, tuple(i in wanted for i in range(len(args))))
        node.argument_positions = positions
        token = grad_mode.set(False)
        try:
            if with_setup:
                result = cls.forward(*args)
                cls.setup_context(node, args, result)
            else:
                result = cls.forward(node, *args)
        finally:
            grad_mode.reset(token)
        results = result if isinstance(result, tuple) else (result,)
        for tensor in node.dirty:
            if not any(tensor is r for r in results):
                raise AutogradError(
                    f"Some elements marked as dirty during the forward method were not returned as output. The inputs "
                    f"that are modified inplace must all be outputs of the Function: {cls.__name__}.forward must "
                    f"return the tensor of sizes {list(tensor._shape)}"
                )
            tensor.bump_version()
        if wanted:
            results = _record(node, args, results)
        return results if isinstance(result, tuple) else results[0]


def _record(node: BackwardCFunction, args: tuple[Any, ...], results: tuple[Any, ...]) -> tuple[Any, ...]:
    """Save the tensors that forward requested, and set the node as the results' grad_fn."""
    outputs: list[Any] = []
    for r in results:
        if isinstance(r, Tensor) and not any(r is d for d in node.dirty):
            if any(r is a for a in args):  # an input returned unchanged becomes a view of it
                with no_grad():
                    r = r.view_as(r)
            if r._is_view():
                r._autograd_meta.made = MadeBy.FUNCTION
        outputs.append(r)
    node.saved = []
    for i, tensor in enumerate(node.to_save):
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {i} is of type {type(tensor).__name__}"
            )
        at = next((i for i, r in enumerate(results) if r is tensor), -1)
        is_input = any(tensor is a for a in args)
        if tensor is None:
            node.saved.append(None)
        elif at >= 0 and not is_input:
            node.saved.append(SavedVariable(tensor, node, at))
        else:
            node.saved.append(SavedVariable(tensor))
    node.to_save = ()
    node.results = [(r._shape, r.dtype, r.device) if isinstance(r, Tensor) else None for r in outputs]
    # A result may be an input and its output a view of that: what forward returned is what it marked.
    differentiable = [
        output if isinstance(output, Tensor) and not any(returned is n for n in node.non_differentiable) else None
        for returned, output in zip(results, outputs, strict=True)
    ]
    dirty = [r for r in outputs if any(r is d for d in node.dirty)]
    for tensor in dirty:
        check_inplace(tensor)
    set_histories(tuple(None if any(r is d for d in dirty) else r for r in differentiable), node)
    for tensor in dirty:
        metadata = node.metadata
        rebase_history(tensor, node)
        node.metadata = tuple(
            (r._shape, r.dtype, r.device) if any(r is d for d in dirty) else m
            for r, m in zip(outputs, metadata, strict=True)
        )
        tensor._autograd_meta.output_nr = next(i for i, r in enumerate(outputs) if r is tensor)
    return tuple(outputs)
