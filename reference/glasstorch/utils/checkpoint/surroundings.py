"""What must be restored from the forward pass so that a function computes the same again?

The states of the random generators, of the CPU and of the devices of the arguments, and the settings of autocast.

Mirrors: torch/utils/checkpoint.py (DefaultDeviceType, get_device_states, set_device_states, _infer_device_type,
    _get_autocast_kwargs)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from glasstorch import cuda
from glasstorch._tensor import Tensor
from glasstorch.amp.autocast_mode import autocast
from glasstorch.amp.state import (
    get_autocast_dtype,
    is_autocast_available,
    is_autocast_cache_enabled,
    is_autocast_enabled,
)
from glasstorch.core.errors import ArgumentError
from glasstorch.core.user_line import warn_user
from glasstorch.random import fork_rng, get_rng_state, set_rng_state


class DefaultDeviceType:
    """The type of device whose random states a checkpoint keeps if no argument is on one: CUDA, where there is one."""

    _default_device_type: str | None = None

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Set the type, such as "cuda"."""
        DefaultDeviceType._default_device_type = device

    @staticmethod
    def get_device_type() -> str:
        """The type that was set; or "cuda" if there is a CUDA device, else "cpu"."""
        if not DefaultDeviceType._default_device_type:
            DefaultDeviceType._default_device_type = "cuda" if cuda.is_available() else "cpu"
        return DefaultDeviceType._default_device_type


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The indices of the devices that the tensors among the arguments are on, and the states of their generators."""
    indices = [t.get_device() for t in _tensors(args) if t.device.type not in ("cpu", "meta")]
    return indices, [cuda.get_rng_state(index) for index in indices]


def set_device_states(devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None) -> None:
    """Set the states of the generators of devices of a type, by default that of `DefaultDeviceType`."""
    kind = DefaultDeviceType.get_device_type() if device_type is None else device_type
    if kind not in ("cuda", "cpu", "meta") or (kind == "cpu" and devices):
        raise ArgumentError(f"the generators of {kind!r} have no states by index; expected the device type 'cuda'")
    for index, state in zip(devices, states, strict=False):
        if kind == "cuda":
            cuda.set_rng_state(state, index)


def device_type_of(arguments: Sequence[Any]) -> str:
    """The type of device that the tensors among the arguments are on, apart from the CPU."""
    kinds = [t.device.type for t in _tensors(arguments) if t.device.type != "cpu"]
    if len(set(kinds)) > 1:
        warn_user(
            f"Tensor arguments, excluding CPU tensors, are detected on at least two types of devices. Device state "
            f"will only be saved for devices of a single device type, and the remaining devices will be ignored. "
            f"Consequently, if any checkpointed functions involve randomness, this may result in incorrect gradients. "
            f"(Note that if CUDA devices are among the devices detected, it will be prioritized; otherwise, the first "
            f"device encountered will be selected.)\nDevice types: {sorted(set(kinds))} first device type: {kinds[0]}"
        )
    if not kinds:
        return DefaultDeviceType.get_device_type()
    return "cuda" if "cuda" in kinds else kinds[0]


def _tensors(value: Any) -> Iterator[Tensor]:
    """The tensors in lists, tuples and dicts, however nested."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _tensors(one)
    elif isinstance(value, Mapping):
        yield from _tensors(list(value.values()))


class Surroundings:
    """What a forward pass was surrounded by, and how to have it again."""

    def __init__(self, arguments: Sequence[Any], preserve_rng_state: bool) -> None:
        self.device_type = device_type_of(arguments)
        self.preserve_rng_state = preserve_rng_state
        self.had_device = False
        self.devices: list[int] = []
        self.device_states: list[Tensor] = []
        if preserve_rng_state:
            self.cpu_state = get_rng_state()
            if self._device_is_in_use():  # it is not brought into use for this
                self.had_device = True
                self.devices, self.device_states = get_device_states(*arguments)
        kinds = dict.fromkeys(kind for kind in (self.device_type, "cpu") if is_autocast_available(kind))
        self.autocast = {
            kind: (get_autocast_dtype(kind), is_autocast_enabled(kind), is_autocast_cache_enabled()) for kind in kinds
        }

    def _device_is_in_use(self) -> bool:
        return self.device_type == "cuda" and cuda.is_initialized()

    @property
    def device_came_into_use(self) -> bool:
        """Whether the forward pass itself was the first to use CUDA: the state of its generator was not kept."""
        return self.preserve_rng_state and not self.had_device and self._device_is_in_use()

    @contextmanager
    def again(self) -> Iterator[None]:
        """Inside, random numbers and casts are those of the forward pass; afterwards, the old state is restored."""
        kind = self.device_type if self.device_type == "cuda" else "cpu"
        with ExitStack() as stack:
            if self.preserve_rng_state:
                stack.enter_context(fork_rng(devices=self.devices if kind == "cuda" else (), device_type=kind))
                set_rng_state(self.cpu_state)
                if self.had_device:
                    set_device_states(self.devices, self.device_states, device_type=kind)
            for name, settings in self.autocast.items():
                stack.enter_context(autocast(name, *settings))
            yield
