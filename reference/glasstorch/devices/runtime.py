"""Which CUDA driver is active, and which device and stream does the calling thread use?

Mirrors: torch/cuda/__init__.py (_lazy_init), c10/cuda/CUDAFunctions.cpp (device_count_ensure_non_zero, set_device),
    c10/cuda/CUDAStream.cpp (getCurrentCUDAStream)
Differs: the driver is that of a GPU or the simulator; the simulator is active only after a call or GLASSTORCH_CUDA
    selected it.

`GLASSTORCH_CUDA` may be `cupy` (a GPU), `simulator`, or `simulator:devices=2,memory=64M,check=1,order=random,seed=3`
with any of those options. If it is not set, a GPU is used if CuPy is installed and finds one.
"""

from __future__ import annotations

import os
import re
import threading
import warnings
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from glasstorch.core import hooks
from glasstorch.core.device import device, device_from
from glasstorch.core.errors import ArgumentValueError, DeviceError
from glasstorch.devices import kernel_room
from glasstorch.devices.codes import Code, cuda_error
from glasstorch.devices.driver import Driver

if TYPE_CHECKING:
    from glasstorch.devices.driver_sim import SimDriver

VARIABLE = "GLASSTORCH_CUDA"
SIMULATOR_HINT = (
    "To run CUDA kernels on the CPU, call glasstorch.cuda.use_simulator() first, or set GLASSTORCH_CUDA=simulator"
)

_driver: Driver | None = None
_registered = False
_lock = threading.RLock()


class _Streams(threading.local):
    """The calling thread's current stream on each device, and the driver to which these streams belong."""

    def __init__(self) -> None:
        self.driver: Driver | None = None
        self.current: dict[int, int] = {}


_streams = _Streams()
side_streams = False  # whether a stream other than the default one was ever made current


class _NewNodes:
    """Whether a new node of a backward graph notes more than its edges: one question in a call that is recorded.

    It does in anomaly mode, and where `side_streams` is set: `note` in autograd/node.py.
    """

    note_more = False


new_nodes = _NewNodes()


# Drivers --------------------------------------------------------------------------------------------------------


def driver() -> Driver:
    """The active driver; if there is none yet, one is searched for. DeviceError if none is found."""
    return _driver if _driver is not None and _registered else _initialized()


def use_driver(new: Driver | None) -> None:
    """Make another driver the active one; None: search for one again when it is needed.

    Tensors of the previous driver keep their memory, but operators refuse them from then on.
    """
    global _driver
    with _lock:
        _switch(_driver, on=False)
        _switch(new, on=True)
        _driver = new
        if new is not None:
            lazy_init()


def _switch(driver: Driver | None, on: bool) -> None:
    """Tell simulated devices whether kernels may still be launched on them."""
    if driver is not None and driver.simulated:
        from glasstorch.devices.driver_sim import SimDriver

        if isinstance(driver, SimDriver):
            driver.on = on


def use_simulator(
    devices: int = 1,
    memory: int = 1 << 30,
    check: bool = False,
    order: str = "forward",
    seed: int = 0,
    check_streams: bool = True,
) -> SimDriver:
    """Run CUDA on simulated devices from now on, and return their driver; each call creates new devices.

    Each of the `devices` has `memory` bytes. `order` is that of the threads of a block and of the streams of a device:
    "forward", "reverse" or "random" (drawn with `seed`). `check` finds races, out-of-bounds accesses, and uninitialised
    and misaligned reads inside kernels; it is slow. (If an index repeats, as in `x[[0, 0]] = value`, two threads write
    to the same element, which is reported as a race.) `check_streams` reports accesses from two streams that no event
    orders. CompileError if there is no C++ compiler.
    """
    from glasstorch.devices.driver_sim import SimDriver

    _require_compiler()
    new = SimDriver(devices, memory, check, order, seed, check_streams)
    use_driver(new)
    return new


def is_initialized() -> bool:
    """Whether a driver is active and the kernels are loaded."""
    return _driver is not None and _registered


def is_available() -> bool:
    """Whether there is a GPU, or the simulator was selected."""
    return device_count() > 0


def device_count() -> int:
    """The number of devices; 0 if there is no driver. Loads no kernels.

    It is also 0 if the simulator was selected and there is no C++ compiler; a warning then says what to install.
    """
    global _driver
    with _lock:
        if _driver is None:
            found = _find()[0]
            if found is not None and found.simulated and (missing := _missing_compiler()):
                warnings.warn(f"CUDA initialization: {missing}", stacklevel=2)
                return 0
            _driver = found
        return 0 if _driver is None else _driver.device_count()


def lazy_init() -> None:
    """Find a driver and load the kernels, once. DeviceError if there is neither a GPU nor a simulator."""
    if _driver is None or not _registered:
        _initialized()


def _initialized() -> Driver:
    global _driver, _registered
    with _lock:
        if _driver is None:
            found, reason = _find()
            if found is None:
                missing = _missing_compiler()
                but = f". But {missing}" if missing else ""
                raise DeviceError(f"No CUDA GPUs are available: {reason}. {SIMULATOR_HINT}{but}")
            if found.simulated:
                _require_compiler()
            _driver = found
        if not _registered:
            kernel_room.kernel_room.register_kernels()
            _registered = True
        return _driver


def _find() -> tuple[Driver | None, str]:
    """The driver that GLASSTORCH_CUDA selects, else that of a GPU; if there is none, the reason."""
    asked = os.environ.get(VARIABLE, "")
    kind, _, options = asked.partition(":")
    if kind == "simulator":
        from glasstorch.devices.driver_sim import SimDriver

        return SimDriver(**simulator_options(options)), ""
    if asked not in ("", "cupy"):
        raise ArgumentValueError(
            f"{VARIABLE}={asked!r}: expected cupy, simulator, or simulator:OPTION=VALUE,... with the options "
            f"{', '.join(OPTIONS)}"
        )
    if find_spec("cupy") is None:
        return None, 'CuPy, which is needed for a GPU, is not installed (pip install "glasstorch[cuda13]")'
    from glasstorch.devices.driver_cupy import CupyDriver

    found: Driver = CupyDriver()
    return (found, "") if found.device_count() else (None, "CuPy finds no GPU with a driver")


def _require_compiler() -> None:
    """CompileError, which says what to install, if the simulator could not compile a kernel."""
    from glasstorch.devices.simulator.compiler import compiler

    compiler()


def _missing_compiler() -> str:
    """What the simulator lacks on this computer, as text; empty if nothing is missing."""
    from glasstorch.devices.simulator.errors import CompileError

    try:
        _require_compiler()
    except CompileError as error:
        return str(error)
    return ""


def _size(text: str) -> int:
    match = re.fullmatch(r"(\d+)([KMG]?)", text)
    if match is None:
        raise ValueError(text)
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2]]


def _flag(text: str) -> bool:
    return {"0": False, "1": True}[text]


OPTIONS: dict[str, tuple[Callable[[str], Any], str]] = {
    "devices": (int, "a number"),
    "memory": (_size, "a number of bytes, such as 64M"),
    "check": (_flag, "0 or 1"),
    "order": (str, "forward, reverse or random"),
    "seed": (int, "a number"),
    "check_streams": (_flag, "0 or 1"),
}


def simulator_options(text: str) -> dict[str, Any]:
    """The options of the simulator as GLASSTORCH_CUDA writes them.

    >>> simulator_options("devices=2,memory=64M,check=1")
    {'devices': 2, 'memory': 67108864, 'check': True}
    """
    options: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        if name not in OPTIONS:
            raise ArgumentValueError(f"{VARIABLE}: no option {name!r} of the simulator; it has {', '.join(OPTIONS)}")
        read, expected = OPTIONS[name]
        try:
            options[name] = read(value)
        except (ValueError, KeyError):
            raise ArgumentValueError(f"{VARIABLE}: {name}={value!r}; expected {expected}") from None
    return options


# The calling thread's device and streams ------------------------------------------------------------------------


def current_device() -> int:
    """The current device of the calling thread; 0 until it is set."""
    return driver().current_device()


def set_device(index: int) -> None:
    """Make a device the current one of the calling thread; AcceleratorError 101 if it does not exist."""
    driver().set_device(checked_index(index))


def checked_index(index: int) -> int:
    """The index itself, if there is such a device; AcceleratorError 101 (invalid device ordinal) otherwise."""
    count = driver().device_count()
    if not 0 <= index < count:
        there = f"there are cuda:0 to cuda:{count - 1}" if count > 1 else "there is only cuda:0"
        raise cuda_error(Code.INVALID_DEVICE, f"cuda:{index} was asked for; {there}")
    return index


def device_index(on: device | str | int | None) -> int:
    """The index of a device: the current one for None and for `cuda` without an index."""
    if on is None:
        return current_device()
    if isinstance(on, int):
        return checked_index(on)
    described = device_from(on)
    if described.type != "cuda":
        raise ArgumentValueError(f"Expected a cuda device, but got: {described}")
    return current_device() if described.index is None else checked_index(described.index)


def indexed(on: device) -> device:
    """A CUDA device with its index: that of the current one for `cuda` without."""
    index = device_index(on)
    return device_from("cuda", index) if on.index is None else on


def current_stream(index: int | None = None) -> int:
    """The handle of the calling thread's current stream on a device (by default the current one); 0 is the default."""
    on = driver()
    if _streams.driver is not on:
        return 0
    return _streams.current.get(on.current_device() if index is None else index, 0)


def set_current_stream(stream: int, index: int) -> None:
    """Make a stream of device `index` the calling thread's current one there."""
    global side_streams
    if stream:
        side_streams = new_nodes.note_more = True
    on = driver()
    if _streams.driver is not on:
        _streams.driver, _streams.current = on, {}
    _streams.current[index] = stream


def streams_of_thread() -> tuple[Driver | None, dict[int, int]]:
    """The active driver and the calling thread's current streams on its devices, for another thread to use."""
    return _driver, dict(_streams.current) if _streams.driver is _driver else {}


def use_streams(streams: tuple[Driver | None, Mapping[int, int]]) -> None:
    """Make another thread's streams those of the calling one."""
    _streams.driver, _streams.current = streams[0], dict(streams[1])


class _Hooks:
    """Fills hooks.CUDAHooks."""

    lazy_init = staticmethod(lazy_init)
    current_device = staticmethod(current_device)
    indexed = staticmethod(indexed)
    is_initialized = staticmethod(is_initialized)


hooks.set_cuda_hooks(_Hooks())
