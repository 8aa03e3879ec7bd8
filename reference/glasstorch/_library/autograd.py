"""How do two functions become the gradient of an operator?

Mirrors: torch/_library/autograd.py
Differs: the kernel of autograd gets every argument of the schema in order, so that nothing has to be filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from glasstorch._library.schemas import has_tensor_list, is_out, tensors_in
from glasstorch.autograd.function import Function
from glasstorch.autograd.history import requires_grad
from glasstorch.autograd.modes import grad_mode
from glasstorch.core.keys import ALL_BACKENDS, AUTOGRAD_AND_NESTED, BELOW_AUTOGRAD
from glasstorch.core.pytree import tree_flatten, tree_unflatten
from glasstorch.core.pytree_spec import TreeSpec
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.dispatch.operator import Boxed, Operator
from glasstorch.dispatch.resolve import users_arguments

NOT_AUTOGRAD = ~(AUTOGRAD_AND_NESTED & ~ALL_BACKENDS)


Found = Callable[[], Callable[..., Any] | None]  # finds a function at each call, so that it may be registered later


class Formula(NamedTuple):
    """The gradient of an operator."""

    backward: Found
    setup_context: Found


class _Call:
    """What of a call is not an argument of the Function: the key set, what has a name, how lists were flattened."""

    __slots__ = ("is_tuple", "keys", "named", "returned", "spec")

    returned: TreeSpec  # of the results, once forward is done
    is_tuple: bool

    def __init__(self, keys: int, named: dict[str, Any], spec: TreeSpec | None = None) -> None:
        self.keys, self.named, self.spec = keys, named, spec


def autograd_kernel(operator: Operator, formula: Formula) -> Boxed:
    """A kernel for the alias Autograd, called as `kernel(keys, *arguments)`."""
    out = is_out(operator)
    made = function_for(operator, formula)
    lists = has_tensor_list(operator.schema)
    table = operator.table

    def kernel(keys: int, *arguments: Any) -> Any:
        if grad_mode.get() and any(requires_grad(tensor) for tensor in tensors_in(arguments)):
            if out:
                raise RuntimeError(
                    f"{operator.schema.name}(): functions with out=... arguments don't support automatic "
                    f"differentiation, but one of the arguments requires grad."
                )
            args, named = users_arguments(operator, arguments)
            return apply(made, keys, args, named) if lists else made.apply(*args, _Call(keys, named))
        included, allowed = active_keys.get()
        token = active_keys.set((included, allowed & NOT_AUTOGRAD))
        below = keys & BELOW_AUTOGRAD
        try:
            return table[below](below, *arguments)
        finally:
            active_keys.reset(token)

    return kernel


def function_for(operator: Operator, formula: Formula) -> type[Function]:
    """The Function whose forward is the operator below autograd, and whose backward is the user's.

    Its last argument is a _Call, which has no gradient. An argument that equals its default is none of its arguments.
    """
    schema = operator.schema
    positional = len(schema.positional)
    names = [a.name for a in schema.keyword_only]

    def forward(ctx: Any, *given: Any) -> Any:
        *args, call = given
        if call.spec is not None:
            args = tree_unflatten(args, call.spec)
        arguments = operator.bind(args, call.named)
        included, allowed = active_keys.get()
        token = active_keys.set((included, allowed & NOT_AUTOGRAD))
        below = call.keys & BELOW_AUTOGRAD
        try:
            result = operator.table[below](below, *arguments)
            if (setup_context := formula.setup_context()) is not None:
                by_name = dict(zip(names, arguments[positional:], strict=True))
                given_by_name = {"keyword_only_inputs": by_name} if names else {}
                setup_context(ctx=ctx, inputs=tuple(arguments[:positional]), output=result, **given_by_name)
        finally:
            active_keys.reset(token)
        if call.spec is None:
            return result
        call.is_tuple = isinstance(result, tuple)
        flat, call.returned = tree_flatten(result if call.is_tuple else (result,), _is_leaf)
        ctx._pt_call = call
        return tuple(flat)

    def backward(ctx: Any, *grads: Any) -> Any:
        user_backward = formula.backward()
        if user_backward is None:
            raise RuntimeError(
                f"Trying to backward through {operator} but no autograd formula was registered. Please use "
                f"register_autograd to add one."
            )
        before = ctx.needs_input_grad
        needed = before[:-1]
        call = getattr(ctx, "_pt_call", None)
        if call is not None:
            grads = tuple(tree_unflatten(list(grads), call.returned))
            needed = tree_unflatten(list(needed), call.spec)
        ctx.needs_input_grad = needed
        try:
            result = user_backward(ctx, *grads)
        finally:
            ctx.needs_input_grad = before
        found = result if isinstance(result, tuple) else (result,)
        return (*(found if call is None else _flat(found, call.spec)), None)

    name = f"GeneratedBackwardFor_{operator.namespace}_{schema.name}_{operator.overload_name or 'default'}"
    return type(name, (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


# Lists of tensors -----------------------------------------------------------------------------------------------------


def apply(made: type[Function], keys: int, arguments: Sequence[Any], named: dict[str, Any]) -> Any:
    """Apply a Function whose arguments or results may be lists of tensors, which autograd sees one by one."""
    flat, spec = tree_flatten(tuple(list(a) if isinstance(a, tuple) else a for a in arguments), _is_leaf)
    call = _Call(keys, named, spec)
    result = made.apply(*flat, call)
    whole = tree_unflatten(list(result), call.returned)
    return whole if call.is_tuple else whole[0]


def _is_leaf(tree: Any) -> bool:
    """Whether autograd sees a value as one: anything but a tuple and a list of tensors."""
    if isinstance(tree, list):
        return any(not isinstance(one, TensorImpl) for one in tree)
    return not isinstance(tree, tuple)


def _is_leaf_of_gradients(tree: Any) -> bool:
    if isinstance(tree, list):
        return any(one is not None and not isinstance(one, TensorImpl) for one in tree)
    return not isinstance(tree, tuple)


def _flat(found: tuple[Any, ...], spec: TreeSpec) -> list[Any]:
    """The gradients one by one; each list must be as long as its argument."""
    flat, own = tree_flatten(found, _is_leaf_of_gradients)
    if own != spec:
        raise RuntimeError(
            f"Expected the return from backward to be of the same structure as the inputs. Got: {own} (return from "
            f"backward), {spec} (inputs)"
        )
    return flat
