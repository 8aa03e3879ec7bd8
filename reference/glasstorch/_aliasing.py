"""What may an operator's results share with its arguments, and how does a wrapper class see to that?

Mirrors: torch/utils/_python_dispatch.py (get_alias_info, return_and_correct_aliasing, autograd_would_have_decomposed)
Differs: the operator's own schema says it, for every namespace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch._traceable import is_traceable_wrapper_subclass_type
from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.operator import Operator
from glasstorch.dispatch.python_fallback import _disabled_torch_dispatch_impl


@dataclass
class AliasInfo:
    """Which aliases the schema names at an argument or a result, and whether it is written to."""

    alias_set: set[str]
    is_write: bool
    name: str | None


@dataclass
class SchemaInfo:
    """An operator's aliases; `outs_write_aliases` names that of each result which is an argument written to."""

    args: list[AliasInfo]
    outs: list[AliasInfo]
    is_inplace_view_op: bool
    outs_write_aliases: list[str] | None  # None where no result is written to
    read_only_alias_match_indexes: list[tuple[int, int]]  # argument and result that share memory, and no more


@cache
def get_alias_info(func: Operator) -> SchemaInfo:
    """What an operator's schema says of aliases."""
    args = [_told(a.type, a.name) for a in func.schema.arguments]
    outs = [_told(r.type, r.name) for r in func.schema.returns]
    shared = [
        (i, j)
        for i, arg in enumerate(args)
        for j, out in enumerate(outs)
        if arg.alias_set & out.alias_set and not arg.is_write
    ]
    written = [_get_write_alias(out) for out in outs]
    if any(alias is not None for alias in written) and None in written:
        raise RuntimeError(f"Unsupported schema: {func.schema}")
    names = [alias for alias in written if alias is not None]
    words = {str(word) for word in func.words}
    return SchemaInfo(args, outs, "inplace_view" in words, names or None, shared)


def _told(kind: Any, name: str | None) -> AliasInfo:
    """`a!` is the alias a, written to; `a -> *` may become any other, and `a|b` is one of two."""
    text = (kind.alias or "").partition("->")[0]
    aliases = {alias.strip(" !") for alias in text.split("|")} - {""}
    return AliasInfo(aliases, kind.is_write, name or None)


def _get_write_alias(x: AliasInfo) -> str | None:
    if not (x.alias_set and x.is_write):
        return None
    if len(x.alias_set) != 1:
        raise AssertionError("Expected alias_set to contain exactly one element")
    return next(iter(x.alias_set))


def return_and_correct_aliasing(func: Operator, args: Any, kwargs: Mapping[str, Any] | None, out: Any) -> Any:
    """What a wrapper's `__torch_dispatch__` should return, given what it has computed.

    The result of a view shares its argument's storage; an operator that writes to an argument returns that argument,
    whose sizes and strides follow where the operator changes them.
    """
    info = get_alias_info(func)
    _correct_storage_aliasing(func, info, args, out if isinstance(out, tuple) else (out,))
    if info.is_inplace_view_op:
        changed = [x for i, x in enumerate(args) if _get_write_alias(info.args[i]) is not None]
        if len(changed) != 1:
            raise AssertionError("expected exactly one mutated arg for inplace_view ops")
        _disabled_torch_dispatch_impl(func, (), args, kwargs)  # a kernel of its own device: only the geometry changes
    if info.outs_write_aliases is None:
        return out
    bound = dict(zip((a.name for a in info.args), func.bind(args, dict(kwargs or {})), strict=True))
    given = [bound[_argument_with(info, alias)] for alias in info.outs_write_aliases]
    return given[0] if len(given) == 1 else type(out)(given)


def _argument_with(info: SchemaInfo, alias: str) -> str | None:
    found = [a.name for a in info.args if alias in a.alias_set]
    if len(found) != 1:
        raise AssertionError("Expected exactly one argument index for the given output alias")
    return found[0]


def _correct_storage_aliasing(func: Operator, schema_info: SchemaInfo, args: Any, outs: Sequence[Any]) -> None:
    """Give the results of a view the storage of the argument that they show; their sizes and strides stay."""
    if not isinstance(func, Operator):
        raise AssertionError(f"func must be an OpOverload, got {type(func)}")
    if not isinstance(args, tuple):
        raise AssertionError(f"args must be a tuple, got {type(args)}")
    for argument, result in schema_info.read_only_alias_match_indexes:
        _share_storage(func, args[argument], outs[result])


def _share_storage(func: Operator, arg: Any, ret: Any) -> None:
    results = ret if isinstance(ret, list) else [ret]
    if type(arg) is not type(ret) and any(map(is_traceable_wrapper_subclass_type, (type(arg), type(ret)))):
        for made in results:
            if type(made) is not type(arg):
                raise AssertionError(
                    f"Called {func} with input of type {type(arg)}\nand output of type {type(ret)}. But expected types "
                    f"to match."
                )
    for made in results:
        if not isinstance(made, Tensor):
            raise AssertionError(f"expected torch.Tensor, got {type(made)}")
        made._storage, made._array = arg.untyped_storage(), None
        made._strides = made.strides()
        made._generation = made._storage.generation


def autograd_would_have_decomposed(func: Operator, flat_args: Sequence[Any]) -> bool:
    """Whether autograd runs the operator as a composition of others: the first tensor's device has no kernel for it."""
    first = next((a for a in flat_args if isinstance(a, Tensor)), None)
    return first is None or not func.has_kernel_for(_backend(first))


def _backend(tensor: Tensor) -> DispatchKey:
    return DispatchKey["Meta" if tensor.is_meta else tensor.device.type.upper()]
