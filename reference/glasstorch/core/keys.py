"""Which facts about a call decide which kernel runs?

Mirrors: c10/core/DispatchKey.h, c10/core/DispatchKeySet.h, DispatchKeySet.cpp
Differs: a set is a plain Python int wherever a call passes it along; `DispatchKeySet` wraps one for display. Where the
    highest functionality lacks its backend the key is Undefined; PyTorch returns a marker of its enum.

A key set is one integer. Its low bits are backends (CPU, CUDA, Meta ...), its higher bits are functionalities
(Dense, ADInplaceOrView, AutogradFunctionality ...). A *runtime key* such as AutogradCPU is not a bit of its own:
it is the functionality AutogradFunctionality in a set whose highest backend is CPU. The order
in which dispatch tries keys is that of their bits: the highest functionality in the set first. dtype is not in here.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import EnumMeta, IntEnum
from typing import TYPE_CHECKING, Final

from glasstorch.core.device import no_tensors_on

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


class _Keys(EnumMeta):
    if TYPE_CHECKING:  # the members are made by a loop, which a type checker does not run

        def __getattr__(cls, name: str) -> DispatchKey: ...


class DispatchKey(IntEnum, metaclass=_Keys):
    """A runtime key (one slot in an operator's dispatch table), or an alias for many; values order by priority.

    The members come from the tables above: AutogradCPU exists because CPU is a backend and AutogradFunctionality has a
    key on each. Aliases come last.
    """

    _ignore_ = ["number", "member"]  # noqa: RUF012  (read by Enum)
    for number, member in enumerate(("Undefined", *_PARTS, *ALIASES)):
        vars()[member] = number

    def __str__(self) -> str:
        return f"DispatchKey.{self.name}"


BACKEND_BITS: Final = len(BACKENDS)
ALL_BACKENDS: Final = (1 << BACKEND_BITS) - 1
ALL_KEYS: Final = (1 << (BACKEND_BITS + len(FUNCTIONALITIES))) - 1
# No keys, but marks above all of them.
RECORDED: Final = ALL_KEYS + 1  # Note [Recorded calls] (dispatch/record.py)
DUAL: Final = RECORDED << 1  # Note [Tangents] (autograd/forward.py)

BACKEND_BIT: Final = {name: 1 << i for i, name in enumerate(BACKENDS)}
FUNCTIONALITY_BIT: Final = {name: 1 << (BACKEND_BITS + i) for i, name in enumerate(FUNCTIONALITIES)}


def key_set_of(*keys: DispatchKey | str) -> int:
    """The bits of the given runtime keys.

    A key on a backend sets two bits: its functionality's and the backend's. `Undefined` sets none.

    >>> DispatchKeySet(key_set_of("CPU", "AutogradCPU"))
    DispatchKeySet(CPU, AutogradCPU)
    """
    bits = 0
    for key in keys:
        key = DispatchKey[key] if isinstance(key, str) else key
        assert key.name not in ALIASES, f"{key.name} is an alias, not a key that a tensor can have"
        if key is DispatchKey.Undefined:
            continue
        functionality, backend = _PARTS[key.name]
        bits |= FUNCTIONALITY_BIT[functionality]
        if backend is not None:
            bits |= BACKEND_BIT[backend]
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
    """A key set for display: `DispatchKeySet(x.key_set)`. The library itself passes plain ints.

    >>> s = DispatchKeySet(key_set_of("CPU", "AutogradCPU"))
    >>> s.highestPriorityTypeId()
    <DispatchKey.AutogradCPU: 96>
    """

    __slots__ = ("bits",)

    def __init__(self, keys: int | DispatchKey) -> None:
        self.bits = key_set_of(keys) if isinstance(keys, DispatchKey) else keys

    def has(self, key: DispatchKey | str) -> bool:
        wanted = key_set_of(key)
        return self.bits & wanted == wanted

    def highestPriorityTypeId(self) -> DispatchKey:
        return highest_key(self.bits)

    def __iter__(self) -> Iterator[DispatchKey]:
        return runtime_keys(self.bits)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self.bits | other.bits)

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self.bits & other.bits)

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self.bits & ~(other.bits & ~ALL_BACKENDS))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and self.bits == other.bits

    def __hash__(self) -> int:
        return hash(self.bits)

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(key.name for key in self)})"


AUTOCAST: Final = sum(bit for name, bit in FUNCTIONALITY_BIT.items() if name.startswith("Autocast"))
AUTOGRAD: Final = FUNCTIONALITY_BIT["AutogradOther"] | FUNCTIONALITY_BIT["AutogradFunctionality"]
AUTOGRAD_AND_NESTED: Final = AUTOGRAD | FUNCTIONALITY_BIT["AutogradNestedTensor"]

ADINPLACEORVIEW: Final = FUNCTIONALITY_BIT["ADInplaceOrView"]

# With one of these keys, each element of a tensor stands for the conjugate, or the negative, of what is stored.
CONJUGATE: Final = FUNCTIONALITY_BIT["Conjugate"]
NEGATIVE: Final = FUNCTIONALITY_BIT["Negative"]
MATH_BITS: Final = CONJUGATE | NEGATIVE
TRANSFORMED: Final = FUNCTIONALITY_BIT["FuncTorchDynamicLayerFrontMode"]  # included while a transform runs
WRAPPED: Final = FUNCTIONALITY_BIT["FuncTorchBatched"] | FUNCTIONALITY_BIT["FuncTorchGradWrapper"]  # by a transform

# What an autograd kernel and an ADInplaceOrView kernel redispatch on.
BELOW_AUTOGRAD: Final = below("AutogradOther")
BELOW_ADINPLACEORVIEW: Final = below("ADInplaceOrView")

# The set of a plain strided tensor on each device, the same for every dtype, whether or not it requires grad.
CPU_KEYS: Final = key_set_of("CPU", "ADInplaceOrView", "AutogradCPU", "AutocastCPU")
CUDA_KEYS: Final = key_set_of("CUDA", "ADInplaceOrView", "AutogradCUDA", "AutocastCUDA")
META_KEYS: Final = key_set_of("Meta", "ADInplaceOrView", "AutogradMeta")


class OfDevices(dict[str, int]):
    """A key set for each type of device that holds tensors; to ask for that of another type raises an error."""

    def __missing__(self, type: str) -> int:
        raise no_tensors_on(type)


KEYS_OF_DEVICE: Final = OfDevices(cpu=CPU_KEYS, cuda=CUDA_KEYS, meta=META_KEYS)
