"""How does a structured operator run on a device that has only its out= form?

Mirrors: build/aten/src/ATen/RegisterCompositeExplicitAutogradNonFunctional.cpp, which torchgen writes
    (dest/register_dispatch_key.py) for operators with `structured_delegate`
Differs: the shape function says what the result is; where a device has a kernel for the operator itself, as the CPU and
    Meta have for all of them, that one runs.

The kernel makes the result on the device of the first tensor and calls the out= form, which writes to it; in place, the
first argument is what is written to. So a device from outside that registers `add.out` has `add` and `add_` too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.errors import ArgumentError
from glasstorch.core.geometry import Shape, row_major
from glasstorch.core.keys import SPARSE_CSR
from glasstorch.core.layout import strided
from glasstorch.core.return_types import named_result
from glasstorch.dispatch.active_keys import compute_keys
from glasstorch.dispatch.library import KernelTable, caller
from glasstorch.dispatch.operator import keys_of, registry, tensors_of
from glasstorch.dispatch.tags import Tag
from glasstorch.kernels.structured import FORMS, ITERATED, inplace_form, shape_function
from glasstorch.operators.composite.sparse.coo import SAID
from glasstorch.operators.generated import functions
from glasstorch.operators.generated.registry import OPERATORS
from glasstorch.operators.shapes.result import Result

DELEGATED = KernelTable("CompositeExplicitAutogradNonFunctional", calls_operators=True)


def delegate(name: str, out_form: str, iterates: bool, reduces: bool) -> Callable[..., Any]:
    """A kernel that makes the results of an operator and lets its out= form fill them."""
    shapes: list[Callable[..., Any]] = []  # filled at the first call: importing all shape functions takes a while
    form = registry.find(f"aten::{out_form}")

    def delegated(keys: int, *arguments: Any, out: Any = None) -> Any:
        if iterates and keys & SPARSE_CSR:  # this alias serves their key too, and they have no out= form to call
            raise unsupported_layout(arguments)
        if out is None:
            if not shapes:
                shapes.append(shape_function(name))
            made = shapes[0](*arguments)  # refuses an empty list, which is dispatched here for want of keys
            first: Any = next(tensors_of(arguments))
            if reduces and isinstance(made, Result) and first.key_set & SPARSE_CSR:
                first = reduced_like(first, made.shape)
            out = made_like(first, made) if isinstance(made, Result) else tuple(made_like(first, one) for one in made)
        outs = out if isinstance(out, tuple) else (out,)
        complete = (*arguments, *outs)
        form.redispatch(compute_keys(keys_of(complete)), *complete)
        return named_result(name, outs) if isinstance(out, tuple) else out

    return delegated


def unsupported_layout(arguments: tuple[Any, ...]) -> ArgumentError:
    """The error of a pointwise operator that tensors of a compressed layout have no kernel for."""
    layout = next(tensor.layout for tensor in tensors_of(arguments) if tensor.layout is not strided)
    return ArgumentError(f"unsupported tensor layout: {SAID[layout.name]}")


def reduced_like(tensor: Tensor, shape: Shape) -> Tensor:
    """What a reduction of a tensor of a compressed layout is like: a number is strided; nothing else can be made."""
    if shape:
        raise ArgumentError(
            f"resize_reduction: support for output with {SAID[tensor.layout.name]} layout is not implemented yet"
        )
    made: Tensor = functions.empty((), dtype=tensor.dtype, device=tensor.device)
    return made


def made_like(tensor: Tensor, result: Result) -> Tensor:
    """A tensor as a shape function describes it, on the device and in the layout of another one."""
    if tensor.layout is not strided and result.strides is None:
        return functions.empty(result.shape, dtype=result.dtype, layout=tensor.layout, device=tensor.device)
    strides = row_major(result.shape) if result.strides is None else result.strides
    made: Tensor = functions.empty_strided(
        result.shape, strides, dtype=result.dtype, layout=tensor.layout, device=tensor.device
    )
    return made


def in_place(name: str, kernel: Callable[..., Any], iterates: bool) -> Callable[..., Any]:
    """The in-place form of such a kernel, which looks at layouts before sizes and memory where the kernel does."""
    checked = inplace_form(name, kernel)

    def written(keys: int, *arguments: Any) -> Any:
        if iterates and keys & SPARSE_CSR:
            raise unsupported_layout(arguments)
        return checked(keys, *arguments)

    return written


def register_delegated() -> None:
    """Register the functional and the in-place form of each structured operator."""
    where, structured = caller(0), Tag.structured.name
    for row in OPERATORS:
        if structured not in row.tags or row.functional is not None:
            continue
        forms = FORMS[row.name]
        out_form = next(form for form in forms if not _is_in_place(form))
        # Where a number comes first, PyTorch looks at the tensor behind it alone.
        iterates = not ITERATED.isdisjoint(row.tags) and row.schema.partition("(")[2].startswith("Tensor")
        kernel = delegate(row.name, out_form, iterates, Tag.reduction.name in row.tags and row.family == "reductions")
        DELEGATED.add(row.name, kernel, where)
        for form in forms:
            if _is_in_place(form):
                DELEGATED.add(form, in_place(row.name, kernel, iterates), where)


def _is_in_place(form: str) -> bool:
    return form.partition(".")[0].endswith("_")


register_delegated()
