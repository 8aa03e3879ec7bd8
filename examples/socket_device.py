"""A device behind a socket: another process holds the memory and computes.

    python examples/socket_device.py      shows the device, then trains on it, and on the CPU to compare

The worker process knows nothing of tensors. It keeps pieces of memory by number, and obeys commands: make a piece, drop
it, write to it, read it, and compute `out = f(inputs)`, where each operand is a piece with a dtype, sizes and strides.
This side is a device of PrivateUse1 whose blocks are those numbers: a handle is all that it has, as with a graphics
card. Each command waits for its answer; an error in the worker is raised here with the worker's words.

Read examples/outside_device.py first: it says what each registration is for.
"""

from __future__ import annotations

import argparse
import atexit
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

import numpy as np

NAME = "vault"
LIMIT = 1 << 28  # bytes that the worker may hold


# How a command names an array in the worker's memory: handle, dtype, shape, strides and offset, both in bytes. A dict,
# because the two processes need not have the same modules.
Operand = dict[str, Any]


# The worker -----------------------------------------------------------------------------------------------------------
COMPUTE: dict[str, Callable[..., Any]] = {
    "aten::add.Tensor": lambda a, b, alpha=1: a + alpha * b,
    "aten::mul.Tensor": lambda a, b: a * b,
    "aten::mm": lambda a, b: a @ b,
    "aten::addmm": lambda bias, a, b, beta=1, alpha=1: beta * bias + alpha * (a @ b),
    "aten::relu": lambda a: np.maximum(a, 0),
    "aten::threshold_backward": lambda grad, a, threshold: np.where(a > threshold, grad, 0),
    "aten::sum.dim_IntList": lambda a, dim, keepdim=False: a.sum(axis=tuple(dim) if dim else None, keepdims=keepdim),
    "aten::clone": lambda a: a,
    "aten::index.Tensor": lambda a, indices: a[tuple(slice(None) if one is None else one for one in indices)],
    "aten::_log_softmax": lambda a, dim, half_to_float: log_softmax(a, dim),
    "aten::_log_softmax_backward_data": lambda grad, output, dim, input_dtype: (
        grad - np.exp(output) * grad.sum(axis=dim, keepdims=True)
    ),
    "aten::fill_.Scalar": lambda a, value: value,
    "aten::zero_": lambda a: 0,
    "copy": lambda a: a,
}


def log_softmax(scores: Any, dim: int) -> Any:
    """The logarithm of the softmax along a dimension."""
    shifted = scores - scores.max(axis=dim, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=dim, keepdims=True))


class Worker:
    """Memory by number, and what is done with it."""

    def __init__(self) -> None:
        self.memory: dict[int, np.ndarray] = {}
        self.made = 0

    def make(self, nbytes: int) -> int:
        """A new piece; returns its number."""
        held = sum(piece.nbytes for piece in self.memory.values())
        if held + nbytes > LIMIT:
            raise MemoryError(f"{nbytes} bytes do not fit: {held} of {LIMIT} are in use")
        self.made += 1
        self.memory[self.made] = np.zeros(nbytes, np.uint8)
        return self.made

    def array(self, operand: Any) -> Any:
        """An operand as an array over its piece; in a list, each; others as they are."""
        if isinstance(operand, list):
            return [self.array(one) for one in operand]
        if not isinstance(operand, dict):
            return operand
        memory = self.memory[operand["handle"]]
        return np.ndarray(operand["shape"], operand["dtype"], memory, operand["offset"], operand["strides"])

    def write(self, target: Operand, data: bytes) -> None:
        """The elements of a target, given row by row."""
        array = self.array(target)
        array[...] = np.frombuffer(data, array.dtype).reshape(array.shape)

    def read(self, source: Operand) -> bytes:
        """The elements of a source, row by row."""
        return self.array(source).tobytes()

    def compute(self, name: str, out: Operand, inputs: Sequence[Any], named: dict[str, Any]) -> None:
        """out = name(*inputs)"""
        with np.errstate(all="ignore"):
            self.array(out)[...] = COMPUTE[name](*map(self.array, inputs), **named)

    def held(self) -> int:
        """How many pieces there are."""
        return len(self.memory)

    def serve(self, link: Connection) -> None:
        """Obey until the other side is gone."""
        while True:
            try:
                dropped, command, arguments = link.recv()
            except EOFError:
                return
            for handle in dropped:
                del self.memory[handle]
            try:
                answer = True, getattr(self, command)(*arguments)
            except Exception as error:  # noqa: BLE001  (whatever it is, the other side is to know)
                where = traceback.extract_tb(error.__traceback__)[-1]
                answer = False, f"{type(error).__name__}: {error} (in {where.name} of the worker)"
            link.send(answer)


if __name__ == "__main__" and sys.argv[1:2] == ["--worker"]:  # before glasstorch is imported: it is not needed here
    port, key = int(sys.argv[2]), bytes.fromhex(sys.stdin.readline())
    with Client(("127.0.0.1", port), authkey=key) as link_:
        Worker().serve(link_)
    sys.exit()


# This side ------------------------------------------------------------------------------------------------------------
from glasstorch._as_torch import install  # noqa: E402

install()  # `import torch` means glasstorch from here on, in digits.py too, as under `python -m glasstorch`
import torch  # noqa: E402
from digits import accuracy, load_digits, make_model, make_optimizer, train  # noqa: E402
from torch.library import Library  # noqa: E402
from torch.utils import backend_registration  # noqa: E402


class Remote:
    """The worker, as this side sees it: started at the first command, stopped with the program."""

    def __init__(self) -> None:
        self.link: Connection | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self.dropped: list[int] = []  # told with the next command: a tensor may die anywhere, even inside of one
        self.commands = 0

    def start(self) -> Connection:
        """Start the worker, and wait until it calls back with the key that only it was given."""
        key = os.urandom(32)
        with Listener(("127.0.0.1", 0), authkey=key) as listener:
            command = [sys.executable, __file__, "--worker", str(listener.address[1])]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE)
            assert self.process.stdin is not None
            self.process.stdin.write(key.hex().encode() + b"\n")
            self.process.stdin.close()
            link = listener.accept()
        atexit.register(self.stop)
        return link

    def __call__(self, command: str, *arguments: Any) -> Any:
        """Send a command and wait for its answer; what the worker raised is a RuntimeError here."""
        if self.link is None:
            self.link = self.start()
        dropped, self.dropped = self.dropped, []
        self.commands += 1
        try:
            self.link.send((dropped, command, arguments))
            done, answer = self.link.recv()
        except (EOFError, OSError) as error:
            raise RuntimeError(f"the worker of {NAME} is gone: {error or 'it closed the connection'}") from error
        if not done:
            raise RuntimeError(f"{NAME}: {answer}")
        return answer

    def stop(self) -> None:
        """Close the connection, at which the worker ends, and wait for that."""
        if self.link is not None:
            self.link.close()
            self.process.wait(timeout=10)


remote = Remote()


class Block:
    """A piece of the worker's memory; its number stands for an address."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self.address = remote("make", nbytes)

    def __del__(self) -> None:
        if hasattr(self, "address"):  # not where `make` was refused
            remote.dropped.append(self.address)


class Allocator:
    """Asks the worker for memory."""

    def allocate(self, nbytes: int, on: torch.device) -> Block:
        """A piece of this size."""
        return Block(nbytes)


# Renames, adds methods, and registers the plainest module, hooks and guard: there is one vault.
backend_registration._setup_privateuseone_for_python_backend(NAME)
backend_registration.set_allocator(Allocator())
library = Library("aten", "IMPL", "PrivateUse1")
everything = Library("_", "IMPL")


def operand(value: Any) -> Any:
    """What a command calls a tensor; a number on the CPU is sent as it is, lists element by element."""
    if isinstance(value, list | tuple):
        return [operand(one) for one in value]
    if not isinstance(value, torch.Tensor):
        return value
    if value.is_cpu:
        if value.dim():
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found at least two devices, {NAME}:0 and cpu!"
            )
        return value.item()
    size = value.itemsize
    return {
        "handle": value.untyped_storage().block.address,
        "dtype": value.dtype.numpy.str,
        "shape": tuple(value.shape),
        "strides": tuple(step * size for step in value.stride()),
        "offset": value.storage_offset() * size,
    }


def with_lists_there(value: Any) -> Any:
    """A list of tensors with each on the device: indices may be given in main memory."""
    if not isinstance(value, list | tuple):
        return value
    return [one.to(NAME) if isinstance(one, torch.Tensor) else one for one in value]


def without_data(value: Any) -> Any:
    """The same arguments on the device "meta", which knows the sizes of every operator's result."""
    if isinstance(value, list | tuple):
        return [without_data(one) for one in value]
    on_device = isinstance(value, torch.Tensor) and not (value.is_cpu and not value.dim())
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta") if on_device else value


def computed_by_worker(name: str) -> Callable[..., torch.Tensor]:
    """The kernel of an operator: sizes from "meta", memory from the allocator, elements from the worker."""
    operator, in_place = torch.ops.aten, name.partition(".")[0].endswith("_")
    packet, _, overload = name.removeprefix("aten::").partition(".")
    operator = getattr(getattr(operator, packet), overload or "default")

    def kernel(*inputs: Any, **named: Any) -> torch.Tensor:
        inputs = tuple(map(with_lists_there, inputs))  # kept until the command is done
        if in_place:
            out = inputs[0]
        else:
            sizes = operator(*without_data(inputs), **named)
            out = torch.empty_strided(sizes.shape, sizes.stride(), dtype=sizes.dtype, device=NAME)
        named.pop("memory_format", None)
        remote("compute", name, operand(out), operand(inputs), named)
        return out

    return kernel


for each in COMPUTE:
    if each.startswith("aten::"):
        library.impl(each.removeprefix("aten::"), computed_by_worker(each))


def in_place_form(name: str) -> Callable[..., torch.Tensor]:
    """`x.add_(y)`: the worker writes to x."""

    def kernel(self: torch.Tensor, other: torch.Tensor, **named: Any) -> torch.Tensor:
        remote("compute", name, operand(self), operand((self, other)), named)
        return self

    return kernel


library.impl("add_.Tensor", in_place_form("aten::add.Tensor"))
library.impl("mul_.Tensor", in_place_form("aten::mul.Tensor"))


def empty(size: Sequence[int], dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None,
          memory_format: Any = None) -> torch.Tensor:  # fmt: skip
    """An uninitialised tensor."""
    like = torch.empty(size, dtype=dtype, memory_format=memory_format or torch.contiguous_format, device="meta")
    return backend_registration.empty_tensor(size, dtype, device, like.stride())


def empty_strided(size: Sequence[int], stride: Sequence[int], dtype: Any = None, layout: Any = None,
                  device: Any = None, pin_memory: Any = None) -> torch.Tensor:  # fmt: skip
    """The same with given strides."""
    return backend_registration.empty_tensor(size, dtype, device, stride)


def copy_from(source: torch.Tensor, target: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """Bytes over the socket in one direction or the other; within the vault, a command. The CPU casts."""
    if not target.numel():
        return target
    if source.is_cpu:
        array = backend_registration.host_array(source.to(target.dtype).expand(target.shape))
        remote("write", operand(target), array.tobytes())
    elif target.is_cpu:
        data = np.frombuffer(remote("read", operand(source)), source.dtype.numpy)
        target.copy_(torch.from_numpy(data.reshape(source.shape).copy()))
    elif source.dtype is not target.dtype:
        copy_from(source.cpu(), target)
    else:
        remote("compute", "copy", operand(target), [operand(source)], {})
    return target


def copy_from_and_resize(source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """How the fallback writes back what an operator changed on the CPU."""
    return copy_from(source, target.resize_(source.shape))


def fall_back(operator: Any, *arguments: Any, **named: Any) -> Any:
    """The rest is computed here, on the CPU."""
    backend_registration.warn_of_fallback(operator)
    return backend_registration.cpu_fallback(operator, *arguments, error_on_views=True, **named)


library.impl("empty.memory_format", empty)
library.impl("empty_strided", empty_strided)
library.impl("_copy_from", copy_from)
library.impl("_copy_from_and_resize", copy_from_and_resize)
everything.fallback(fall_back, "PrivateUse1")


# A use of it ----------------------------------------------------------------------------------------------------------
def trained(device: str, epochs: int, seed: int) -> tuple[list[float], float]:
    """The classifier of examples/digits.py on a device: the loss of each step, and the accuracy."""
    torch.manual_seed(seed)
    training, test = load_digits(torch.device(device))
    model = make_model().to(device)
    optimizer = make_optimizer("sgd", model, None)
    losses = [loss for _ in range(epochs) for loss in train(model, optimizer, training, batch_size=64)]
    return losses, accuracy(model, test)


def main() -> None:
    """Show the device, then train on it and on the CPU."""
    parser = argparse.ArgumentParser(description="Trains a network on a device that is another process.")
    parser.add_argument("--epochs", type=int, default=15, help="passes over the training data (default 15)")
    parser.add_argument("--seed", type=int, default=0, help="decides split, weights and batches (default 0)")
    arguments = parser.parse_args()
    x = torch.arange(6.0).reshape(2, 3).to(NAME)
    print(x @ x.t())
    print(f"computed by the process {remote.process.pid}, of which this one, {os.getpid()}, holds handles:", operand(x))
    for size, row in ((1 << 30, 0), (1, 5)):
        try:
            torch.empty(size, device=NAME)
            x[torch.tensor([row])]
        except RuntimeError as error:
            print("refused:", error)
    reached = {}
    for device in ("cpu", NAME):
        losses, reached[device] = trained(device, arguments.epochs, arguments.seed)
        print(f"{device:5}  loss {losses[0]:.4f} -> {losses[-1]:.4f}, {reached[device]:.1%} of the test images read")
    del x
    print(f"{remote.commands} commands were sent; the worker holds {remote('held')} pieces of memory")


if __name__ == "__main__":
    main()
