"""How do two processes exchange objects that hold tensors?

Mirrors: torch/multiprocessing/queue.py, torch/utils/data/_utils/worker.py (the queues of a worker)
Differs: a pair of sockets for each worker, where PyTorch has queues that all workers share. A worker that is killed
    leaves no lock behind, and its end is seen at once. What a message holds is copied, unless it was in shared memory.

# Note [A message and its bytes]
A message is an object as pickle writes it, followed by the bytes of its tensors and arrays, which pickle leaves out
(protocol 5 calls them buffers). A short message goes through the socket. A longer one is written to an anonymous file
that both processes map, and only the file's descriptor goes through the socket. Storages that were in shared memory
before go by their own descriptors, and stay shared; the others become memory of the receiver alone.
"""

from __future__ import annotations

import array
import io
import math
import os
import pickle
import select
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterable
from itertools import accumulate
from multiprocessing.reduction import ForkingPickler
from typing import Any, Final

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.geometry import Shape
from glasstorch.core.shared_memory import SharedMemory
from glasstorch.core.storage import UntypedStorage
from glasstorch.data.reductions import received_storage, reduce_storage, reduce_tensor
from glasstorch.nn.parameter import Parameter

THROUGH_THE_SOCKET: Final = 1 << 16  # bytes; a longer message goes through a file that both processes map
ALIGNMENT: Final = 64  # of each part of a message, in bytes
DESCRIPTORS_AT_ONCE: Final = 250  # Linux sends at most 253 together
CAN_SEND_DESCRIPTORS: Final = hasattr(socket, "SCM_RIGHTS")
ROOM: Final = socket.CMSG_SPACE(DESCRIPTORS_AT_ONCE * array.array("i").itemsize) if CAN_SEND_DESCRIPTORS else 0
HEADER: Final = struct.Struct("<QII?")  # bytes in all, parts, descriptors, whether the bytes are in a file
LENGTH: Final = struct.Struct("<Q")  # of a part
FLAGS: Final = getattr(socket, "MSG_CMSG_CLOEXEC", 0)  # programs that this process starts do not get the descriptors
TOO_MANY_FILES = (
    "Too many open files. Communication with the workers is no longer possible. Please increase the limit using "
    "`ulimit -n` in the shell, or keep fewer batches at once."
)


class Channel:
    """One end of a connection over which objects are sent and received, whole and in order.

    EOFError says that the other end was closed: on purpose, or because its process has ended.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        # Room for a few messages, so that one rarely waits for the other end to read.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * THROUGH_THE_SOCKET)

    @classmethod
    def pair(cls) -> tuple[Channel, Channel]:
        """Two ends that are connected; RuntimeError where the system cannot send descriptors."""
        if not CAN_SEND_DESCRIPTORS:
            raise RuntimeError(
                "this system cannot send open files to other processes, which workers need: num_workers=0"
            )
        one, other = socket.socketpair()
        return cls(one), cls(other)

    def fileno(self) -> int:
        """The descriptor, for `select`."""
        return self.socket.fileno()

    @property
    def closed(self) -> bool:
        """Whether this end was closed."""
        return self.socket.fileno() < 0

    def close(self) -> None:
        """Close this end, which the other end notices. A second call does nothing."""
        self.socket.close()

    def send(self, value: object, meanwhile: deque[Any] | None = None) -> None:
        """Send an object, and wait until it is on its way; see Note [A message and its bytes].

        Nothing is sent if it cannot be pickled. While the other end takes nothing, what it sends is received into
        `meanwhile`: two ends that both wait for the other to read would wait for ever.
        """
        if self.closed:
            raise EOFError("this end was closed")
        stream = io.BytesIO()
        packer = Packer(stream)
        packer.dump(value)
        parts = [stream.getbuffer(), *packer.buffers]
        while meanwhile is not None and not self._takes_more():
            meanwhile.append(self.receive())
        try:
            self._send_parts(parts, packer.shared)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise EOFError("the other end was closed") from error

    def _takes_more(self) -> bool:
        """Whether there is room to send; waits until there is, or something has arrived."""
        poll = select.poll()
        poll.register(self.socket, select.POLLIN | select.POLLOUT)
        return any(events & ~select.POLLIN for _, events in poll.poll())

    def _send_parts(self, parts: list[memoryview], shared: list[SharedMemory]) -> None:
        descriptors = [memory.descriptor for memory in shared]
        places, total = _places([len(part) for part in parts])
        file = None
        if total <= THROUGH_THE_SOCKET:
            body: Any = bytearray(total)
        else:
            file = SharedMemory.allocate(total)
            body = file.memory.data
            descriptors.append(file.descriptor)
        for number, (part, place) in enumerate(zip(parts, places, strict=True)):
            LENGTH.pack_into(body, LENGTH.size * number, len(part))
            body[place : place + len(part)] = part
        header = HEADER.pack(total, len(parts), len(descriptors), file is not None)
        self._send_with_descriptors(header if file is not None else header + body, descriptors[:DESCRIPTORS_AT_ONCE])
        for start in range(DESCRIPTORS_AT_ONCE, len(descriptors), DESCRIPTORS_AT_ONCE):
            self._send_with_descriptors(b"\0", descriptors[start : start + DESCRIPTORS_AT_ONCE])

    def _send_with_descriptors(self, data: bytes, descriptors: list[int]) -> None:
        """Send bytes, and descriptors along with the first of them."""
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        sent = self.socket.sendmsg([data], rights)
        if sent < len(data):
            self.socket.sendall(memoryview(data)[sent:])

    def receive(self) -> Any:
        """The next object; waits for it. If reading is interrupted, the channel is closed."""
        descriptors: list[int] = []
        body: Any = None
        try:
            header = self._read_with_descriptors(HEADER.size, descriptors)
            total, parts, count, in_file = HEADER.unpack(header)
            received = None if in_file else self._read(memoryview(bytearray(total)))
            while len(descriptors) < count:
                self._read_with_descriptors(1, descriptors)
            if received is None:
                received = SharedMemory(descriptors.pop(), total).memory.data
            body = received
            return _unpacked(body, parts, descriptors)
        finally:
            if body is None:
                self.close()
            for descriptor in descriptors:
                os.close(descriptor)

    def _read(self, target: memoryview) -> memoryview:
        """Fill the target with the bytes that come next."""
        left = target
        while left:
            left = left[_or_end(self.socket.recv_into, left) :]
        return target

    def _read_with_descriptors(self, size: int, descriptors: list[int]) -> memoryview:
        """As many bytes; the descriptors that come along with the first are added to the list."""
        data = memoryview(bytearray(size))
        count, ancillary, flags, _ = _or_end(self.socket.recvmsg_into, [data], ROOM, FLAGS)
        for level, kind, rights in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                descriptors += array.array("i", rights)
        if flags & socket.MSG_CTRUNC:
            raise RuntimeError(TOO_MANY_FILES)
        self._read(data[count:])
        return data


def _or_end(read: Callable[..., Any], *arguments: Any) -> Any:
    """What a socket reads; EOFError if the other end was closed."""
    try:
        result = read(*arguments)
    except ConnectionResetError as error:
        raise EOFError("the other end was closed") from error
    if not (result[0] if isinstance(result, tuple) else result):
        raise EOFError("the other end was closed")
    return result


def ready(watched: Iterable[Channel | int], seconds: float) -> list[Channel | int]:
    """The channels and descriptors on which something has arrived; waits for the first, at most so many seconds.

    The end of a channel counts as an arrival. The result keeps the order in which they were given.
    """
    poll = select.poll()
    by_descriptor = {one if isinstance(one, int) else one.fileno(): one for one in watched}
    for descriptor in by_descriptor:
        poll.register(descriptor, select.POLLIN)
    return [by_descriptor[found] for found, _ in poll.poll(seconds * 1000)]


def _places(lengths: list[int]) -> tuple[list[int], int]:
    """Where the parts of a message begin, after the table of their lengths, and how many bytes it has in total."""
    ends = accumulate(lengths, lambda end, length: _aligned(end) + length, initial=LENGTH.size * len(lengths))
    *starts, total = ends
    return [_aligned(start) for start in starts], total


def _aligned(place: int) -> int:
    return (place + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


# What is sent by its bytes, and what by a descriptor ------------------------------------------------------------------


class Packer(ForkingPickler):
    """Pickles an object for another process; the bytes of tensors and arrays are collected, and not copied.

    `buffers` has the bytes, `shared` the shared memory whose descriptors are sent with them.
    """

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream, 5)
        reducers = {UntypedStorage: self.reduce_storage, Tensor: self.reduce_tensor, Parameter: self.reduce_tensor}
        table: Any = {**self.dispatch_table, **reducers}
        self.buffers: list[memoryview] = []
        self.shared: list[SharedMemory] = []
        # ForkingPickler cannot be told of the callback, and a second initialisation forgets the table.
        pickle.Pickler.__init__(self, stream, 5, buffer_callback=self.add_buffer)
        self.dispatch_table = table

    def add_buffer(self, buffer: pickle.PickleBuffer) -> bool:
        """Collect a buffer if its bytes are contiguous; returns whether they go into the pickle instead."""
        try:
            self.buffers.append(buffer.raw())
        except BufferError:
            return True
        return False

    def reduce_tensor(self, tensor: Tensor) -> tuple[Any, ...]:
        """A tensor with its storage; one that uses less than half of it, as a sample does of a dataset, with its part.

        Such a tensor shares memory with no other one of the message.
        """
        rebuilt, arguments, state = reduce_tensor(tensor)
        kind, storage, dtype, (shape, strides, offset), *rest = arguments
        if storage.shared is None and storage.buffer is not None:
            used = _span(shape, strides) * dtype.itemsize
            if 2 * used < storage.nbytes():
                start = offset * dtype.itemsize
                part = UntypedStorage.over(storage.buffer[start : start + used])
                arguments = (kind, part, dtype, (shape, strides, 0), *rest)
        return rebuilt, arguments, state

    def reduce_storage(self, storage: UntypedStorage) -> tuple[Any, ...]:
        """A storage by its bytes, or by the descriptor of the shared memory that it is in."""
        if storage.shared is not None:
            self.shared.append(storage.shared)
            return _from_descriptor, (len(self.shared) - 1, storage.nbytes())
        if storage.buffer is None or not storage.nbytes():
            return reduce_storage(storage)
        return _over_bytes, (pickle.PickleBuffer(storage.buffer.data),)


def _span(shape: Shape, strides: Shape | None) -> int:
    """How many elements lie from a tensor's first to its last; row-major strides are None."""
    if strides is None or not all(shape):
        return math.prod(shape)
    return sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True)) + 1


_arrived = threading.local()  # `descriptors`: those of the message that the thread is unpickling


def _unpacked(body: memoryview, count: int, descriptors: list[int]) -> Any:
    """The object that a message holds, over the message's bytes."""
    lengths = [length for (length,) in LENGTH.iter_unpack(body[: LENGTH.size * count])]
    text, *buffers = (body[place : place + n] for place, n in zip(_places(lengths)[0], lengths, strict=True))
    _arrived.descriptors = descriptors
    return pickle.loads(text, buffers=[_to_keep(buffer, len(body)) for buffer in buffers])


def _to_keep(buffer: memoryview, total: int) -> memoryview | bytearray:
    """The bytes of a tensor: in place, which keeps all `total` bytes of the message, if they are half of it or more."""
    return buffer if 2 * len(buffer) >= total else bytearray(buffer)


def _over_bytes(memory: Any) -> UntypedStorage:
    """A storage over bytes that were received and that nothing else uses."""
    return UntypedStorage.over(np.frombuffer(memory, np.uint8))


def _from_descriptor(place: int, nbytes: int) -> UntypedStorage:
    """A storage in shared memory whose descriptor was received."""
    return received_storage(os.dup(_arrived.descriptors[place]), nbytes)
