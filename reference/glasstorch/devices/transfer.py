"""How are bytes copied to, from and between devices?

Mirrors: aten/src/ATen/native/cuda/Copy.cu (copy_kernel_cuda, copy_device_to_device)
Differs: the arguments are addresses and devices, not tensors; bytes are copied, and dtypes converted elsewhere.
"""

from __future__ import annotations

from glasstorch.core.device import CPU, device
from glasstorch.devices import pinned_memory, runtime
from glasstorch.devices.driver import Copy
from glasstorch.devices.stream import device as on_device


def transfer(target: int, to: device, source: int, of: device, nbytes: int, non_blocking: bool = False) -> None:
    """Copy bytes between addresses on two devices, at least one of which is a CUDA device.

    The copy runs on the CUDA device's current stream. Between two CUDA devices it runs on the source's stream, and the
    target's stream waits for it.
    """
    if not nbytes:
        return
    driver = runtime.driver()
    if of is not CPU and to is not CPU and of is not to:
        _between_devices(target, to, source, of, nbytes)
        return
    kind = Copy.HOST_TO_DEVICE if of is CPU else Copy.DEVICE_TO_HOST if to is CPU else Copy.DEVICE_TO_DEVICE
    with on_device(to if of is CPU else of):
        stream = runtime.current_stream()
        driver.memcpy_async(target, source, nbytes, kind, stream)
        if kind is Copy.DEVICE_TO_DEVICE:
            return
        if non_blocking:
            pinned_memory.pinned_allocator().record(source if of is CPU else target, stream)
        else:
            driver.stream_synchronize(stream)


def _between_devices(target: int, to: device, source: int, of: device, nbytes: int) -> None:
    """Copy between two CUDA devices: the current stream of each waits for that of the other.

    Mirrors: copy_device_to_device in aten/src/ATen/native/cuda/Copy.cu
    """
    driver = runtime.driver()
    assert to.index is not None
    assert of.index is not None
    there, here = runtime.current_stream(to.index), runtime.current_stream(of.index)
    with on_device(to):
        ready = driver.event_create(timing=False)
        driver.event_record(ready, there)
    with on_device(of):
        done = driver.event_create(timing=False)
        driver.stream_wait_event(here, ready)
        driver.memcpy_async(target, source, nbytes, Copy.DEVICE_TO_DEVICE, here)
        driver.event_record(done, here)
    with on_device(to):
        driver.stream_wait_event(there, done)
    for event in (ready, done):
        driver.event_destroy(event)
