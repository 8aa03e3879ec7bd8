"""How do `sparse_csr_tensor` and its kin turn Python and NumPy data into tensors of a compressed layout?

Mirrors: torch/csrc/utils/tensor_new.cpp (sparse_csr_tensor_ctor, sparse_compressed_tensor_ctor)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from glasstorch.calls.overloaded import UNASKED, ask
from glasstorch.core import hooks
from glasstorch.core.layout import layout as Layout
from glasstorch.core.plain_types import SILENT
from glasstorch.operators.direct import on_tensors
from glasstorch.outside_data.creation import as_tensor
from glasstorch.python_forms.sparse_tensors import OPTIONS_TEXT, checking, is_ints, on_device, refused

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

__all__ = [
    "sparse_bsc_tensor",
    "sparse_bsr_tensor",
    "sparse_compressed_tensor",
    "sparse_csc_tensor",
    "sparse_csr_tensor",
]

ROWS = "crow_indices", "col_indices"
COLUMNS = "ccol_indices", "row_indices"
OPTIONS = ("dtype", "layout", "device", "pin_memory", "requires_grad", "check_invariants")


def made(
    public: Any,
    overload: str,
    indices: tuple[str, str],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Tensor:
    """A tensor of the arguments of a public function, whose first two are called `indices`."""
    name = public.__name__
    if not SILENT.issuperset(map(type, (*args, *kwargs.values()))):
        answer = ask(public, f"torch.{name}", args, kwargs or None)
        if answer is not UNASKED:
            return answer  # type: ignore[no-any-return]
    options = {option: kwargs.pop(option, None) for option in OPTIONS}
    positions = (*indices, "values", "size")
    given = dict(zip(positions, args, strict=False))
    size = kwargs.get("size", given.get("size"))
    all_given = given | kwargs
    if (
        len(args) > len(positions)
        or given.keys() & kwargs.keys()
        or all_given.keys() - {"size"} != set(positions[:3])
        or not (size is None or is_ints(size))
        or not (options["layout"] is None or isinstance(options["layout"], Layout))
    ):
        told = kwargs | {option: value for option, value in options.items() if value is not None}
        raise refused(name, args, told, forms(indices))
    on = on_device(options["device"])
    with checking(options["check_invariants"]):
        compressed, plain = (as_tensor(all_given[index], device=on) for index in indices)
        values = as_tensor(all_given["values"], dtype=options["dtype"], device=on)
        made_with = values.dtype, options["layout"], on, options["pin_memory"]
        if size is None:
            result = on_tensors(f"{name}.{overload}")(compressed, plain, values, *made_with)
        else:
            result = on_tensors(f"{name}.{overload}_size")(compressed, plain, values, list(size), *made_with)
    return hooks.required(result) if options["requires_grad"] else result


def forms(indices: tuple[str, str]) -> tuple[str, ...]:
    """How PyTorch's errors write what the function takes."""
    objects = ", ".join(f"object {name}" for name in (*indices, "values"))
    options = OPTIONS_TEXT.replace("torch.device device", "torch.layout layout = None, torch.device device")
    return f" * ({objects}, tuple of ints size, {options})", f" * ({objects}, {options})"


def sparse_compressed_tensor(*args: Any, **kwargs: Any) -> Tensor:
    """A tensor of the compressed layout that `layout` says: `(compressed_indices, plain_indices, values[, size])`."""
    return made(sparse_compressed_tensor, "comp_plain_value", ("compressed_indices", "plain_indices"), args, kwargs)


def of_layout(name: str, overload: str, indices: tuple[str, str], doc: str) -> Callable[..., Tensor]:
    """The function of one layout."""

    def make(*args: Any, **kwargs: Any) -> Tensor:
        return made(make, overload, indices, args, kwargs)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = doc
    return make


sparse_csr_tensor = of_layout(
    "sparse_csr_tensor",
    "crow_col_value",
    ROWS,
    """A CSR tensor: `(crow_indices, col_indices, values[, size])`.

    The elements of row i are those from `crow_indices[i]` on, up to `crow_indices[i + 1]`; `col_indices` has the column
    of each. The other arguments are dtype, layout, device, pin_memory, requires_grad and check_invariants.

    >>> import glasstorch as torch
    >>> torch.sparse_csr_tensor([0, 1, 3], [1, 0, 1], [2.0, 3.0, 4.0], (2, 2), check_invariants=True).to_dense()
    tensor([[0., 2.],
            [3., 4.]])
    """,
)
sparse_csc_tensor = of_layout(
    "sparse_csc_tensor", "ccol_row_value", COLUMNS, "A CSC tensor: `(ccol_indices, row_indices, values[, size])`."
)
sparse_bsr_tensor = of_layout(
    "sparse_bsr_tensor",
    "crow_col_value",
    ROWS,
    "A BSR tensor, a CSR tensor of blocks: `(crow_indices, col_indices, values[, size])`.",
)
sparse_bsc_tensor = of_layout(
    "sparse_bsc_tensor",
    "ccol_row_value",
    COLUMNS,
    "A BSC tensor, a CSC tensor of blocks: `(ccol_indices, row_indices, values[, size])`.",
)
