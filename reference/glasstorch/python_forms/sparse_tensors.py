"""How do `sparse_coo_tensor` and its kin turn Python and NumPy data into sparse tensors?

Mirrors: torch/csrc/utils/tensor_new.cpp (sparse_coo_tensor_ctor)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.calls.overloaded import UNASKED, ask
from glasstorch.core import hooks
from glasstorch.core.device import device as Device
from glasstorch.core.device import device_from
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.dtype import int64
from glasstorch.core.errors import ArgumentTypeError
from glasstorch.core.plain_types import SILENT
from glasstorch.core.sparse_invariants import setting, warn_if_unsaid
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.operators.direct import factory, on_tensors
from glasstorch.outside_data.creation import as_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

__all__ = ["sparse_coo_tensor"]

of_size = factory("sparse_coo_tensor.size")
of_indices, of_indices_and_size = on_tensors("sparse_coo_tensor.indices"), on_tensors("sparse_coo_tensor.indices_size")

OPTIONS = ("dtype", "device", "pin_memory", "requires_grad", "check_invariants", "is_coalesced")
OPTIONS_TEXT = (
    "*, torch.dtype dtype = None, torch.device device = None, bool pin_memory = False, bool requires_grad = False, "
    "bool check_invariants = None"
)
FORMS = (
    f" * (object indices, object values, {OPTIONS_TEXT}, bool is_coalesced = None)",
    f" * (object indices, object values, tuple of ints size, {OPTIONS_TEXT}, bool is_coalesced = None)",
    f" * (tuple of ints size, {OPTIONS_TEXT})",
)


def sparse_coo_tensor(*args: Any, **kwargs: Any) -> Tensor:
    """A COO tensor: `(indices, values)`, `(indices, values, size)`, or `(size)` without specified elements.

    `indices` is (sparse_dim, nnz), `values` (nnz, *dense sizes): tensors, arrays or nested lists. A tensor of values
    is not copied, and gradients flow to it. The other arguments are dtype, device, pin_memory, requires_grad,
    check_invariants and is_coalesced.

    >>> import glasstorch as torch
    >>> torch.sparse_coo_tensor([[0, 1]], [3.0, 4.0], (3,), check_invariants=True).to_dense()
    tensor([3., 4., 0.])
    """
    if not SILENT.issuperset(map(type, (*args, *kwargs.values()))):
        answer = ask(sparse_coo_tensor, "torch.sparse_coo_tensor", args, kwargs or None)
        if answer is not UNASKED:
            return answer  # type: ignore[no-any-return]
    options = {name: kwargs.pop(name, None) for name in OPTIONS}
    given = dict(zip(("size",) if _is_size(args) else ("indices", "values", "size"), args, strict=False))
    if len(given) < len(args) or given.keys() & kwargs.keys():
        raise refused("sparse_coo_tensor", args, kwargs | {k: v for k, v in options.items() if v is not None}, FORMS)
    given |= kwargs
    if given.keys() == {"indices"} and isinstance(given["indices"], TensorImpl) and not kwargs:
        raise ArgumentTypeError("sparse_coo_tensor(): argument 'size' (position 1) must be tuple of ints, not Tensor")
    size = given.get("size")
    if given.keys() not in ({"size"}, {"indices", "values"}, {"indices", "values", "size"}) or not (
        size is None or is_ints(size)
    ):
        raise refused("sparse_coo_tensor", args, kwargs | {k: v for k, v in options.items() if v is not None}, FORMS)
    made_with = options["dtype"], None, on_device(options["device"]), options["pin_memory"]
    with checking(options["check_invariants"]):
        if "indices" not in given:
            result = of_size(list(given["size"]), *made_with)
        else:
            indices = as_tensor(given["indices"], dtype=int64, device=made_with[2])
            values = as_tensor(given["values"], dtype=options["dtype"], device=made_with[2])
            made_with = values.dtype, *made_with[1:]
            if size is None:
                result = of_indices(indices, values, *made_with, options["is_coalesced"])
            else:
                result = of_indices_and_size(indices, values, list(size), *made_with, options["is_coalesced"])
    return hooks.required(result) if options["requires_grad"] else result


def _is_size(args: Sequence[Any]) -> bool:
    return len(args) == 1 and is_ints(args[0])


def is_ints(value: Any) -> bool:
    """Whether a value can be sizes."""
    return isinstance(value, list | tuple) and all(type(one) is int for one in value)


def on_device(given: Any) -> Device | None:
    """A device from what a caller may write for it."""
    return None if given is None else device_from(given)


def refused(name: str, args: Sequence[Any], kwargs: dict[str, Any], forms: Sequence[str]) -> ArgumentTypeError:
    """The error of arguments that no form takes."""
    names = {Dtype: "torch.dtype", Device: "torch.device"}
    told = [names.get(type(value), type(value).__name__) for value in args]
    told += [f"{name}={names.get(type(v), type(v).__name__)}" for name, v in kwargs.items()]
    got = f"({', '.join(told)}{', ' if not args and told else ''})"
    listed = "\n".join(forms)
    return ArgumentTypeError(
        f"{name}() received an invalid combination of arguments - got {got}, but expected one of:\n{listed}\n"
    )


def to_sparse_coo(self: Tensor) -> Tensor:
    """As `to_sparse()`."""
    return self.to_sparse()


class checking:
    """Inside, the parts of new sparse tensors are checked, or not; None leaves it as it was."""

    def __init__(self, wanted: bool | None) -> None:
        self.wanted, self.before = wanted, setting.checked

    def __enter__(self) -> None:
        if self.wanted is None:
            warn_if_unsaid()
        else:
            setting.checked = self.wanted

    def __exit__(self, *error: object) -> None:
        setting.checked = self.before
