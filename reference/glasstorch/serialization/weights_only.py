"""How is a pickle read without running what it asks for?

Mirrors: torch/_weights_only_unpickler.py (Unpickler, get_globals_in_pkl)
Differs: errors in the pickle itself (an empty stack, a string longer than the file) are UnpicklingErrors too; PyTorch
    lets IndexError, KeyError and struct.error through. A key that takes exponential time to hash is refused.

A pickle is a program for a machine with a stack. Python's own machine imports whatever the program names and calls it.
This one knows the instructions that tensors and containers need, takes names from a list (`allowed`), and stops at
everything else.
"""

from __future__ import annotations

import struct
import warnings
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import Counter, OrderedDict
from collections.abc import Callable
from pickle import HIGHEST_PROTOCOL, UnpicklingError, decode_long
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.core.typed_storage import TypedStorage
from glasstorch.nn.parameter import Parameter
from glasstorch.serialization import allowed, rebuild

PROTOCOL = 2  # what `save` writes by default
_missing: Final = object()


class Unpickler:
    """Loads one object from a file of pickles. `persistent_load` is set by the user and gives the storages."""

    persistent_load: Callable[[Any], Any]

    def __init__(self, file: Any, *, encoding: str = "bytes", **ignored: Any) -> None:
        self.read: Callable[[int], bytes] = file.read
        self.readline: Callable[[], bytes] = file.readline
        self.encoding = encoding  # of Python 2's strings
        self.memo: dict[int, Any] = {}
        self.stack: list[Any] = []
        self.marked: list[list[Any]] = []  # the stacks below each mark
        self.by_users = allowed.by_users()
        self.done = False

    def load(self) -> Any:
        """Run the program up to its end; what it leaves on the stack is the object."""
        try:
            while not self.done:
                code = self._bytes(1)[0]
                instruction = INSTRUCTIONS.get(code)
                if instruction is None:
                    raise unsupported(code)
                instruction(self)
            return self.stack.pop()
        except (IndexError, KeyError, struct.error, UnicodeDecodeError) as error:
            raise UnpicklingError(f"the pickle is damaged: {type(error).__name__}: {error}") from error

    def _bytes(self, count: int) -> bytes:
        data = self.read(count)
        if len(data) != count:
            raise EOFError("Ran out of input: the pickle ends in the middle of an instruction")
        return data

    def _popped_to_mark(self) -> list[Any]:
        items, self.stack = self.stack, self.marked.pop()
        return items

    # Names and calls ------------------------------------------------------------------------------------------------

    def global_(self) -> None:
        """Push what a module and a name stand for, if they are on the list."""
        self.stack.append(self._found(*read_global(self.readline)))

    def _found(self, module: str, name: str) -> Any:
        """What a module and a name stand for, by the list for every file or that of programs; refused otherwise."""
        path = f"{module}.{name}"
        if module.partition(".")[0] in allowed.BLOCKED:
            raise UnpicklingError(f"Trying to load unsupported GLOBAL {path} whose module {module} is blocked.")
        value = allowed.by_default().get(path, _missing)
        if value is _missing:
            value = self.by_users.get(path, _missing)
        if value is not _missing:
            return value
        if path in allowed.QUANTIZED:
            rebuild.quantized_tensor()
        if path in allowed.MISSING_DTYPES:
            raise UnpicklingError(f"the file has something of the dtype {path}, which is not in glasstorch")
        path = path.removeprefix("builtins.")
        raise UnpicklingError(
            f"Unsupported global: GLOBAL {path} was not an allowed global by default. "
            f"Please use `torch.serialization.add_safe_globals([{path}])` or the "
            f"`torch.serialization.safe_globals([{path}])` context manager to allowlist this global "
            "if you trust this class/function."
        )

    def _is_of_users(self, what: Any) -> bool:
        return any(what is given for given in self.by_users.values())

    def reduce(self) -> None:
        """Call a function that is on the list; see `allowed.CALLED`."""
        arguments, function = self.stack.pop(), self.stack[-1]
        if type(arguments) is not tuple:
            raise UnpicklingError(f"a function is called with a tuple, not with {type(arguments).__name__}")
        called = allowed.CALLED.get(id(function))
        if called is None:
            if not self._is_of_users(function):
                raise UnpicklingError(f"Trying to call reduce for unrecognized function {rebuild.short(function)}")
            called = function
        self.stack[-1] = _call(called, arguments)

    def new_object(self) -> None:
        """Make an instance of a class."""
        arguments, cls = self.stack.pop(), self.stack.pop()
        if type(arguments) is not tuple:
            raise UnpicklingError(f"an object is made with a tuple, not with {type(arguments).__name__}")
        if cls is Parameter or cls in (OrderedDict, Counter):
            self.stack.append(_call(allowed.CALLED[id(cls)], arguments))
        elif isinstance(cls, type) and self._is_of_users(cls):
            self.stack.append(cls.__new__(cls, *arguments))
        else:
            raise UnpicklingError(
                "Can only create new object for nn.Parameter or classes allowlisted via `add_safe_globals` but got "
                f"{rebuild.short(cls)}"
            )

    def build(self) -> None:
        """Give an object its state."""
        state, made = self.stack.pop(), self.stack[-1]
        if type(made) is OrderedDict:
            _set_attributes(made, state)
        elif type(made) is Tensor or type(made) is Parameter:
            self.stack[-1] = _with_legacy_state(made, state)
        elif self._is_of_users(type(made)):
            _build(made, state)
        else:
            raise UnpicklingError(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, but got "
                f"{type(made)}"
            )

    def persistent_id(self) -> None:
        """Push a storage."""
        saved = self.stack.pop()
        if type(saved) is not tuple or not saved:
            raise UnpicklingError(f"persistent_load id must be tuple, but got {type(saved)}")
        if saved[0] not in ("storage", b"storage"):
            raise UnpicklingError(f"Only persistent_load of storage is allowed, but got {rebuild.short(saved[0])}")
        self.stack.append(self.persistent_load(saved))

    # Containers -----------------------------------------------------------------------------------------------------

    def mark(self) -> None:
        """Begin a row of items."""
        self.marked.append(self.stack)
        self.stack = []

    def tuple_(self) -> None:
        """A tuple of the items since the mark."""
        items = self._popped_to_mark()
        self.stack.append(tuple(items))

    def _tuple_of(self, count: int) -> None:
        if len(self.stack) < count:
            raise IndexError("pop from empty list")
        self.stack[-count:] = [tuple(self.stack[-count:])]

    def append_item(self) -> None:
        """Append one item to a list."""
        item = self.stack.pop()
        self._list().append(item)

    def append_items(self) -> None:
        """Append the items since the mark to a list."""
        items = self._popped_to_mark()
        self._list().extend(items)

    def _list(self) -> list[Any]:
        target = self.stack[-1]
        if type(target) is not list:
            raise UnpicklingError(f"Can only append to lists, but got {type(target)}")
        return target

    def set_item(self) -> None:
        """Set one item of a dict."""
        value, key = self.stack.pop(), self.stack.pop()
        self._set_items([key, value], "SETITEM")

    def set_items(self) -> None:
        """Set items of a dict: those since the mark."""
        self._set_items(self._popped_to_mark(), "SETITEMS")

    def _set_items(self, items: list[Any], opcode: str) -> None:
        target = self.stack[-1]
        if type(target) not in (dict, OrderedDict, Counter):
            raise UnpicklingError(
                f"Can only {opcode} for dict, collections.OrderedDict, collections.Counter, but got {type(target)}"
            )
        for position in range(0, len(items) - 1, 2):
            key = items[position]
            _call(allowed.check_key, (key,))
            try:
                target[key] = items[position + 1]
            except TypeError as error:
                raise UnpicklingError(f"a {type(key).__name__} cannot be a key of a dict: {error}") from None

    # Values ---------------------------------------------------------------------------------------------------------

    def text(self) -> None:
        """A str."""
        (count,) = struct.unpack("<I", self._bytes(4))
        self.stack.append(str(self._bytes(count), "utf-8", "surrogatepass"))

    def string_of_python_2(self) -> None:
        """A str of Python 2."""
        data = self._bytes(self._bytes(1)[0])
        self.stack.append(data if self.encoding == "bytes" else data.decode(self.encoding))

    def long(self) -> None:
        """An int of up to 255 bytes."""
        self.stack.append(decode_long(self._bytes(self._bytes(1)[0])))

    def get(self, index: int) -> None:
        """Push what was stored under a number."""
        if index not in self.memo:
            raise UnpicklingError(f"Memo value not found at index {index}")
        self.stack.append(self.memo[index])

    def put(self, index: int) -> None:
        """Store the top of the stack under a number."""
        self.memo[index] = self.stack[-1]

    def protocol(self) -> None:
        """The version of the instructions."""
        version = self._bytes(1)[0]
        if version > HIGHEST_PROTOCOL:
            raise UnpicklingError(f"unsupported pickle protocol: {version}; the highest is {HIGHEST_PROTOCOL}")
        if version != PROTOCOL:
            warnings.warn(
                f"Detected pickle protocol {version} in the checkpoint, which was not the default pickle protocol used "
                f"by `torch.load` ({PROTOCOL}). The weights_only Unpickler might not support all instructions "
                "implemented by this protocol.",
                stacklevel=2,
            )

    def stop(self) -> None:
        """The end of the program."""
        self.done = True


def load(file: Any, *, encoding: str = "ASCII") -> Any:
    """One object from a file of pickles."""
    return Unpickler(file, encoding=encoding).load()


def globals_in(file: Any) -> set[str]:
    """The full paths of everything that a pickle names. It is not run."""
    import pickletools  # here, as few programs ask for it

    found = set()
    try:
        for opcode, argument, _ in pickletools.genops(file):
            if ord(opcode.code) not in INSTRUCTIONS:
                raise unsupported(ord(opcode.code))
            if opcode.name == "GLOBAL":
                found.add(".".join(_of_python_3(*str(argument).split(" ", 1))))
    except ValueError as error:
        raise UnpicklingError(f"the pickle is damaged: {error}") from error
    return found


def read_global(readline: Callable[[], bytes]) -> tuple[str, str]:
    """The module and the name that follow the instruction GLOBAL, those of Python 2 as they are in Python 3."""
    module, name = (readline().removesuffix(b"\n").decode("utf-8") for _ in range(2))
    return _of_python_3(module, name)


def _of_python_3(module: str, name: str) -> tuple[str, str]:
    if (module, name) in NAME_MAPPING:
        return NAME_MAPPING[module, name]
    return IMPORT_MAPPING.get(module, module), name


def unsupported(code: int) -> UnpicklingError:
    """The error for an instruction that the machine does not have."""
    import pickletools

    names = [opcode.name for opcode in pickletools.opcodes if ord(opcode.code) == code]
    return UnpicklingError(f"Unsupported operand {code}" + "".join(f" ({name})" for name in names))


def _call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    try:
        return function(*arguments)
    except (TypeError, ValueError) as error:
        name = getattr(function, "__name__", "a class").lstrip("_")
        raise UnpicklingError(f"{name} cannot be called as the file asks for: {error}") from error


def _set_attributes(made: OrderedDict[Any, Any], state: Any) -> None:
    """Attributes of an OrderedDict, such as the `_metadata` of a `state_dict`. They may not hide its methods."""
    if type(state) is not dict or any(type(name) is not str or hasattr(OrderedDict, name) for name in state):
        raise UnpicklingError(f"the state of an OrderedDict must be new attributes, got {rebuild.short(state)}")
    made.__dict__.update(state)


def _with_legacy_state(made: Tensor, state: Any) -> Tensor:
    """A tensor of a file from before PyTorch 0.4, which has storage, offset, sizes and strides as its state."""
    if type(made) is not Tensor or type(state) is not tuple or len(state) != 4 or type(state[0]) is not TypedStorage:
        raise UnpicklingError(
            f"Can only build a Tensor from storage, offset, sizes and strides, got {rebuild.short(state)}"
        )
    return rebuild.tensor(*state)


def _build(made: Any, state: Any) -> None:
    """What Python's unpickler does, for an instance of a class that a program allowed."""
    restore = getattr(made, "__setstate__", None)
    if restore is not None:
        restore(state)
        return
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    if state:
        made.__dict__.update(state)
    for name, value in (slots or {}).items():
        setattr(made, name, value)


def _push(value: Any) -> Callable[[Unpickler], None]:
    return lambda machine: machine.stack.append(value)


def _push_new(kind: Callable[[], Any]) -> Callable[[Unpickler], None]:
    return lambda machine: machine.stack.append(kind())


def _unpacked(form: str) -> Callable[[Unpickler], int]:
    layout = struct.Struct(form)

    def read(machine: Unpickler) -> Any:
        return layout.unpack(machine._bytes(layout.size))[0]

    return read


_byte, _short, _int, _unsigned, _double = map(_unpacked, ("<B", "<H", "<i", "<I", ">d"))

INSTRUCTIONS: Final[dict[int, Callable[[Unpickler], None]]] = {
    code[0]: instruction
    for code, instruction in {
        b"\x80": Unpickler.protocol,
        b".": Unpickler.stop,
        b"c": Unpickler.global_,
        b"R": Unpickler.reduce,
        b"\x81": Unpickler.new_object,
        b"b": Unpickler.build,
        b"Q": Unpickler.persistent_id,
        b"(": Unpickler.mark,
        b"t": Unpickler.tuple_,
        b"\x85": lambda machine: machine._tuple_of(1),
        b"\x86": lambda machine: machine._tuple_of(2),
        b"\x87": lambda machine: machine._tuple_of(3),
        b"a": Unpickler.append_item,
        b"e": Unpickler.append_items,
        b"s": Unpickler.set_item,
        b"u": Unpickler.set_items,
        b"N": _push(None),
        b"\x88": _push(True),
        b"\x89": _push(False),
        b")": _push(()),
        b"]": _push_new(list),
        b"}": _push_new(dict),
        b"\x8f": _push_new(set),
        b"K": lambda machine: machine.stack.append(_byte(machine)),
        b"M": lambda machine: machine.stack.append(_short(machine)),
        b"J": lambda machine: machine.stack.append(_int(machine)),
        b"G": lambda machine: machine.stack.append(_double(machine)),
        b"X": Unpickler.text,
        b"U": Unpickler.string_of_python_2,
        b"\x8a": Unpickler.long,
        b"h": lambda machine: machine.get(_byte(machine)),
        b"j": lambda machine: machine.get(_unsigned(machine)),
        b"q": lambda machine: machine.put(_byte(machine)),
        b"r": lambda machine: machine.put(_unsigned(machine)),
    }.items()
}
