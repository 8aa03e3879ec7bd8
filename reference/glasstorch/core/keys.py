"""Which facts about a call decide which kernel runs?

Mirrors: c10/core/DispatchKey.h, c10/core/DispatchKeySet.h, DispatchKeySet.cpp
Differs: a set is a plain Python int wherever a call passes it along; `DispatchKeySet` wraps one for programs. Where the
    highest functionality lacks its backend a call finds Undefined; PyTorch finds the key of the CPU. Every key has its
    name in the enum, can be parsed and can be iterated over: PyTorch's enum lacks sixteen names, and its parser 42.

A key set is one integer. Its low bits are backends (CPU, CUDA, Meta ...), its higher bits are functionalities
(Dense, ADInplaceOrView, AutogradFunctionality ...). A *runtime key* such as AutogradCPU is not a bit of its own:
it is the functionality AutogradFunctionality in a set whose highest backend is CPU. The order
in which dispatch tries keys is that of their bits: the highest functionality in the set first. dtype is not in here.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import EnumMeta, IntEnum
from typing import TYPE_CHECKING, Any, Final, Self

from glasstorch.core.device import PRIVATE_USE, no_tensors_on, private_use
from glasstorch.core.errors import ArgumentTypeError, RegistrationError

BACKENDS: Final = (
    "CPU", "CUDA", "HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "MTIA", "MAIA",
    "PrivateUse1", "PrivateUse2", "PrivateUse3", "Meta",
)  # fmt: skip

# From low to high priority. Each stands for one bit; those of PER_BACKEND stand for one key on each backend.
FUNCTIONALITIES: Final = (
    "Dense", "FPGA", "Vulkan", "Metal", "Quantized", "CustomRNGKeyId", "MkldnnCPU", "Sparse", "SparseCsr",
    "NestedTensor", "BackendSelect", "Fake", "Python", "FuncTorchDynamicLayerBackMode", "Functionalize",
    "Conjugate", "Negative", "ZeroTensor", "ADInplaceOrView", "AutogradOther", "AutogradFunctionality",
    "AutogradNestedTensor", "Tracer", "AutocastCPU", "AutocastMTIA", "AutocastMAIA", "AutocastXPU",
    "AutocastIPU", "AutocastHPU", "AutocastXLA", "AutocastMPS", "AutocastCUDA", "AutocastPrivateUse1",
    "FuncTorchBatched", "BatchedNestedTensor", "FuncTorchVmapMode", "Batched", "VmapMode",
    "FuncTorchGradWrapper", "DeferredInit", "PythonTLSSnapshot", "FuncTorchDynamicLayerFrontMode",
    "TESTING_ONLY_GenericWrapper", "TESTING_ONLY_GenericMode", "PreDispatch", "PythonDispatcher",
)  # fmt: skip

# Functionalities that have a kernel on each backend, with the prefix of their runtime keys' names.
PER_BACKEND: Final = {
    "Dense": "",
    "Quantized": "Quantized",
    "Sparse": "Sparse",
    "SparseCsr": "SparseCsr",
    "NestedTensor": "NestedTensor",
    "AutogradFunctionality": "Autograd",
}

# Names under which a kernel may be registered that stand for many runtime keys.
ALIASES: Final = (
    "Autograd",
    "CompositeImplicitAutograd",
    "FuncTorchBatchedDecomposition",
    "CompositeImplicitAutogradNestedTensor",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)


def _runtime_keys() -> dict[str, tuple[str, str | None]]:
    """Runtime key -> its functionality and backend, in order of priority: AutogradCPU -> AutogradFunctionality, CPU."""
    parts: dict[str, tuple[str, str | None]] = {}
    for functionality in FUNCTIONALITIES:
        prefix = PER_BACKEND.get(functionality)
        if prefix is None:
            parts[functionality] = functionality, None
        else:
            parts |= {prefix + backend: (functionality, backend) for backend in BACKENDS}
    return parts


_PARTS: Final = _runtime_keys()


def _numbers() -> dict[str, int]:
    """Every name of the enum with its number, which is no priority.

    Functionalities come first; then, for each that has a key on each backend, a mark of its start and those keys, the
    last of which is also the mark of its end; then the aliases.
    """
    numbers = {name: number for number, name in enumerate(("Undefined", *FUNCTIONALITIES))}
    following = len(numbers) + 1  # one number marks the end of the functionalities
    for functionality, prefix in PER_BACKEND.items():
        runtime = (prefix + backend for backend in BACKENDS)
        block = f"StartOf{functionality}Backends", *runtime
        numbers |= {name: following + i for i, name in enumerate(block)}
        following += len(block)
        numbers[f"EndOf{functionality}Backends"] = following - 1
    return numbers | {name: following + i for i, name in enumerate(ALIASES)}


_NUMBERS: Final = _numbers()
_MARKS: Final = frozenset(name for name in _NUMBERS if name.startswith(("StartOf", "EndOf")))


class _Keys(EnumMeta):
    def __iter__(cls) -> Iterator[Any]:
        """The runtime keys in order of priority, Undefined first, and then the aliases."""
        return (cls.__members__[name] for name in ("Undefined", *_PARTS, *ALIASES))

    def __len__(cls) -> int:
        return 1 + len(_PARTS) + len(ALIASES)

    if TYPE_CHECKING:  # the members are made by a loop, which a type checker does not run

        def __getattr__(cls, name: str) -> DispatchKey: ...


class DispatchKey(IntEnum, metaclass=_Keys):
    """A runtime key (one slot in an operator's dispatch table), an alias for many, a functionality or a mark.

    The members come from the tables above: AutogradCPU exists because CPU is a backend and AutogradFunctionality has a
    key on each. Their numbers are PyTorch's and say nothing about priority; to iterate over the enum gives the runtime
    keys in order of priority, and then the aliases.
    """

    _ignore_ = ["number", "member"]  # noqa: RUF012  (read by Enum)
    for member, number in _NUMBERS.items():
        vars()[member] = number

    def __str__(self) -> str:
        return f"DispatchKey.{self.name}"


RUNTIME_KEYS: Final = tuple(DispatchKey[name] for name in ("Undefined", *_PARTS))


def parse_key(name: str) -> DispatchKey:
    """The key of that name: a runtime key, a functionality or an alias, but no mark."""
    if name in _MARKS or name not in _NUMBERS:
        raise RegistrationError(
            f"could not parse dispatch key: {name}; expected a runtime key such as 'CPU', 'Meta' or 'AutogradCPU', or "
            f"one of the aliases {', '.join(ALIASES)}"
        )
    return DispatchKey[name]


BACKEND_BITS: Final = len(BACKENDS)
ALL_BACKENDS: Final = (1 << BACKEND_BITS) - 1
ALL_KEYS: Final = (1 << (BACKEND_BITS + len(FUNCTIONALITIES))) - 1
# No keys, but marks above all of them.
RECORDED: Final = ALL_KEYS + 1  # Note [Recorded calls] (dispatch/record.py)
DUAL: Final = RECORDED << 1  # Note [Tangents] (autograd/forward.py)

BACKEND_BIT: Final = {name: 1 << i for i, name in enumerate(BACKENDS)}
FUNCTIONALITY_BIT: Final = {name: 1 << (BACKEND_BITS + i) for i, name in enumerate(FUNCTIONALITIES)}


def _bits() -> dict[str, int]:
    """The bits of every name that has some: one for a functionality and its mark, two for a key on a backend."""
    bits = dict(FUNCTIONALITY_BIT)
    bits |= {f"StartOf{functionality}Backends": FUNCTIONALITY_BIT[functionality] for functionality in PER_BACKEND}
    for name, (functionality, backend) in _PARTS.items():
        bits[name] = FUNCTIONALITY_BIT[functionality] | (0 if backend is None else BACKEND_BIT[backend])
    return bits


_BITS: Final = _bits()


def key_set_of(*keys: DispatchKey | str) -> int:
    """The bits of the given runtime keys.

    A key on a backend sets two bits: its functionality's and the backend's; a functionality by itself, or the mark
    where its keys start, sets one. `Undefined` sets none.

    >>> DispatchKeySet(key_set_of("CPU", "AutogradCPU"))
    DispatchKeySet(CPU, AutogradCPU)
    """
    bits = 0
    for key in keys:
        key = DispatchKey[key] if isinstance(key, str) else key
        assert key.name not in ALIASES, f"{key.name} is an alias, not a key that a tensor can have"
        bits |= _BITS.get(key.name, 0)
    return bits


def below(functionality: str) -> int:
    """The mask that keeps everything of lower priority than a functionality, and all backends.

    `keys & below("AutogradFunctionality")` is what an autograd kernel redispatches on. PythonDispatcher stays in: it
    must see every hop. The mark for tangents stays in above autograd. Mirrors:
    DispatchKeySet(DispatchKeySet::FULL_AFTER, key).
    """
    bit = FUNCTIONALITY_BIT[functionality]
    mark = DUAL if bit > FUNCTIONALITY_BIT["AutogradNestedTensor"] else 0
    return (bit - 1) | FUNCTIONALITY_BIT["PythonDispatcher"] | mark


def highest_key(keys: int) -> DispatchKey:
    """The runtime key that a set dispatches to: its highest functionality, on its highest backend.

    Undefined where that functionality lacks its backend: lower functionalities are not tried.
    """
    functionality = FUNCTIONALITIES[i] if (i := keys.bit_length() - 1 - BACKEND_BITS) >= 0 else None
    if functionality is None:
        return DispatchKey.Undefined
    prefix = PER_BACKEND.get(functionality)
    if prefix is None:
        return DispatchKey[functionality]
    backends = keys & ALL_BACKENDS
    if not backends:
        return DispatchKey.Undefined
    return DispatchKey[prefix + BACKENDS[backends.bit_length() - 1]]


def runtime_keys(keys: int) -> Iterator[DispatchKey]:
    """The runtime keys in a set, lowest priority first."""
    for i, functionality in enumerate(FUNCTIONALITIES):
        if not keys >> (BACKEND_BITS + i) & 1:
            continue
        prefix = PER_BACKEND.get(functionality)
        if prefix is None:
            yield DispatchKey[functionality]
        else:
            yield from (DispatchKey[prefix + b] for j, b in enumerate(BACKENDS) if keys >> j & 1)


class DispatchKeySet:
    """A key set for programs: `DispatchKeySet(x.key_set)`. The library itself passes plain ints.

    >>> s = DispatchKeySet(DispatchKey.CPU).add(DispatchKey.AutogradCPU)
    >>> s, s.highestPriorityTypeId()
    (DispatchKeySet(CPU, AutogradCPU), <DispatchKey.AutogradCPU: 134>)
    """

    __slots__ = ("bits",)

    def __init__(self, keys: int | DispatchKey) -> None:
        if not isinstance(keys, int):
            raise ArgumentTypeError(
                f"DispatchKeySet(): incompatible constructor arguments: expected a DispatchKey, or the bits of a set. "
                f"Invoked with: {keys!r}"
            )
        self.bits = _bits_of(keys) if isinstance(keys, DispatchKey) else keys

    @staticmethod
    def from_raw_repr(bits: int) -> DispatchKeySet:
        """The set with these bits."""
        if type(bits) is not int or not 0 <= bits < 1 << 64:
            raise ArgumentTypeError(
                f"from_raw_repr(): incompatible function arguments: expected an integer of 64 bits without a sign. "
                f"Invoked with: {bits!r}"
            )
        return DispatchKeySet(bits)

    def raw_repr(self) -> int:
        """The bits of the set."""
        return self.bits

    def has(self, key: DispatchKey | str) -> bool:
        wanted = _bits_of(key)
        return self.bits & wanted == wanted

    def add(self, key: DispatchKey | str) -> DispatchKeySet:
        """A set with the key too; this one stays as it is."""
        return DispatchKeySet(self.bits | _bits_of(key))

    def remove(self, key: DispatchKey | str) -> DispatchKeySet:
        """A set without the key's functionality; the backends stay, as other keys may be on them."""
        return DispatchKeySet(self.bits & ~(_bits_of(key) & ~ALL_BACKENDS))

    def highestPriorityTypeId(self) -> DispatchKey:
        """The key that a call with this set goes to; a mark, where its functionality lacks the backend."""
        key = highest_key(self.bits & ALL_KEYS)
        functionality = (self.bits & ALL_KEYS).bit_length() - 1 - BACKEND_BITS
        if key is DispatchKey.Undefined and functionality >= 0:
            return DispatchKey[f"StartOf{FUNCTIONALITIES[functionality]}Backends"]
        return key

    def __iter__(self) -> Iterator[DispatchKey]:
        return runtime_keys(self.bits)

    def __or__(self, other: object) -> DispatchKeySet:
        return DispatchKeySet(self.bits | other.bits) if isinstance(other, DispatchKeySet) else NotImplemented

    def __and__(self, other: object) -> DispatchKeySet:
        return DispatchKeySet(self.bits & other.bits) if isinstance(other, DispatchKeySet) else NotImplemented

    def __ror__(self, other: object) -> DispatchKeySet:
        return other.as_set() | self if isinstance(other, KeysOfCall) else NotImplemented

    def __rand__(self, other: object) -> DispatchKeySet:
        return other.as_set() & self if isinstance(other, KeysOfCall) else NotImplemented

    def __rsub__(self, other: object) -> DispatchKeySet:
        return other.as_set() - self if isinstance(other, KeysOfCall) else NotImplemented

    def __sub__(self, other: object) -> DispatchKeySet:
        if not isinstance(other, DispatchKeySet):
            return NotImplemented
        return DispatchKeySet(self.bits & ~(other.bits & ~ALL_BACKENDS))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and self.bits == other.bits

    def __hash__(self) -> int:
        return hash(self.bits)

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(key.name for key in self)})"


class KeysOfCall(int):
    """The key set that a program's kernel is given: an int, as the library's kernels have, that answers as a set does.

    The set is without the keys that fall through, which `told` leaves out; a trace wants the int to have them.

    >>> KeysOfCall(key_set_of("CPU")) & DispatchKeySet(DispatchKey.CPU)
    DispatchKeySet(CPU)
    """

    told: int

    def __new__(cls, keys: int, told: int = -1) -> Self:
        made = super().__new__(cls, keys)
        made.told = told
        return made

    def as_set(self) -> DispatchKeySet:
        """The keys as a set."""
        return DispatchKeySet(int(self) & self.told)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.as_set(), name)

    def __iter__(self) -> Iterator[DispatchKey]:
        return iter(self.as_set())

    def __eq__(self, other: object) -> bool:
        return self.as_set() == other if isinstance(other, DispatchKeySet) else int(self) == other

    def __ne__(self, other: object) -> bool:  # that of int would say otherwise
        return not self == other

    __hash__ = int.__hash__

    def __repr__(self) -> str:
        return repr(self.as_set())


def _bits_of(key: DispatchKey | str) -> int:
    """The bits of a key as a program may name it; an alias has none."""
    name = parse_key(key).name if isinstance(key, str) else DispatchKey(key).name
    return key_set_of(name) if name in _PARTS else _BITS.get(name, 0)


AUTOCAST: Final = sum(bit for name, bit in FUNCTIONALITY_BIT.items() if name.startswith("Autocast"))
AUTOGRAD: Final = FUNCTIONALITY_BIT["AutogradOther"] | FUNCTIONALITY_BIT["AutogradFunctionality"]
AUTOGRAD_AND_NESTED: Final = AUTOGRAD | FUNCTIONALITY_BIT["AutogradNestedTensor"]

ADINPLACEORVIEW: Final = FUNCTIONALITY_BIT["ADInplaceOrView"]
PYTHON: Final = FUNCTIONALITY_BIT["Python"]  # of a tensor whose class has a `__torch_dispatch__`, or of a mode

# With one of these keys, each element of a tensor stands for the conjugate, or the negative, of what is stored.
CONJUGATE: Final = FUNCTIONALITY_BIT["Conjugate"]
NEGATIVE: Final = FUNCTIONALITY_BIT["Negative"]
MATH_BITS: Final = CONJUGATE | NEGATIVE
# A tensor of these consists of other tensors: Note [Sparse tensors] (core/tensor_impl.py).
SPARSE_COO: Final = FUNCTIONALITY_BIT["Sparse"]
SPARSE_CSR: Final = FUNCTIONALITY_BIT["SparseCsr"]  # all compressed layouts
SPARSE: Final = SPARSE_COO | SPARSE_CSR
TRANSFORMED: Final = FUNCTIONALITY_BIT["FuncTorchDynamicLayerFrontMode"]  # included while a transform runs
FUNCTIONALIZE: Final = FUNCTIONALITY_BIT["Functionalize"]  # of tensors that are never written to
WRAPPED: Final = FUNCTIONALITY_BIT["FuncTorchBatched"] | FUNCTIONALITY_BIT["FuncTorchGradWrapper"]  # by a transform

# What an autograd kernel and an ADInplaceOrView kernel redispatch on.
BELOW_AUTOGRAD: Final = below("AutogradOther")
BELOW_ADINPLACEORVIEW: Final = below("ADInplaceOrView")

# The set of a plain strided tensor on each device, the same for every dtype, whether or not it requires grad.
CPU_KEYS: Final = key_set_of("CPU", "ADInplaceOrView", "AutogradCPU", "AutocastCPU")
CUDA_KEYS: Final = key_set_of("CUDA", "ADInplaceOrView", "AutogradCUDA", "AutocastCUDA")
META_KEYS: Final = key_set_of("Meta", "ADInplaceOrView", "AutogradMeta")
PRIVATE_USE_KEYS: Final = key_set_of("PrivateUse1", "ADInplaceOrView", "AutogradPrivateUse1", "AutocastPrivateUse1")


class OfDevices(dict[str, int]):
    """A key set for each type of device that holds tensors; to ask for that of another type raises an error.

    A program's own device is also found under the name that it has taken.
    """

    def __missing__(self, type: str) -> int:
        if type == private_use.name:
            return self[PRIVATE_USE]
        raise no_tensors_on(type)


KEYS_OF_DEVICE: Final = OfDevices(cpu=CPU_KEYS, cuda=CUDA_KEYS, meta=META_KEYS, privateuseone=PRIVATE_USE_KEYS)
# That of a sparse tensor differs from a strided one's in one functionality.
SPARSE_KEYS_OF_DEVICE: Final = OfDevices(
    {type: keys & ~FUNCTIONALITY_BIT["Dense"] | SPARSE_COO for type, keys in KEYS_OF_DEVICE.items()}
)
SPARSE_CSR_KEYS_OF_DEVICE: Final = OfDevices(
    {type: keys & ~FUNCTIONALITY_BIT["Dense"] | SPARSE_CSR for type, keys in KEYS_OF_DEVICE.items()}
)
