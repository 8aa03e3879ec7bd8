"""How does a program bring a device of its own?

Mirrors: torch/utils/backend_registration.py
Differs: a backend registers its allocator, hooks, guard and kernels in C++ there, or part of them in Python; here all
    of it is Python. `set_allocator`, `cpu_fallback`, `empty_tensor`, `host_array` and `register_autocast_kernel` are
    names of this library and stand for c10::SetAllocator, at::native::cpu_fallback, at::detail::empty_strided_generic,
    the data pointer of a CPU tensor and KERNEL_PRIVATEUSEONE. The types of device that the
    profiler knows keep the name PrivateUse1.

The order: rename, register a module, an allocator, a guard and hooks, then kernels under the key PrivateUse1. A whole
device in one file is examples/outside_device.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._settings import _register_device_module
from glasstorch._tensor import Tensor
from glasstorch.amp.kernels import register_autocast_kernel as register_autocast_kernel
from glasstorch.core import private_use
from glasstorch.core.device import device as Device
from glasstorch.core.device import private_use as _named
from glasstorch.core.device import rename_private_use
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.geometry import contiguous_strides
from glasstorch.core.private_use import DeviceGuard as DeviceGuard
from glasstorch.core.private_use import PrivateUse1Hooks as PrivateUse1Hooks
from glasstorch.core.private_use import register_guard as register_guard
from glasstorch.core.private_use import register_hooks as register_hooks
from glasstorch.core.private_use import set_allocator as set_allocator
from glasstorch.core.storage import UntypedStorage, _StorageBase
from glasstorch.core.typed_storage import TypedStorage, typed, warn_of_removal
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.kernels.cpu_fallback import cpu_fallback as cpu_fallback
from glasstorch.kernels.cpu_fallback import warn_of_fallback as warn_of_fallback
from glasstorch.kernels.creation.factories import new_empty_strided
from glasstorch.nn.modules.module import Module
from glasstorch.nn.packing import PackedSequence

__all__ = ["generate_methods_for_privateuse1_backend", "rename_privateuse1_backend"]

AlsoTo = Device | str | int | None


def rename_privateuse1_backend(backend_name: str) -> None:
    """Give the key PrivateUse1, kept free for a device of the program, a name: `torch.device(backend_name)` is one.

    Once in a process. The module that `torch._register_device_module` takes then answers for the device:
    `is_available()`, `device_count()`, `current_device()`; for random numbers `_is_in_bad_fork()`,
    `manual_seed_all(seed)`, `get_rng_state(device)` and `set_rng_state(state, device)`; for autocast
    `get_amp_supported_dtype()`.
    """
    rename_private_use(backend_name)


def empty_tensor(
    size: Sequence[int], dtype: Dtype | None = None, device: AlsoTo = None, stride: Sequence[int] | None = None
) -> Tensor:
    """An uninitialised tensor over memory of the registered allocator: what the kernels of `empty` return."""
    on = private_use.with_index(Device(_named.name if device is None else device))
    return new_empty_strided(on, size, contiguous_strides(tuple(size)) if stride is None else stride, dtype, None)


def host_array(tensor: Tensor) -> Any:
    """The memory of a CPU tensor as a NumPy array, for a kernel that copies; `numpy()` would say that others see it."""
    return tensor.array()


# Methods --------------------------------------------------------------------------------------------------------


def generate_methods_for_privateuse1_backend(
    for_tensor: bool = True,
    for_module: bool = True,
    for_packed_sequence: bool = True,
    for_storage: bool = False,
    unsupported_dtype: list[Dtype] | None = None,
) -> None:
    """Add `x.NAME()` and `x.is_NAME` to tensors, modules, packed sequences and storages.

    Storages of an `unsupported_dtype` are refused. RuntimeError where a class has the name already.
    """
    name = _named.name
    if for_tensor:
        _add(Tensor, f"is_{name}", property(lambda self: self.device.type == name))
        _add(Tensor, name, _tensor_method(name))
    if for_module:
        _require_tensor_methods(name, "torch.nn.Module", f"{name}()", (name,))
        _add(Module, name, lambda self, device=None: self._apply(lambda tensor: getattr(tensor, name)(device)))
    if for_storage:
        _add_to_storages(name, unsupported_dtype or [])
    if for_packed_sequence:
        both = f"is_{name}() or {name}()"
        _require_tensor_methods(name, "torch.nn.utils.rnn.PackedSequence", both, (f"is_{name}", name))
        _add(PackedSequence, f"is_{name}", property(lambda self: self.data.device.type == name))
        _add(PackedSequence, name, lambda self, *args, **kwargs: self._on(name, *args, **kwargs))


def _add(owner: type, name: str, value: object) -> None:
    if hasattr(owner, name):
        raise RuntimeError(f"The custom device module of {owner} has already been registered with {name}")
    if callable(value) and not isinstance(value, property):
        value.__name__ = name  # type: ignore[attr-defined]
    setattr(owner, name, value)


def _require_tensor_methods(name: str, owner: str, method: str, wanted: Sequence[str]) -> None:
    """The other classes' methods call the tensors'."""
    if not all(hasattr(Tensor, one) for one in wanted):
        raise RuntimeError(
            f"Can not automatically generate {method} method for {owner}.Because torch.Tensor doesn't has the method "
            f"{method}.For this error, you can try setting for_tensor=True."
        )


def _index(name: str, device: AlsoTo) -> int:
    """The index of the device asked for, by default that of the current one."""
    if isinstance(device, int):
        return device
    on = Device(name if device is None else device)
    if on.type != name:
        raise RuntimeError(f"Invalid device, must be {name} device")
    if on.index is not None:
        return on.index
    current = getattr(private_use.registered.module, "current_device", None)
    return 0 if current is None else int(current())


def _tensor_method(name: str) -> Callable[..., Tensor]:
    def to(self: Tensor, device: AlsoTo = None, non_blocking: bool = False, **kwargs: Any) -> Tensor:
        return self.to(device=Device(name, _index(name, device)), non_blocking=non_blocking, **kwargs)

    to.__doc__ = f"The tensor on a {name} device: itself if it is there already, else a copy."
    return to


def _add_to_storages(name: str, unsupported: Sequence[Dtype]) -> None:
    def to(self: UntypedStorage, device: AlsoTo = None, non_blocking: bool = False) -> UntypedStorage:
        return self.to(device=Device(name, _index(name, device)), non_blocking=non_blocking)

    def is_typed_on(self: TypedStorage) -> bool:
        warn_of_removal()
        return self._untyped_storage.device.type == name

    def typed_to(self: TypedStorage, device: AlsoTo = None, non_blocking: bool = False) -> TypedStorage:
        warn_of_removal()
        if self.dtype in unsupported:
            raise RuntimeError(f"Cannot create {name} storage as {self.dtype} dtype is not supported by this backend")
        return typed(to(self._untyped_storage, device, non_blocking), self.dtype)

    _add(_StorageBase, f"is_{name}", property(lambda self: self.device.type == name))
    _add(_StorageBase, name, to)
    _add(TypedStorage, f"is_{name}", property(is_typed_on))
    _add(TypedStorage, name, typed_to)


# The module of the device ---------------------------------------------------------------------------------------


def _get_custom_mod_func(func_name: str) -> Callable[..., Any]:
    """A function of the device's module, which backends call; RuntimeError where there is none."""
    if not isinstance(func_name, str):
        raise AssertionError(f"func_name must be `str`, but got `{type(func_name)}`.")
    function = getattr(private_use.registered.module, func_name, None)
    if function is None:
        raise RuntimeError(
            f"Try to call torch.{_named.name}.{func_name}. The backend must register a custom backend module with "
            f"`torch._register_device_module('{_named.name}', BackendModule)`. And BackendModule needs to have the "
            f"following API's:\n `{func_name}(*args, **kwargs)`. \n"
        )
    return function  # type: ignore[no-any-return]


class _DummyBackendModule:
    """The module of a device of which there is one, without random numbers of its own."""

    def is_initialized(self) -> bool:
        return True

    def is_available(self) -> bool:
        return True

    def current_device(self) -> int:
        return 0

    def _is_in_bad_fork(self) -> bool:
        return False

    def manual_seed_all(self, seed: int) -> None:
        pass

    def device_count(self) -> int:
        return 1


class _DummyPrivateUse1Hook(PrivateUse1Hooks):
    def is_available(self) -> bool:
        return True

    def has_primary_context(self, dev_id: int) -> bool:
        return True

    def is_built(self) -> bool:
        return True


class _DummyDeviceGuard(DeviceGuard):
    def type_(self) -> Any:
        from glasstorch.profiler.kinds import DeviceType  # here, because few programs use the profiler

        return DeviceType.PrivateUse1


def _setup_privateuseone_for_python_backend(
    rename: str | None = None,
    backend_module: Any = None,
    hook: PrivateUse1Hooks | None = None,
    device_guard: DeviceGuard | None = None,
) -> None:
    """Rename, add the methods, and register a module, hooks and a guard: the plainest ones where none are given.

    Kernels and, for tensors that have memory, an allocator are all that is missing then.
    """
    if rename is not None:
        rename_privateuse1_backend(rename)
    generate_methods_for_privateuse1_backend()
    _register_device_module(rename or "privateuseone", backend_module or _DummyBackendModule())
    register_hooks(hook or _DummyPrivateUse1Hook())
    register_guard(device_guard or _DummyDeviceGuard())


def __getattr__(name: str) -> Any:
    if name == "_privateuse1_backend_name":
        return _named.name
    return _refuse(name)


_refuse = refuse_unknown_names(__name__)
