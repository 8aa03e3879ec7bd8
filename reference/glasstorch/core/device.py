"""Where do a tensor's bytes live?

Mirrors: c10/core/Device.h, c10/core/DeviceType.h, torch/csrc/Device.cpp; torch/utils/_device.py,
    torch/__init__.py (set_default_device)
Differs: only `cpu`, `meta` and `cuda` hold tensors, and the device that a program brings, which is `privateuseone`
    until it is renamed (core/private_use.py); a device of another of PyTorch's types can be named, compared and
    saved, and is refused when a tensor is to be there. An index alone means CUDA also where there is no accelerator,
    and an index above 127 is kept as it is. The default device is a
    mode over Python's functions for those who look (utils/_device.py), and is read where a factory chooses its backend
    (kernels/backend_select.py), also in factories that other operators call, and in `normal` and `range`, which PyTorch
    leaves on the CPU.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Protocol

from glasstorch.core.errors import ArgumentTypeError, DeviceError

TYPES = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
    "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip
PRIVATE_USE: Final = "privateuseone"
DEVICE = re.compile(r"(?P<type>[A-Za-z_]+)(?::(?P<index>0|[1-9]\d*))?")
MOST_INDEX = 2**31 - 1  # that a device string may have


class PrivateUse:
    """The type that a program's own device has taken, and what an index alone means."""

    name = PRIVATE_USE
    is_accelerator = False  # whether the program has said that its device is there, and `device(1)` is one of its kind


private_use: Final = PrivateUse()


class device:
    """A device type with an optional index; equal descriptions are the same object.

    >>> device("cuda:1").index
    1
    >>> device("cpu") is device("cpu")
    True
    >>> device(1)
    device(type='cuda', index=1)
    >>> device("mps")  # which holds no tensors here
    device(type='mps')
    """

    __slots__ = ("index", "type")
    _interned: ClassVar[dict[tuple[str, int | None], device]] = {}
    _by_text: ClassVar[dict[str, device]] = {}  # those that were made, by what they print

    type: str
    index: int | None

    if TYPE_CHECKING:

        def __new__(cls, type: str | device | int, index: int | None = None) -> device: ...  # noqa: PYI034

    else:

        def __new__(cls, *args: Any, **kwargs: Any) -> device:  # noqa: PYI034  (interned, not made)
            if len(args) == 1 and not kwargs:
                (given,) = args
                if given.__class__ is device:
                    return given
                if given.__class__ is str and (found := cls._by_text.get(given)) is not None:
                    return found
            return _interned(*_asked_for(args, kwargs))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"device is immutable: cannot set {name} to {value!r}")

    def __repr__(self) -> str:
        return (
            f"device(type='{self.type}')" if self.index is None else f"device(type='{self.type}', index={self.index})"
        )

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self) -> tuple[object, ...]:
        return device, (self.type,) if self.index is None else (self.type, self.index)

    def __enter__(self) -> device:  # noqa: PYI034  (interned: there are no instances of subclasses)
        base, inner = _defaults.get()
        _defaults.set(Defaults(base, (*inner, self)))
        chosen.ever = True
        chosen.shown().entered(self)
        return self

    def __exit__(self, *raised: object) -> None:
        base, inner = _defaults.get()
        _defaults.set(Defaults(base, inner[:-1]))
        chosen.shown().left()


make_device: Final[Any] = device.__new__  # which a mode of functions replaces (calls/asked_device.py)


def device_from(*args: Any, **kwargs: Any) -> device:
    """`device(...)` for the library's own code: a mode of functions is not asked about it."""
    made: device = make_device(device, *args, **kwargs)
    return made


def check_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuse arguments that fit neither form of `device(...)`, whatever device they would name."""
    _form_of(args, kwargs)


def _asked_for(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, int | None]:
    """The type and the index that the arguments of `device(...)` name."""
    given, index = _form_of(args, kwargs)
    if isinstance(given, device):
        return given.type, given.index
    if isinstance(given, int):
        return private_use.name if private_use.is_accelerator else "cuda", _checked_index(given)
    return _read(given, index)


def _form_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[device | int | str, int | None]:
    """What the arguments of `device(...)` are: `(device)`, which may be an index or a text, or `(type, index)`."""
    if kwargs.keys() == {"device"} and not args:
        return _form_of((kwargs["device"],), {})
    named = {**dict(zip(("type", "index"), args, strict=False)), **kwargs}
    if "type" not in named or not named.keys() <= {"type", "index"} or len(named) < len(args) + len(kwargs):
        raise _invalid_combination(args, kwargs)
    given, index = named["type"], named.get("index")
    alone = len(args) == 1 and not kwargs  # which may also be a device, or an index
    if alone and (isinstance(given, device) or type(given) is int):
        return given, None
    text = given.decode() if isinstance(given, bytes) else given
    if not isinstance(text, str):
        if len(named) == 1:
            raise _invalid_combination(args, kwargs)
        raise ArgumentTypeError(f"device(): argument 'type' (position 1) must be str, not {_type_name(given)}")
    if index is not None and type(index) is not int:
        raise ArgumentTypeError(f"device(): argument 'index' (position 2) must be int, not {type(index).__name__}")
    return text, index


def _read(text: str, index: int | None) -> tuple[str, int | None]:
    """The type and the index of a device string; an index may be given beside it."""
    if not text:
        raise DeviceError("Device string must not be empty")
    match = DEVICE.fullmatch(text)
    if match is None:
        raise DeviceError(f"Invalid device string: '{text}'; expected a type with an optional index: 'cuda:0'")
    kind, number = match["type"], match["index"]
    if kind not in TYPES and kind != private_use.name:
        raise DeviceError(f"Expected one of {', '.join(TYPES)} device type at start of device string: {kind}")
    if number is not None:
        if index is not None:
            raise DeviceError(
                f"type (string) must not include an index because index was passed explicitly: {text}; got {index}"
            )
        if int(number) > MOST_INDEX:
            raise DeviceError(f"Could not parse device index '{number}' in device string '{text}'; it is too large")
        index = int(number)
    return private_use.name if kind == PRIVATE_USE else kind, None if index is None else _checked_index(index)


def _checked_index(index: int) -> int:
    if abs(index) >= 1 << 63:
        raise ValueError(f"Overflow when unpacking long long: the index of a device, {index}")
    if index < 0:
        raise DeviceError(f"Device index must not be negative; got {index}")
    return index


def _interned(kind: str, index: int | None) -> device:
    """The one object for a type and an index."""
    found = device._interned.get((kind, index))
    if found is None:
        found = object.__new__(device)
        object.__setattr__(found, "type", kind)
        object.__setattr__(found, "index", index)
        found = device._interned.setdefault((kind, index), found)
        device._by_text[str(found)] = found
    return found


def _type_name(value: object) -> str:
    return "torch.device" if isinstance(value, device) else type(value).__name__


def _elements_too(value: object) -> str:
    """The type's name, of a list or a tuple with those of its elements."""
    if not isinstance(value, list | tuple):
        return _type_name(value)
    names = ", ".join(map(_type_name, value))
    return f"list of [{names}]" if isinstance(value, list) else f"tuple of ({names})"


def _invalid_combination(args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError:
    """The error for arguments that fit neither form, in the words of PyTorch's argument parser."""
    got = ", ".join([*map(_type_name, args), *(f"{name}={_type_name(value)}" for name, value in kwargs.items())])
    why = ""
    if len(args) == 1 and not kwargs:
        why = f"\n      didn't match because some of the arguments have invalid types: (!{_elements_too(args[0])}!)"
    elif not args and len(kwargs) == 1:
        why = f"\n      didn't match because some of the keywords were incorrect: {next(iter(kwargs))}"
    return ArgumentTypeError(
        f"device() received an invalid combination of arguments - got ({got}{', ' if kwargs else ''}), but expected "
        f"one of:\n * (torch.device device){why}\n * (str type, int index = -1)\n"
    )


def rename_private_use(name: str) -> None:
    """Give the device that a program brings a name of its own, once in a process; see core/private_use.py."""
    if name in TYPES and name != PRIVATE_USE:
        raise DeviceError(f"Cannot register privateuse1 backend with in-tree device name: {name}")
    if private_use.name not in (PRIVATE_USE, name):
        raise DeviceError(
            f"torch.register_privateuse1_backend() has already been set! Current backend: {private_use.name}; refused "
            f"the name {name}"
        )
    old, private_use.name = private_use.name, name
    for (kind, index), one in tuple(device._interned.items()):  # devices that were named before take the new name
        if kind == old:
            object.__setattr__(one, "type", name)
            device._interned[name, index] = device._by_text[str(one)] = one


CPU = device("cpu")
META = device("meta")
WITH_TENSORS = ("cpu", "cuda", "meta")


def holds_tensors(type: str) -> bool:
    """Whether tensors can be on a device of a type; on a program's own, once it has registered how."""
    return type in WITH_TENSORS or type == private_use.name


def no_tensors_on(type: str) -> DeviceError:
    """The error for a tensor on a device of a type that can only be named."""
    return DeviceError(f"there are no tensors on a device of type '{type}'; expected one of {', '.join(WITH_TENSORS)}")


# The device of a tensor that is made without saying it ------------------------------------------------------------


class Defaults(NamedTuple):
    """The default devices: the one that was set, and those of the `with` blocks around, of which the last one holds."""

    base: device | None
    inner: tuple[device, ...]


class Shown(Protocol):
    """Who shows default devices as modes, which is where PyTorch has them (utils/_device.py)."""

    def entered(self, device: device) -> None:
        """A `with` block begins."""

    def left(self) -> None:
        """The innermost block ends."""

    def set_below_all(self, device: device | None) -> None:
        """`set_default_device` was called."""


class Chosen:
    """Whether a default device was ever chosen in this process: nearly no program does, and then nobody need look."""

    ever = False
    shown: Callable[[], Shown]


NOTHING_CHOSEN: Final = Defaults(None, ())
_defaults: Final[ContextVar[Defaults]] = ContextVar("default devices", default=NOTHING_CHOSEN)
chosen: Final = Chosen()


def chosen_device() -> device | None:
    """The device of new tensors, if one was chosen."""
    base, inner = _defaults.get()
    return inner[-1] if inner else base


def set_default_device(device: device | str | int | None) -> None:
    """Make tensors on this device where none is given, in this thread; None is the CPU again.

    For a while, `with torch.device("meta"):` does the same.
    """
    base = None if device is None else _Device(device)
    _defaults.set(Defaults(base, _defaults.get().inner))
    chosen.ever = True
    chosen.shown().set_below_all(base)


_Device = device  # for the function above, which has a parameter of its name
