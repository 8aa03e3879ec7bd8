"""Which operators do `tensor[index]` and `tensor[index] = value` call?

Mirrors: torch/csrc/autograd/python_variable_indexing.cpp, aten/src/ATen/TensorIndexing.h

Integers, slices, None and Ellipsis make views: each is one of select, slice, unsqueeze and alias, applied from left to
right. The remaining index tensors, lists and masks go to one call of index, or of index_put_ for an assignment.
"""

from __future__ import annotations

import operator as builtin_operators
import warnings
from collections.abc import Sequence
from types import EllipsisType, NoneType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from glasstorch.calls.overloaded import UNASKED, ask
from glasstorch.core import hooks
from glasstorch.core.dtype import INTEGRAL, bool_, int64, uint8
from glasstorch.core.errors import ArgumentTypeError, ArgumentValueError, DimensionError
from glasstorch.core.geometry import has_internal_overlap
from glasstorch.core.keys import SPARSE, WRAPPED
from glasstorch.core.plain_types import PLAIN, SILENT
from glasstorch.core.symbols import is_symbol
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.operators.direct import on_tensor, on_tensors
from glasstorch.operators.generated.registry import table
from glasstorch.operators.shapes.indexing.advanced import MASKS, without_leading_ones
from glasstorch.operators.shapes.scalars import number_as
from glasstorch.outside_data.from_data import PYTHON, lifted
from glasstorch.outside_data.nested import array_of, inferred

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

NUMBERS = (
    bool,
    int,
    float,
    complex,
)  # np.float64 and np.complex128 derive from these; NumPy's other floats do not
INT64_MAX = 2**63 - 1
LONGEST_LEGACY_SEQUENCE = 32

alias = on_tensor("alias")
slice_ = on_tensor("slice.Tensor")
unsqueeze = on_tensor("unsqueeze")
view = on_tensor("view")
expand = on_tensor("expand")
index_tensors = on_tensors("index.Tensor")
index_put_ = on_tensors("index_put_")
SELECT, SLICE = table("select.int"), table("slice.Tensor")


def get(tensor: Tensor, index: Any) -> Tensor:  # hot path: benchmarks/eager.py
    """The value of `tensor[index]`: a view if the index has no tensors, lists or bools in it."""
    kind = type(index)
    if kind is int:
        return _select(tensor, 0, index, 0)
    if kind is slice:
        first = 0 if index.start is None else index.start  # `_slice`, written out
        last = INT64_MAX if index.stop is None else index.stop
        if index.step is None and type(first) is int and type(last) is int:
            included, allowed = active_keys.get()
            keys = (tensor.key_set | included) & allowed
            return SLICE[keys](keys, tensor, 0, first, last, 1)  # type: ignore[no-any-return]
        return _slice(tensor, 0, index)
    if kind is tuple and len(index) <= len(tensor._shape):
        for entry in index:
            if type(entry) is not int and type(entry) is not slice:
                break
        else:
            return _cut(tensor, index)
    elif kind in PLAIN and index._shape:
        _check_dimensions(tensor, _dimensions(index))
        return index_tensors(tensor, [index])
    answer = ask(get, "torch.Tensor.__getitem__", (tensor, index), None)
    return plain_get(tensor, index) if answer is UNASKED else answer


def plain_get(tensor: Tensor, index: Any) -> Tensor:
    """The plain twin of `get`: one path for every kind of index."""
    sliced, indices = _apply(tensor, _entries(index))
    if indices:
        return index_tensors(sliced, indices)
    return alias(tensor) if sliced is tensor else sliced


def _cut(tensor: Tensor, entries: tuple[int | slice, ...]) -> Tensor:  # hot path: benchmarks/autograd.py
    """The view for an index of only integers and slices, no more than there are dimensions."""
    included, allowed = active_keys.get()
    result, dim = tensor, 0
    for real_dim, entry in enumerate(entries):
        if isinstance(entry, int):
            result = _select(result, dim, entry, real_dim)
            continue
        first, last = entry.start, entry.stop
        if type(first) is int and type(last) is int and entry.step is None:  # `_slice`, written out
            if first or last != result._shape[dim]:
                keys = (result.key_set | included) & allowed
                result = SLICE[keys](keys, result, dim, first, last, 1)
        elif not _takes_everything(entry, result._shape[dim]):
            result = _slice(result, dim, entry)
        dim += 1
    return alias(tensor) if result is tensor else result


def __setitem__(tensor: Tensor, index: Any, value: Any) -> None:
    """Carry out `tensor[index] = value`; the value is broadcast and cast."""
    if not SILENT.issuperset((type(value), type(index))):
        answer = ask(__setitem__, "torch.Tensor.__setitem__", (tensor, index, value), None)
        if answer is not UNASKED:
            return
    if isinstance(value, np.integer):
        value = int(value)
    elif not isinstance(value, (TensorImpl, *NUMBERS)):
        raise ArgumentTypeError(
            f"can't assign a {_type_name(value)} to a torch.{tensor.dtype.scalar_name}Tensor; expected a number or a "
            f"tensor"
        )
    if (
        not isinstance(value, TensorImpl) and active_keys.get()[0] & PYTHON
    ):  # a mode sees the same operators as in PyTorch
        value = lifted(hooks.tensor_hooks.wrap(*array_of(number_as(value, tensor.dtype), tensor.dtype)))
    try:
        _put(tensor, index, value)
    except Exception:
        if tensor.key_set & SPARSE:
            raise ArgumentTypeError("Cannot assign to a sparse tensor") from None
        if not isinstance(value, TensorImpl):
            number_as(value, tensor.dtype)  # PyTorch casts a number before it examines the index
        raise


def __delitem__(tensor: Tensor, index: Any) -> NoReturn:
    """Refuse `del tensor[index]`."""
    raise TypeError("Tensor does not support deleting items")


def _put(tensor: Tensor, index: Any, value: Any) -> None:
    """`__setitem__`, for a tensor or a number as the value."""
    if index is False:
        if not isinstance(value, TensorImpl):
            number_as(value, tensor.dtype)
        return
    if type(index) is int:
        _copy(_select(tensor, 0, index, 0), value)
        return
    if type(index) is slice:
        _copy(_slice(tensor, 0, index), value)
        return
    if index is True:
        _copy(unsqueeze(tensor, 0), value)
        return
    if isinstance(index, TensorImpl) and index._shape:
        _check_dimensions(tensor, _dimensions(index))
        sliced: Tensor = tensor
        indices: list[Any] = [index]
    else:
        sliced, indices = _apply(tensor, _entries(index))
    if not indices:
        _copy(sliced, value)
        return
    if not isinstance(value, TensorImpl):
        number: Any = value
        value = sliced.new_full((), number)
    index_put_(sliced, indices, _without_leading_ones(value), False)


def _copy(target: Tensor, value: Any) -> None:
    """Write a number, or a tensor that broadcasts; its leading dimensions of size 1 are dropped first."""
    source: Any = value
    if not isinstance(value, TensorImpl):  # a tensor of the number is written, in PyTorch too
        overlaps = target._strides is not None and has_internal_overlap(target._shape, target._strides)
        number = number_as(source, target.dtype)
        target.fill_(target.new_full((), number) if overlaps else hooks.tensor_hooks.wrapped_number(number))
    elif value._shape == target._shape:
        target.copy_(source)
    elif not value._shape:
        target.fill_(source)
    else:
        source = view(source, without_leading_ones(source._shape))
        target.copy_(source if source._shape == target._shape else expand(source, target._shape, True))


def _without_leading_ones(tensor: Any) -> Any:
    shape = without_leading_ones(tensor._shape)
    return tensor if shape == tensor._shape else view(tensor, shape)


# Reading an index -----------------------------------------------------------------------------------------------


def _entries(index: Any) -> Sequence[Any]:
    """The index as a sequence of entries."""
    if isinstance(index, tuple):
        return index
    if isinstance(index, list) and _is_legacy_tuple(index):
        warnings.warn(
            "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9"
            "; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
            "x[torch.tensor(seq)], which will result either in an error or a different result",
            UserWarning,
            stacklevel=4,
        )
        return index
    return (index,)


def _is_legacy_tuple(index: list[Any]) -> bool:
    """Whether PyTorch still interprets a list as a tuple: a short one that holds something other than numbers."""
    kinds = (TensorImpl, slice, EllipsisType, Sequence, np.ndarray)
    return len(index) < LONGEST_LEGACY_SEQUENCE and any(
        entry is None or (isinstance(entry, kinds) and not isinstance(entry, str)) for entry in index
    )


def _apply(tensor: Tensor, entries: Sequence[Any]) -> tuple[Tensor, list[Any]]:
    """The result of the entries that make views, and the index tensors that remain for `index`."""
    try:
        entries = [_read(entry) for entry in entries]
    except Exception:
        _check_dimensions(tensor, sum(map(_dimensions, entries)))  # PyTorch counts entries before it reads them
        raise
    specified = sum(map(_dimensions, entries))
    _check_dimensions(tensor, specified)
    result = tensor
    indices: list[Any] = []
    dim = 0  # of the result, where the next entry applies
    for entry in entries:
        match entry:
            case None:
                result = unsqueeze(result, dim)
            case EllipsisType():
                skipped = len(tensor._shape) - specified
                dim += skipped
                indices += [None] * skipped
                continue
            case bool():
                result = unsqueeze(result, dim)
                indices.append(_tensor(np.zeros(1 if entry else 0, np.int64)))
                dim += 1
                continue
            case int():
                result = _select(result, dim, entry, len(tensor._shape) - len(result._shape) + dim)
                continue
            case slice():
                if not _takes_everything(entry, result._shape[dim]):
                    result = _slice(result, dim, entry)
            case _:
                indices.append(entry)
                dim += _dimensions(entry)
                continue
        indices.append(None)
        dim += 1
    while indices and indices[-1] is None:
        indices.pop()
    return result, indices


def _read(entry: Any) -> Any:
    """An entry as None, Ellipsis, bool, int, slice, or an index tensor or mask with dimensions."""
    if entry is None or entry is Ellipsis or type(entry) in (bool, int, slice):
        return entry
    if not isinstance(entry, TensorImpl):
        if not isinstance(entry, Sequence | np.ndarray):
            return _integer(entry)
        entry = _index_tensor(entry)
    if entry._shape or not (entry.dtype.category == INTEGRAL or entry.dtype is bool_):
        return entry
    if entry.key_set & WRAPPED:  # by a transform: a batch has no one value
        return entry
    value = entry.host_array().item()
    return bool(value) if entry.dtype in MASKS else value


def _integer(entry: Any) -> int:
    """An entry that is a single integer: anything with `__index__`."""
    try:
        return builtin_operators.index(entry)
    except TypeError:
        raise DimensionError(
            f"only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
            f"{_type_name(entry)})"
        ) from None


def _index_tensor(entry: Any) -> Tensor:
    """A list or array of indices, or of bools, as a tensor; floats in a list are truncated.

    Mirrors: indexing_tensor_from_data in torch/csrc/utils/tensor_new.cpp
    """
    if isinstance(entry, np.ndarray) and entry.dtype.kind in "biufc":
        array = entry.real if entry.dtype.kind == "c" else entry
        return _tensor(array if array.dtype in (bool_.numpy, uint8.numpy) else array.astype(np.int64))
    if isinstance(entry, str | bytes):
        raise ArgumentTypeError(f"new(): invalid data type '{type(entry).__name__}'; expected integers or bool")
    if type(entry) is list and set(map(type, entry)) == {int}:
        array = np.array(entry)
        if array.dtype == int64.numpy:
            return _tensor(array)
    return _tensor(array_of(entry, bool_ if inferred(entry) is bool_ else int64)[0])


def _type_name(value: Any) -> str:
    """The name of a value's type, with its module's."""
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _tensor(array: Any) -> Tensor:
    return hooks.tensor_hooks.from_array(array)


def _dimensions(entry: Any) -> int:
    """How many dimensions of the indexed tensor an entry covers."""
    if entry is None or entry is Ellipsis or type(entry) is bool:
        return 0
    if isinstance(entry, TensorImpl) and entry.dtype in MASKS:
        return len(entry._shape)
    return 1


def _check_dimensions(tensor: Tensor, specified: int) -> None:
    if specified > len(tensor._shape):
        raise DimensionError(f"too many indices for tensor of dimension {len(tensor._shape)}")


# Integers and slices --------------------------------------------------------------------------------------------


def _select(tensor: Tensor, dim: int, index: int, real_dim: int) -> Tensor:
    """`select` with the error messages of indexing; `real_dim` is the dimension of the indexed tensor."""
    shape = tensor._shape
    if not shape and index:
        raise DimensionError(f"index {index} is out of bounds for dimension {real_dim} with size 0")
    if not shape:
        raise DimensionError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
            "0-dim tensor to a number"
        )
    size = shape[dim]
    if not -size <= index < size:
        if not -INT64_MAX <= index <= INT64_MAX:
            raise ArgumentValueError(f"Overflow when unpacking long long: {index} is beyond int64")
        raise DimensionError(f"index {index} is out of bounds for dimension {real_dim} with size {size}")
    included, allowed = active_keys.get()
    keys = (tensor.key_set | included) & allowed
    return SELECT[keys](keys, tensor, dim, index)  # type: ignore[no-any-return]


def _takes_everything(part: slice, size: int) -> bool:
    """Whether a slice selects everything; among several indices it is then skipped, as in PyTorch."""
    if type(size) is not int or type(part.stop) not in (int, NoneType):
        return part.start in (None, 0) and part.stop is size and part.step in (None, 1)
    return part.start in (None, 0) and (part.stop is None or part.stop == size) and part.step in (None, 1)


def _slice(tensor: Tensor, dim: int, part: slice) -> Tensor:
    """`slice` with the error messages of indexing; a bound that is not given is 0 or the largest integer."""
    first = 0 if part.start is None else part.start
    last = INT64_MAX if part.stop is None else part.stop
    if part.step is None and type(first) is int and type(last) is int:
        included, allowed = active_keys.get()
        keys = (tensor.key_set | included) & allowed
        return SLICE[keys](keys, tensor, dim, first, last, 1)  # type: ignore[no-any-return]
    step = 1 if part.step is None else _end(part.step)
    if step <= 0:
        raise ArgumentValueError("step must be greater than zero" if step else "slice step cannot be zero")
    return slice_(tensor, dim, _end(first), _end(last), step)


def _end(number: Any) -> int:
    """A bound or step of a slice, clamped to int64."""
    if is_symbol(number):
        return number  # type: ignore[no-any-return]
    if type(number) is not int:
        try:
            number = builtin_operators.index(number)
        except TypeError as error:
            if isinstance(number, TensorImpl):
                raise
            raise ArgumentTypeError(
                f"slice indices must be integers or None or have an __index__ method; {error}"
            ) from None
    return number if -INT64_MAX <= number <= INT64_MAX else (INT64_MAX if number > 0 else -INT64_MAX)
