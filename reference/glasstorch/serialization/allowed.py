"""Which classes and functions may a file name that is loaded with `weights_only=True`?

Mirrors: torch/_weights_only_unpickler.py (_get_allowed_globals, _add_safe_globals), torch/serialization.py
    (add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals)
Differs: what may be named and what may be called are two lists, and what is called checks its arguments: with PyTorch's
    list, `bytearray(10**12)` is a call that a file can make. `bytes()` may be called, as empty bytes are pickled so.
"""

from __future__ import annotations

from _codecs import encode
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from functools import cache
from types import TracebackType
from typing import Any, Final, Self

from glasstorch._tensor import Tensor
from glasstorch.core.device import device, device_from
from glasstorch.core.dtype import DTYPES
from glasstorch.core.errors import ArgumentTypeError, ArgumentValueError
from glasstorch.core.geometry import Size
from glasstorch.core.storage import UntypedStorage
from glasstorch.core.typed_storage import TypedStorage
from glasstorch.nn.parameter import Parameter
from glasstorch.serialization import names, rebuild
from glasstorch.serialization.names import DTYPE_OF, StorageType

# Never allowed, even if a program allows one of their functions.
BLOCKED: Final = frozenset(("sys", "os", "posix", "nt"))
MOST_PARTS = 1000  # of a key of a dict or an element of a set, which is a tuple: hashing takes time for each
QUANTIZED: Final = frozenset(
    (
        *("torch.QInt8Storage", "torch.QInt32Storage", "torch.QUInt8Storage"),
        *("torch.QUInt4x2Storage", "torch.QUInt2x4Storage", "torch.per_tensor_affine", "torch.per_tensor_symmetric"),
        *("torch.per_channel_affine", "torch.per_channel_symmetric", "torch.per_channel_affine_float_qparams"),
    )
)
MISSING_DTYPES: Final = frozenset(
    (
        *(f"torch.{sign}int{bits}" for sign in ("", "u") for bits in range(1, 8)),
        *("torch.float8_e5m2fnuz", "torch.float8_e4m3fnuz", "torch.float8_e8m0fnu", "torch.float4_e2m1fn_x2"),
        *("torch.bits8", "torch.bits16", "torch.bits1x8", "torch.bits2x4", "torch.bits4x2", "torch.complex32"),
        *("torch.qint8", "torch.qint32", "torch.quint8", "torch.quint4x2", "torch.quint2x4"),
    )
)

SafeGlobal = Callable[..., Any] | tuple[Any, str]
_by_users: list[SafeGlobal] = []


@cache
def by_default() -> dict[str, Any]:
    """What every file may name: full path -> object."""
    found: dict[str, Any] = {
        "collections.OrderedDict": OrderedDict,
        "collections.Counter": Counter,
        "_codecs.encode": encode,
        "builtins.bytes": bytes,
        "builtins.bytearray": bytearray,
        "builtins.set": set,
        "builtins.complex": complex,
        "torch.Size": Size,
        "torch.device": device,
        "torch.Tensor": Tensor,
        "torch.nn.parameter.Parameter": Parameter,
        "torch.storage.UntypedStorage": UntypedStorage,
        "torch.storage.TypedStorage": TypedStorage,
    }
    found |= {f"torch.{dtype.name}": dtype for dtype in DTYPES}
    for name in DTYPE_OF:
        found[f"torch.{name}"] = found[f"torch.cuda.{name}"] = StorageType(name)
    found |= {f"torch.{name}": kind for name, kind in names.TENSOR_TYPES.items()}
    functions = (*rebuild.REBUILD, rebuild.from_type, rebuild.layout_of)
    return found | {".".join(place): what for place, what in names.SPECIAL.items() if what in functions}


def by_users() -> dict[str, Any]:
    """What programs have allowed besides: full path -> object."""
    found: dict[str, Any] = {}
    for given in _by_users:
        if not isinstance(given, tuple):
            found[".".join(names.written(given) or (given.__module__, given.__qualname__))] = given
            continue
        if len(given) != 2:
            raise ArgumentValueError(
                f"Expected tuple of length 2 (global, str of callable full path), but got tuple of length: {len(given)}"
            )
        what, path = given
        if type(path) is not str:
            raise ArgumentTypeError(
                f"Expected second item in tuple to be str of callable full path, but got: {type(path)}"
            )
        found[path] = what
    return found


def add_safe_globals(safe_globals: Iterable[SafeGlobal]) -> None:
    """Allow classes and functions in files that are loaded with `weights_only=True`; they can then be called.

    An item may be a pair of the object and the full path under which files name it.
    """
    for given in safe_globals:
        if given not in _by_users:
            _by_users.append(given)


def get_safe_globals() -> list[SafeGlobal]:
    """What has been allowed by `add_safe_globals`."""
    return list(_by_users)


def clear_safe_globals() -> None:
    """Take back everything that was allowed by `add_safe_globals`."""
    _by_users.clear()


class safe_globals:
    """Allow classes and functions for the files that are loaded in the block."""

    def __init__(self, safe_globals: Iterable[SafeGlobal]) -> None:
        self.safe_globals = list(safe_globals)

    def __enter__(self) -> Self:
        add_safe_globals(self.safe_globals)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _by_users[:] = [given for given in _by_users if given not in self.safe_globals]


# What a file may call ---------------------------------------------------------------------------------------------


def check_key(key: Any) -> None:
    """Refuse a key whose hash would take long, or would exhaust the stack: a tuple of tuples of tuples ..."""
    if type(key) is not tuple:
        return
    waiting, parts = [(key, 1)], 0
    while waiting:
        value, depth = waiting.pop()
        parts += len(value)
        if parts > MOST_PARTS or depth > MOST_PARTS // 10:
            raise ArgumentValueError(f"a key or an element of a set is a tuple of more than {MOST_PARTS} parts")
        waiting += [(part, depth + 1) for part in value if type(part) is tuple]


def _encode(text: Any, encoding: Any = "utf-8") -> bytes:
    """`bytes` in the form in which protocol 2 pickles them."""
    if type(text) is not str or encoding not in ("latin1", "latin-1"):
        raise ArgumentTypeError(
            f"only text of latin1 is encoded, not {type(text).__name__} as {rebuild.short(encoding)}"
        )
    return text.encode("latin1")


def _bytes() -> bytes:
    """The empty one, which protocol 2 pickles as a call."""
    return b""


def _bytearray(*arguments: Any) -> bytearray:
    if len(arguments) == 2:
        return bytearray(_encode(*arguments))
    if arguments and type(arguments[0]) is not bytes:
        raise ArgumentTypeError(f"a bytearray is made of bytes, not of {type(arguments[0]).__name__}")
    return bytearray(*arguments)


def _set(elements: Any = ()) -> set[Any]:
    if type(elements) not in (list, tuple):
        raise ArgumentTypeError(f"a set is made of a list, not of {type(elements).__name__}")
    for element in elements:
        check_key(element)
    return set(elements)


def _ordered(pairs: Any = ()) -> OrderedDict[Any, Any]:
    made: OrderedDict[Any, Any] = OrderedDict()
    for key, value in pairs:
        check_key(key)
        made[key] = value
    return made


def _counter(counts: Any = ()) -> Counter[Any]:
    if type(counts) not in (dict, tuple) or (type(counts) is tuple and counts):
        raise ArgumentTypeError(f"a Counter is made of a dict, not of {type(counts).__name__}")
    return Counter(counts)


def _complex(real: Any, imaginary: Any = 0.0) -> complex:
    if not all(type(part) in (int, float) for part in (real, imaginary)):
        raise ArgumentTypeError(f"a complex number is made of two floats, not of {rebuild.short((real, imaginary))}")
    return complex(real, imaginary)


def _size(sizes: Any = ()) -> Size:
    if type(sizes) not in (tuple, list) or not all(type(size) is int for size in sizes):
        raise ArgumentTypeError(f"a Size is made of ints, not of {rebuild.short(sizes)}")
    return Size(sizes)


def _device(kind: Any, index: Any = None) -> device:
    if type(kind) is not str or type(index) not in (int, type(None)):
        raise ArgumentTypeError(f"a device is made of a name and an index, not of {rebuild.short((kind, index))}")
    return device_from(kind, index)


def _parameter(data: Any = None, requires_grad: Any = True) -> Parameter:
    return rebuild.parameter(data, requires_grad, None)


CALLED: Final[dict[int, Callable[..., Any]]] = {
    id(OrderedDict): _ordered,
    id(Counter): _counter,
    id(encode): _encode,
    id(bytes): _bytes,
    id(bytearray): _bytearray,
    id(set): _set,
    id(complex): _complex,
    id(Size): _size,
    id(device): _device,
    id(Parameter): _parameter,
    **{id(function): function for function in (*rebuild.REBUILD, rebuild.from_type, rebuild.layout_of)},
}
