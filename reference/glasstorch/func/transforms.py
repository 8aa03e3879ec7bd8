"""How is a function made into its derivative?

Mirrors: torch/_functorch/eager_transforms.py, torch/_functorch/apis.py (grad, grad_and_value)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.graph import grad as autograd_grad
from glasstorch.autograd.modes import enable_grad
from glasstorch.autograd.saved_hooks import disable_saved_tensors_hooks
from glasstorch.autograd.tangents import level_of_jvp
from glasstorch.core.dtype import FLOATING
from glasstorch.core.hooks import required
from glasstorch.core.pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten
from glasstorch.core.pytree_json import treespec_pprint
from glasstorch.func.arguments import (
    Argnums,
    can_be_differentiated,
    check_only_tensors,
    check_real,
    check_tensors,
    checked_argnums,
    chosen,
    replaced,
)
from glasstorch.func.dual import dual, undual
from glasstorch.func.layers import running
from glasstorch.func.tracking import Tracking
from glasstorch.func.vmap import vmap
from glasstorch.func.wrapped import tracked, values_of
from glasstorch.operators.generated import functions as f

NO_HOOKS = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with your use "
    "case."
)


def leaves_at(tree: Any, owner: Tracking) -> Any:
    """The tensors as leaves of a graph at a level."""
    check_tensors(tree)
    return tree_map(lambda leaf: _leaf(tracked(leaf, owner)), tree)


def _leaf(tensor: Tensor) -> Tensor:
    return required(tensor, True, "only Tensors of floating point")


def around_all(tree: Any, owner: Tracking) -> Any:
    """The tensors of a tree, tracked at a level."""
    return tree_map(lambda leaf: tracked(leaf, owner) if isinstance(leaf, Tensor) else leaf, tree)


def gradients(outputs: Sequence[Any], inputs: Sequence[Tensor], starts: Sequence[Any] | None = None) -> list[Tensor]:
    """The gradients, zeros where an output does not depend on an input; recorded at outer levels."""
    given = [None] * len(outputs) if starts is None else starts
    pairs = [(o, s) for o, s in zip(outputs, given, strict=True) if can_be_differentiated(o)]
    if not pairs:
        return [f.zeros_like(one) for one in inputs]
    found = autograd_grad(
        [o for o, _ in pairs],
        list(inputs),
        [s for _, s in pairs] if starts is not None else None,
        retain_graph=True,
        create_graph=True,
        allow_unused=True,
    )
    return [f.zeros_like(one) if g is None else g for g, one in zip(found, inputs, strict=True)]


def grad_and_value(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives the gradient of `func` and its value; with `has_aux`, the value is (value, aux).

    `func` returns a tensor of one element without dimensions (and aux). `argnums` are the places of the arguments to
    differentiate with respect to, a tree of tensors each.
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with disable_saved_tensors_hooks(NO_HOOKS), running(Tracking()) as owner, enable_grad():
            output, aux, found = None, None, None
            everything, named = around_all(args, owner), around_all(kwargs, owner)
            places = checked_argnums(argnums, len(args))
            wanted = tree_map(_leaf, _checked(chosen(everything, places)))
            output = func(*replaced(everything, places, wanted), **named)
            if has_aux:
                if not (isinstance(output, tuple) and len(output) == 2):
                    raise RuntimeError(
                        "grad_and_value(f)(*args): output of function f should be a tuple: (output, aux) if has_aux is "
                        "True"
                    )
                output, aux = output
            if not isinstance(output, Tensor):
                raise RuntimeError(
                    f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}"
                )
            if output.ndim:
                raise RuntimeError(
                    f"grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                    f"{output.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            if has_aux:
                check_only_tensors(aux)
            flat, spec = tree_flatten(wanted)
            found = values_of(tree_unflatten(gradients([output], flat), spec), owner)
            output, aux = values_of(output, owner), values_of(aux, owner)
        return (found, (output, aux)) if has_aux else (found, output)

    return wrapper


def _checked(tree: Any) -> Any:
    check_tensors(tree)
    return tree


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives the gradient of `func`, which returns a tensor of one element; with `has_aux`, and aux.

    >>> from glasstorch import tensor
    >>> grad(grad(lambda x: x**3))(tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return wrapper


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of `func(*primals)`, and a function from cotangents of its results to those of the primals.

    With `has_aux`, `func` returns (output, aux), and aux comes last.
    """
    return _vjp(func, *primals, has_aux=has_aux)


def _vjp(func: Callable[..., Any], *primals: Any, argnums: Argnums | None = None, has_aux: bool = False) -> Any:
    with disable_saved_tensors_hooks(NO_HOOKS), running(Tracking()) as owner, enable_grad():
        everything = around_all(primals, owner)
        if argnums is None:
            wanted = tree_map(_leaf, _checked(everything))
            out = func(*wanted)
        else:
            places = checked_argnums(argnums, len(primals))
            wanted = tree_map(_leaf, _checked(chosen(everything, places)))
            out = func(*replaced(everything, places, wanted))
        aux = None
        if has_aux:
            if not (isinstance(out, tuple) and len(out) == 2):
                raise RuntimeError(
                    "vjp(f, *primals): output of function f should be a tuple: (output, aux) if has_aux is True"
                )
            out, aux = out
            check_only_tensors(aux)
            aux = values_of(aux, owner)
        flat_out, out_spec = tree_flatten(out)
        if not flat_out:
            raise RuntimeError(
                f"vjp(f, *primals): Expected f to be a function that has non-empty output (got output = {flat_out})"
            )
        for one in flat_out:
            if not isinstance(one, Tensor):
                raise RuntimeError(
                    f"vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type {type(one)}"
                )
            if one.dtype.category < FLOATING:
                raise RuntimeError(
                    f"vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                    f"{one.dtype}"
                )
        flat_in, in_spec = tree_flatten(wanted)
        result = values_of(out, owner)

    def vjp_fn(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        flat, spec = tree_flatten(cotangents)
        if spec != out_spec:
            raise RuntimeError(
                f"Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {treespec_pprint(spec)}, primal output: {treespec_pprint(out_spec)}"
            )
        return tree_unflatten(gradients(flat_out, flat_in, flat), in_spec)

    return (result, vjp_fn, aux) if has_aux else (result, vjp_fn)


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """The value of `func(*primals)` and its change along the tangents, which have the structure of the primals.

    With `strict`, an output that does not depend on the primals is an error instead of a tangent of zeros. With
    `has_aux`, `func` returns (output, aux), and aux comes last.
    """
    return _jvp(func, primals, tangents, None, strict=strict, has_aux=has_aux)


def _jvp(
    func: Callable[..., Any],
    primals: Any,
    tangents: Any,
    argnums: Argnums | None,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    if not isinstance(primals, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    differentiated = primals if argnums is None else chosen(primals, argnums)
    flat, spec = tree_flatten(differentiated)
    flat_tangents, tangents_spec = tree_flatten(tangents)
    if spec != tangents_spec:
        raise RuntimeError(
            f"jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For example, "
            f"if primals is a tuple of 3 tensors, tangents also must be. Got primals with structure {spec} and "
            f"tangents with structure {tangents_spec}"
        )
    for name, values in (("primals", flat), ("tangents", flat_tangents)):
        if not values:
            raise RuntimeError(f"jvp(f, primals, tangents): Expected {name} to contain at least one Tensor.")
        for value in values:
            if not isinstance(value, Tensor):
                raise RuntimeError(
                    f"jvp(f, primals, tangents): Expected {name} to only contain Tensors, got {type(value)}"
                )
    with running(Tracking(forward=True)) as owner, level_of_jvp():
        duals = tree_unflatten([dual(p, t, owner) for p, t in zip(flat, flat_tangents, strict=True)], spec)
        if argnums is None:
            result = func(*duals)
        else:
            result = func(*replaced(around_all(primals, owner), argnums, duals))
        aux = None
        if has_aux:
            if not (isinstance(result, tuple) and len(result) == 2):
                raise RuntimeError(
                    "jvp(f, primals, tangents): output of function f should be a tuple: (output, aux) if has_aux is "
                    "True"
                )
            result, aux = result
            check_only_tensors(aux)
            aux = values_of(aux, owner)
        flat_out, out_spec = tree_flatten(result)
        if not flat_out:
            raise RuntimeError(
                f"jvp(f, primals, tangents): Expected f to be a function that has non-empty output (got output = "
                f"{flat_out})"
            )
        pairs = [_value_and_tangent(one, owner, strict) for one in flat_out]
    outputs = tree_unflatten([value for value, _ in pairs], out_spec)
    changes = tree_unflatten([f.zeros_like(v) if t is None else t for v, t in pairs], out_spec)
    return (outputs, changes, aux) if has_aux else (outputs, changes)


def _value_and_tangent(value: Any, owner: Tracking, strict: bool) -> tuple[Any, Any]:
    if not isinstance(value, Tensor):
        raise RuntimeError(
            f"jvp(f, primals, tangents): expected f(*primals) to return only tensors, got unsupported type "
            f"{type(value)}"
        )
    primal, tangent = undual(value, owner)
    if tangent is None and strict:
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed "
            "with strict=True."
        )
    return primal, tangent


# Jacobians ----------------------------------------------------------------------------------------------------------


def basis(tensors: Sequence[Tensor]) -> list[Tensor]:
    """For each tensor, a direction of each element of all of them: together, the identity matrix in parts."""
    sizes = [tensor.numel() for tensor in tensors]
    total = sum(sizes)
    parts, start = [], 0
    for tensor, size in zip(tensors, sizes, strict=True):
        part = tensor.new_zeros((total, size))
        part.diagonal(-start).fill_(1)
        parts.append(part.view((total, *tensor._shape)))
        start += size
    return parts


def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """A function that gives the Jacobian of `func`, a row at a time in reverse mode, all rows by vmap.

    The Jacobian of an output of shape s with respect to an input of shape t has the shape s + t. `argnums` says with
    respect to which arguments; with `has_aux`, `func` returns (output, aux). With `chunk_size`, so many rows at a time.
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        check_real("jacrev", args, is_input=True)
        made = _vjp(func, *args, argnums=argnums, has_aux=has_aux)
        output, vjp_fn = made[0], made[1]
        check_real("jacrev", output, is_input=False)
        flat_out, out_spec = tree_flatten(output)
        places = checked_argnums(argnums, len(args))
        flat_in, in_spec = tree_flatten(chosen(args, places))
        starts = tree_unflatten(basis(flat_out), out_spec)
        rows = tree_leaves(vmap(vjp_fn, chunk_size=chunk_size)(starts))
        sizes = [one.numel() for one in flat_out]
        by_input = [row.split(sizes, 0) for row in rows]
        jacobians = [
            tree_unflatten(
                [column[i].reshape(one._shape + given._shape) for column, given in zip(by_input, flat_in, strict=True)],
                in_spec,
            )
            for i, one in enumerate(flat_out)
        ]
        result = tree_unflatten(jacobians, out_spec)
        return (result, made[2]) if has_aux else result

    return wrapper


def jacfwd(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """As `jacrev`, a column at a time in forward mode: cheaper where there are fewer inputs than outputs."""

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        check_real("jacfwd", args, is_input=True)
        places = checked_argnums(argnums, len(args))
        flat_in, in_spec = tree_flatten(chosen(args, places))
        starts = basis(flat_in)

        def push(*tangents: Any) -> Any:
            found = _jvp(func, args, tree_unflatten(list(tangents), in_spec), places, has_aux=has_aux)
            return found[1:] if has_aux else found[1]

        made = vmap(push, randomness=randomness, out_dims=(0, None) if has_aux else 0)(*starts)
        changes, aux = made if has_aux else (made, None)
        flat_out, out_spec = tree_flatten(changes)
        check_real("jacfwd", flat_out, is_input=False)
        sizes = [one.numel() for one in flat_in]
        jacobians = []
        for columns in flat_out:
            shape = columns._shape[1:]
            parts = columns.movedim(0, -1).split(sizes, -1)
            jacobians.append(
                tree_unflatten(
                    [part.reshape(shape + given._shape) for part, given in zip(parts, flat_in, strict=True)], in_spec
                )
            )
        result = tree_unflatten(jacobians, out_spec)
        return (result, aux) if has_aux else result

    return wrapper


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The second derivatives: forward mode over reverse mode.

    >>> from glasstorch import tensor
    >>> hessian(lambda x: x.pow(3).sum())(tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
