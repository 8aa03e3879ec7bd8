"""What does a device that a program brings answer for itself?

Mirrors: c10/core/Allocator.h (SetAllocator), aten/src/ATen/detail/PrivateUse1HooksInterface.h,
    aten/src/ATen/detail/AcceleratorHooksInterface.h, c10/core/impl/DeviceGuardImplInterface.h,
    torch/csrc/utils/device_lazy_init.cpp, torch/csrc/acc/Module.cpp
Differs: an allocator, hooks and a guard are Python objects. A generator's implementation is an object with the four
    methods of `Stream` below. Storages are copied by `_copy_from`, as tensors are.

PyTorch keeps one backend free for a device that it does not know: PrivateUse1. Who brings a device gives it a name
(core/device.py), registers kernels under the key PrivateUse1, and registers here what no kernel says: where memory
comes from, which device is the current one, which generator draws. `utils/backend_registration.py` hands these
functions to programs; examples/outside_device.py uses all of them.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Protocol

from glasstorch.core import hooks
from glasstorch.core.allocator import Buffer
from glasstorch.core.device import CPU, PRIVATE_USE, device, device_from, private_use
from glasstorch.core.dtype import uint8
from glasstorch.core.errors import DeviceError, MissingKernelError


class Allocator(Protocol):
    """Gives memory of the device. Mirrors: c10::Allocator, whose DataPtr is the block here."""

    def allocate(self, nbytes: int, on: device) -> hooks.DeviceBlock:
        """Uninitialised bytes on a device; they are free again when the block dies.

        The block is any object with `nbytes` and `address`, a number other than 0 that no other living block has.
        """


class PinnedAllocator(Protocol):
    """Gives main memory from which the device can copy by itself."""

    def allocate(self, nbytes: int) -> Buffer:
        """Uninitialised bytes as a uint8 array that owns them."""


class Stream(Protocol):
    """Where the device's random numbers come from. Mirrors: c10::GeneratorImpl."""

    @property
    def first_seed(self) -> int:
        """The seed that it began with."""

    def start(self, seed: int) -> None:
        """Begin anew."""

    def state_bytes(self) -> Buffer:
        """Its state, for `load_state_bytes`."""

    def load_state_bytes(self, state: Buffer) -> None:
        """Continue from a state."""


def unanswered(function: str) -> MissingKernelError:
    """The error for a question that the device's hooks do not answer."""
    return MissingKernelError(
        f"You should register `PrivateUse1HooksInterface`by `RegisterPrivateUse1HooksInterface` and implement "
        f"`{function}` at the same time for PrivateUse1."
    )


class PrivateUse1Hooks:
    """What the library asks of the device; a subclass answers. Mirrors: at::PrivateUse1HooksInterface."""

    def is_built(self) -> bool:
        """Whether the program was built with the device."""
        raise unanswered("isBuilt")

    def is_available(self) -> bool:
        """Whether a device is there."""
        raise unanswered("isAvailable")

    def has_primary_context(self, dev_id: int) -> bool:
        """Whether a device is initialised."""
        raise unanswered("hasPrimaryContext")

    def get_default_generator(self, index: int) -> Any:
        """The generator (a `torch.Generator`) from which a device draws where none is given."""
        raise unanswered("getDefaultGenerator")

    def get_new_generator(self, index: int) -> Stream:
        """What `torch.Generator(device=...)` is to hold."""
        raise unanswered("getNewGenerator")

    def get_pinned_memory_allocator(self) -> PinnedAllocator:
        """Gives what `x.pin_memory()` copies to."""
        raise unanswered("getPinnedMemoryAllocator")

    def is_pinned_ptr(self, address: int) -> bool:
        """Whether an address lies in pinned memory."""
        return False


class DeviceGuard:
    """Which device and which stream are current. Mirrors: c10::impl::DeviceGuardImplInterface."""

    def type_(self) -> Any:
        """The kind of device, `torch._C._autograd.DeviceType.PrivateUse1`."""
        raise NotImplementedError("type_: a guard says for which type of device it is")

    def get_device(self) -> device:
        """The current device, with its index."""
        return device_from(private_use.name, 0)

    def set_device(self, on: device) -> None:
        """Make a device the current one."""
        if on.index not in (None, 0):
            raise DeviceError("Backend doesn't support setCurrentDevice()")

    def device_count(self) -> int:
        """How many there are."""
        return 1

    def get_stream(self, on: device) -> Any:
        """The current stream of a device."""
        raise DeviceError("Backend doesn't support acquiring a default stream.")

    def exchange_stream(self, stream: Any) -> Any:
        """Make a stream the current one of its device; returns the one that was."""
        raise DeviceError("Backend doesn't support acquiring a stream from pool.")

    def synchronize_device(self, index: int) -> None:
        """Wait until a device has done all work that was queued."""
        raise DeviceError("Backend doesn't support synchronizing all streams on device.")


class _Registered:
    """What the program has registered."""

    module: Any = None
    allocator: Allocator | None = None
    hooks: PrivateUse1Hooks | None = None
    guard: DeviceGuard | None = None
    initialised = False


registered = _Registered()


# What a program registers ---------------------------------------------------------------------------------------


def set_allocator(allocator: Allocator) -> None:
    """Let memory of the device come from here; a later call replaces it. Mirrors: REGISTER_ALLOCATOR."""
    registered.allocator = allocator


def register_hooks(answers: PrivateUse1Hooks) -> bool:
    """Let these hooks answer for the device, once in a process. Mirrors: at::RegisterPrivateUse1HooksInterface."""
    if registered.hooks is not None:
        raise DeviceError("PrivateUse1HooksInterface only could be registered once.")
    registered.hooks = answers
    private_use.is_accelerator = True
    return True


def register_guard(guard: DeviceGuard) -> bool:
    """Let this guard know the current device. Mirrors: C10_REGISTER_GUARD_IMPL."""
    registered.guard = guard
    return True


def register_module(module: ModuleType | object) -> None:
    """Let this be the module of the device, `torch.NAME`."""
    registered.module = module


def name() -> str:
    """The type of the device: "privateuseone", until the program has given it a name."""
    return private_use.name


# What the library asks ------------------------------------------------------------------------------------------


def answers() -> PrivateUse1Hooks:
    """The hooks; DeviceError where there are none."""
    if registered.hooks is None:
        raise DeviceError("Please register PrivateUse1HooksInterface by `RegisterPrivateUse1HooksInterface` first.")
    return registered.hooks


def is_accelerator() -> bool:
    """Whether the process's accelerator is the program's own device: from when it has a name of its own."""
    return private_use.name != PRIVATE_USE or registered.hooks is not None


def current_guard() -> DeviceGuard:
    """The guard; DeviceError where there is none."""
    if registered.guard is None:
        raise DeviceError(
            f"PyTorch is not linked with support for {private_use.name} devices: no device guard was registered"
        )
    return registered.guard


def lazy_init() -> None:
    """Call the module's `_lazy_init` before the device is first used; ModuleNotFoundError where there is no module."""
    if registered.module is None:
        raise ModuleNotFoundError(
            f"No module named 'torch.{private_use.name}'; a program that brings a device registers one with "
            f"torch._register_device_module('{private_use.name}', module)"
        )
    if not registered.initialised:
        registered.initialised = True
        if hasattr(registered.module, "_lazy_init"):
            registered.module._lazy_init()


def with_index(on: device) -> device:
    """A device of a kind that may have several, with its index; others as they are."""
    if on.type == "cuda":
        return hooks.cuda_hooks.indexed(on)
    if on.type != private_use.name:
        return on
    lazy_init()
    return on if on.index is not None else device_from(on.type, current_guard().get_device().index)


def allocate(nbytes: int, on: device) -> hooks.DeviceBlock:
    """Uninitialised bytes on the device."""
    if registered.allocator is None:
        raise DeviceError(f"Allocator for {on.type} is not set; set_allocator() takes one")
    return registered.allocator.allocate(nbytes, on)


def copy_bytes(target: Any, source: Any, nbytes: int) -> None:
    """Copy the first bytes between storages, one of which is on the device: by `_copy_from`, as elements of uint8."""
    mine, others = (hooks.tensor_hooks.make(one, uint8, (nbytes,), None, 0) for one in (target, source))
    mine.copy_(others)


def host_array(tensor: Any) -> Any:
    """The elements of a tensor on the device as a NumPy array of its own."""
    read = hooks.tensor_hooks.make(
        tensor.untyped_storage(), tensor.dtype, tensor._shape, tensor.strides(), tensor._offset
    )
    return read.to(CPU).array()


def pinned(nbytes: int) -> Buffer:
    """Uninitialised pinned memory of the accelerator."""
    if is_accelerator():
        return answers().get_pinned_memory_allocator().allocate(nbytes)
    array: Buffer = hooks.memory_hooks.pinned(nbytes)
    return array


def is_pinned(address: int) -> bool:
    """Whether an address lies in pinned memory of the accelerator."""
    if registered.hooks is not None:
        return registered.hooks.is_pinned_ptr(address)
    return hooks.cuda_hooks.is_initialized() and hooks.memory_hooks.is_pinned(address)
