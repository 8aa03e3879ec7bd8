"""A device from outside: memory, random numbers and kernels of its own, in one file to copy.

    python examples/outside_device.py      shows the device, then trains on it, and on the CPU to compare

The device is called "attic". Its memory is a bytearray for each block, which the library cannot look into: whatever
happens to a tensor up there is done by a kernel of this file, by a copy, or by the CPU on its behalf. In PyTorch the
same is written in C++ against the key PrivateUse1; the comment above each part names what it stands for there.

A new device grows in this order, and each step says what fails without it:

1. a name                without it, `torch.device("attic")` is refused
2. its module            `torch.ones(2, device="attic")` says that there is no module torch.attic
3. a guard and hooks     nobody knows which device "attic" without an index is, or whether it is the accelerator
4. an allocator          `empty` has no memory to hand out
5. `empty`, `empty_strided` and `_copy_from`
                         nothing can be made there, moved there or read back; from here on `x.to("attic")` and printing
                         work, and so do views, which only compute sizes and strides
6. `_copy_from_and_resize` and the CPU fallback
                         any other operator is refused; from here on all of them give the right answer, slowly
7. kernels               those that a profile finds most often (`fell_back` below counts)
8. a generator           `torch.Generator("attic")` and reproducible random numbers
9. autocast              `torch.autocast("attic")`: which dtypes, and a policy for each operator

Gradients need no step: formulas are made of operators, and the key AutogradPrivateUse1 runs them above every kernel.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from glasstorch._as_torch import install

install()  # `import torch` means glasstorch from here on, in digits.py too, as under `python -m glasstorch`
import torch  # noqa: E402
from digits import accuracy, load_digits, make_model, make_optimizer, train  # noqa: E402
from torch.library import Library  # noqa: E402
from torch.utils import backend_registration  # noqa: E402

NAME = "attic"
COUNT = 2  # devices

# 1. A name. -----------------------------------------------------------------------------------------------------------
# PyTorch: the same function. It can be called once in a process.
torch.utils.rename_privateuse1_backend(NAME)


# 3. Which device is current, and what the device answers. -------------------------------------------------------------
# PyTorch: c10::impl::DeviceGuardImplInterface, C10_REGISTER_GUARD_IMPL; at::PrivateUse1HooksInterface.
class Guard(backend_registration.DeviceGuard):
    """Knows the current device."""

    def __init__(self) -> None:
        self.current = torch.device(NAME, 0)

    def get_device(self) -> torch.device:
        """The device that "attic" without an index means."""
        return self.current

    def set_device(self, on: torch.device) -> None:
        """Make another one current."""
        if not 0 <= on.index < COUNT:
            raise RuntimeError(f"{NAME} has the devices 0 to {COUNT - 1}; {on} is not one of them")
        self.current = on

    def device_count(self) -> int:
        """How many there are."""
        return COUNT

    def synchronize_device(self, index: int) -> None:
        """Nothing is queued: every kernel has finished when it returns."""


class RandomBits:
    """The device's random numbers: NumPy's generator, which is not the CPU's. PyTorch: c10::GeneratorImpl."""

    def __init__(self) -> None:
        self.start(0)

    def start(self, seed: int) -> None:
        """Begin anew with a seed."""
        self.first_seed = seed
        self.bits = np.random.Philox(seed)

    def state_bytes(self) -> np.ndarray:
        """The seed, counter, key and buffer, as bytes."""
        state = self.bits.state
        words = [self.first_seed, *state["state"]["counter"], *state["state"]["key"], *state["buffer"]]
        words += [state["buffer_pos"], state["has_uint32"], state["uinteger"]]
        return np.array(words, np.uint64).view(np.uint8)

    def load_state_bytes(self, state: np.ndarray) -> None:
        """Continue from there."""
        words = [int(word) for word in np.ascontiguousarray(state).view(np.uint64)]
        self.start(words[0])
        self.bits.state = {
            "bit_generator": "Philox",
            "state": {"counter": np.array(words[1:5], np.uint64), "key": np.array(words[5:7], np.uint64)},
            "buffer": np.array(words[7:11], np.uint64),
            "buffer_pos": words[11],
            "has_uint32": words[12],
            "uinteger": words[13],
        }


class Hooks(backend_registration.PrivateUse1Hooks):
    """What the library asks."""

    def __init__(self) -> None:
        self.generators: dict[int, torch.Generator] = {}

    def is_built(self) -> bool:
        """Always."""
        return True

    def is_available(self) -> bool:
        """Always: there is an attic in every process."""
        return True

    def has_primary_context(self, dev_id: int) -> bool:
        """Nothing needs to be initialised."""
        return 0 <= dev_id < COUNT

    def get_new_generator(self, index: int) -> RandomBits:
        """What `torch.Generator("attic")` holds."""
        return RandomBits()

    def get_default_generator(self, index: int) -> torch.Generator:
        """What draws where no generator is given."""
        if index not in self.generators:
            self.generators[index] = torch.Generator(torch.device(NAME, index))
        return self.generators[index]

    def get_pinned_memory_allocator(self) -> Pinned:
        """What `x.pin_memory()` copies to."""
        return pinned

    def is_pinned_ptr(self, address: int) -> bool:
        """Whether it is memory that `pin_memory` gave."""
        return any(start <= address < start + size for start, size in pinned.given)


class Pinned:
    """Main memory that the device could read by itself. Here it is any memory, of which a list is kept."""

    def __init__(self) -> None:
        self.given: list[tuple[int, int]] = []

    def allocate(self, nbytes: int) -> np.ndarray:
        """Memory, noted down."""
        memory = np.empty(nbytes, np.uint8)
        self.given.append((memory.ctypes.data, nbytes))
        return memory


pinned = Pinned()
guard, hooks = Guard(), Hooks()
backend_registration.register_guard(guard)
backend_registration.register_hooks(hooks)


# 2. The module: torch.attic. ------------------------------------------------------------------------------------------
# PyTorch: the same function. A module or any object with these functions.
class Module:
    """`torch.attic`."""

    def is_available(self) -> bool:
        """Whether there is a device."""
        return True

    def is_initialized(self) -> bool:
        """Whether it has been used."""
        return True

    def device_count(self) -> int:
        """How many there are."""
        return COUNT

    def current_device(self) -> int:
        """The index of the current one."""
        return guard.current.index

    def set_device(self, device: torch.device | int) -> None:
        """Make another one current."""
        guard.set_device(torch.device(NAME, device) if isinstance(device, int) else device)

    def _is_in_bad_fork(self) -> bool:
        return False

    def manual_seed_all(self, seed: int) -> None:
        """What `torch.manual_seed` calls."""
        for index in range(COUNT):
            hooks.get_default_generator(index).manual_seed(seed)

    def get_rng_state(self, device: Any = NAME) -> torch.Tensor:
        """The state of a device's generator."""
        return hooks.get_default_generator(_index(device)).get_state()

    def set_rng_state(self, new_state: torch.Tensor, device: Any = NAME) -> None:
        """Continue from a state."""
        hooks.get_default_generator(_index(device)).set_state(new_state)

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        """9. The dtypes of autocast."""
        return [torch.bfloat16, torch.float16]

    def memory_allocated(self, device: Any = None) -> int:
        """The bytes in use on all devices."""
        return allocator.in_use


def _index(device: Any) -> int:
    on = torch.device(NAME, device) if isinstance(device, int) else torch.device(device)
    return guard.current.index if on.index is None else on.index


torch._register_device_module(NAME, Module())


# 4. Memory. -----------------------------------------------------------------------------------------------------------
# PyTorch: c10::Allocator, REGISTER_ALLOCATOR; a block is a c10::DataPtr, which gives its memory back when it dies.
class Block:
    """A piece of the attic. Its address is a number of the attic's own, and no place in main memory."""

    def __init__(self, address: int, nbytes: int) -> None:
        self.address = address
        self.nbytes = nbytes
        self.data = bytearray(nbytes)

    def __del__(self) -> None:
        allocator.in_use -= self.nbytes


class Allocator:
    """Hands out blocks, and counts them."""

    def __init__(self) -> None:
        self.in_use = 0
        self.next = 1 << 40

    def allocate(self, nbytes: int, on: torch.device) -> Block:
        """A block on a device; `del` gives it back."""
        if not 0 <= on.index < COUNT:
            raise RuntimeError(f"{NAME} has the devices 0 to {COUNT - 1}; {on} is not one of them")
        block = Block(self.next, nbytes)
        self.next += nbytes + 64
        self.in_use += nbytes
        return block


allocator = Allocator()
backend_registration.set_allocator(allocator)

# `x.attic()`, `x.is_attic`, `module.attic()` ...; PyTorch: the same function.
torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)


# 5. What can be made, and copied. -------------------------------------------------------------------------------------
# PyTorch: TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("empty.memory_format", ...); ... }
library = Library("aten", "IMPL", "PrivateUse1")


def kernel(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the function below under names of operators."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            library.impl(name, function)
        return function

    return register


@kernel("empty.memory_format")
def empty(size: Sequence[int], dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None,
          memory_format: Any = None) -> torch.Tensor:  # fmt: skip
    """An uninitialised tensor. PyTorch: at::detail::empty_generic with the allocator above."""
    if memory_format in (None, torch.contiguous_format):
        return backend_registration.empty_tensor(size, dtype, device)
    like = torch.empty(size, memory_format=memory_format, device="meta")
    return backend_registration.empty_tensor(size, dtype, device, like.stride())


@kernel("empty_strided")
def empty_strided(size: Sequence[int], stride: Sequence[int], dtype: Any = None, layout: Any = None,
                  device: Any = None, pin_memory: Any = None) -> torch.Tensor:  # fmt: skip
    """The same with given strides."""
    return backend_registration.empty_tensor(size, dtype, device, stride)


def elements(tensor: torch.Tensor) -> np.ndarray:
    """What a kernel computes on: the elements where they lie, on the attic or, for a copy, in main memory."""
    if tensor.is_cpu:
        return backend_registration.host_array(tensor)
    size = tensor.itemsize
    memory = tensor.untyped_storage().block.data
    if not tensor.numel():
        return np.empty(tuple(tensor.shape), tensor.dtype.numpy)
    strides = [step * size for step in tensor.stride()]
    return np.ndarray(tuple(tensor.shape), tensor.dtype.numpy, memory, tensor.storage_offset() * size, strides)


@kernel("_copy_from")
def copy_from(source: torch.Tensor, target: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """To the device, from it, within it and between its two: in all four cases one of the tensors is there."""
    with np.errstate(all="ignore"):
        elements(target)[...] = elements(source)
    return target


# 6. The rest, on the CPU. ---------------------------------------------------------------------------------------------
# PyTorch: at::native::cpu_fallback, registered with TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(...); }
@kernel("_copy_from_and_resize")
def copy_from_and_resize(source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """How the fallback writes back what an operator changed on the CPU."""
    return copy_from(source, target.resize_(source.shape))


fell_back: Counter[str] = Counter()


def fall_back(operator: Any, *arguments: Any, **named: Any) -> Any:
    """Say once for each operator that there is no kernel, then let the CPU compute. Views are refused."""
    backend_registration.warn_of_fallback(operator)
    fell_back[operator.name] += 1
    return backend_registration.cpu_fallback(operator, *arguments, error_on_views=True, **named)


everything = Library("_", "IMPL")
everything.fallback(fall_back, "PrivateUse1")


# 7. Kernels, for what training calls most. ----------------------------------------------------------------------------
def result(array: Any, like: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
    """A new tensor on the attic with these elements."""
    array = np.asarray(array)
    made = torch.empty(array.shape, dtype=dtype or like.dtype, device=like.device)
    elements(made)[...] = array
    return made


def on_one_device(*tensors: torch.Tensor) -> None:
    """Kernels must refuse what they cannot reach."""
    devices = {tensor.device for tensor in tensors}
    if len(devices) > 1:
        first, second = sorted(map(str, devices))[:2]
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}!"
        )


def with_number(operator: str, function: Callable[..., Any]) -> None:
    """Register a pointwise operator of two tensors, of which the second may be a number, in its two forms."""
    overload = f"{operator}.Tensor"

    def compute(self: torch.Tensor, other: torch.Tensor, **scale: Any) -> tuple[Any, torch.dtype]:
        number = not other.dim() and other.is_cpu
        if not number:
            on_one_device(self, other)
        dtype = torch.result_type(self, other)
        right = other.item() if number else elements(other)
        return function(elements(self), right * scale["alpha"] if scale else right), dtype

    def functional(self: torch.Tensor, other: torch.Tensor, **scale: Any) -> torch.Tensor:
        array, dtype = compute(self, other, **scale) if not self.is_cpu else compute(other, self)
        return result(array, other if self.is_cpu else self, dtype)

    def in_place(self: torch.Tensor, other: torch.Tensor, **scale: Any) -> torch.Tensor:
        elements(self)[...] = compute(self, other, **scale)[0]
        return self

    library.impl(overload, functional)
    library.impl(f"{operator}_.Tensor", in_place)


with_number("add", np.add)
with_number("mul", np.multiply)


@kernel("fill_.Scalar")
def fill(self: torch.Tensor, value: Any) -> torch.Tensor:
    """Every element set to a number."""
    elements(self)[...] = value
    return self


@kernel("zero_")
def zero(self: torch.Tensor) -> torch.Tensor:
    """Every element set to 0."""
    return fill(self, 0)


@kernel("clone")
def clone(self: torch.Tensor, memory_format: Any = None) -> torch.Tensor:
    """A copy."""
    return copy_from(self, torch.empty_like(self, memory_format=memory_format or torch.preserve_format))


@kernel("mm")
def mm(self: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    """The product of two matrices."""
    on_one_device(self, mat2)
    return result(elements(self) @ elements(mat2), self)


@kernel("addmm")
def addmm(self: torch.Tensor, mat1: torch.Tensor, mat2: torch.Tensor, *, beta: Any = 1, alpha: Any = 1) -> torch.Tensor:
    """A layer: the product of two matrices, and a bias."""
    on_one_device(self, mat1, mat2)
    return result(beta * elements(self) + alpha * (elements(mat1) @ elements(mat2)), self)


@kernel("relu")
def relu(self: torch.Tensor) -> torch.Tensor:
    """Negative elements become 0."""
    return result(np.maximum(elements(self), 0), self)


@kernel("threshold_backward")
def threshold_backward(grad_output: torch.Tensor, self: torch.Tensor, threshold: Any) -> torch.Tensor:
    """The gradient of relu: passed on where the result was above the threshold."""
    on_one_device(grad_output, self)
    return result(np.where(elements(self) > threshold, elements(grad_output), 0), grad_output)


@kernel("sum.dim_IntList")
def sum_over(self: torch.Tensor, dim: Any, keepdim: bool = False, *, dtype: Any = None) -> torch.Tensor:
    """The sum over some dimensions, or all."""
    return result(elements(self).sum(axis=tuple(dim) if dim else None, keepdims=keepdim), self, dtype)


@kernel("index.Tensor")
def index(self: torch.Tensor, indices: Sequence[torch.Tensor | None]) -> torch.Tensor:
    """Rows picked by their numbers, which may be in main memory."""
    where = tuple(slice(None) if one is None else elements(one) for one in indices)
    return result(elements(self)[where], self)


@kernel("_log_softmax")
def log_softmax(self: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    """The logarithm of the softmax along a dimension."""
    scores = elements(self)
    shifted = scores - scores.max(axis=dim, keepdims=True)
    return result(shifted - np.log(np.exp(shifted).sum(axis=dim, keepdims=True)), self)


@kernel("_log_softmax_backward_data")
def log_softmax_backward(grad_output: torch.Tensor, output: torch.Tensor, dim: int, input_dtype: Any) -> torch.Tensor:
    """Its gradient."""
    on_one_device(grad_output, output)
    grad = elements(grad_output)
    return result(grad - np.exp(elements(output)) * grad.sum(axis=dim, keepdims=True), grad_output)


# 8. Random numbers by the device's own generator.
@kernel("normal_")
def normal(self: torch.Tensor, mean: float = 0, std: float = 1, *, generator: Any = None) -> torch.Tensor:
    """Normally distributed numbers."""
    generator = generator or hooks.get_default_generator(self.device.index)
    draw = np.random.Generator(generator.stream.bits)
    elements(self)[...] = draw.normal(mean, std, tuple(self.shape))
    return self


# 9. Autocast. ---------------------------------------------------------------------------------------------------------
# PyTorch: TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); } and
# TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) { KERNEL_PRIVATEUSEONE(mm, lower_precision_fp) ... }
everything.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")  # other operators do not cast
for product in ("mm", "addmm", "linear"):
    backend_registration.register_autocast_kernel(product, "lower_precision_fp")
backend_registration.register_autocast_kernel("nll_loss", "fp32")


# A use of it. ---------------------------------------------------------------------------------------------------------
def trained(device: str, epochs: int, seed: int) -> tuple[list[float], float]:
    """The classifier of examples/digits.py on a device: the loss of each step, and the accuracy."""
    torch.manual_seed(seed)
    training, test = load_digits(torch.device(device))
    model = make_model().to(device)
    optimizer = make_optimizer("sgd", model, None)
    losses = [loss for _ in range(epochs) for loss in train(model, optimizer, training, batch_size=64)]
    return losses, accuracy(model, test)


def show(device: str) -> None:
    """A few lines about a tensor up there."""
    x = torch.ones(2, 3, device=device, requires_grad=True)
    print(x)
    print("its keys:", torch._C._dispatch_keys(x))
    (x @ x.t()).sum().backward()
    print("a gradient:", x.grad)
    with torch.autocast(NAME, dtype=torch.bfloat16):
        print("under autocast:", (x @ x.t()).dtype)
    print("the accelerator:", torch.accelerator.current_accelerator())
    try:
        x.detach().numpy()
    except TypeError as error:
        print("NumPy cannot look into it:", error)


def main() -> None:
    """Show the device, then train on it and on the CPU."""
    parser = argparse.ArgumentParser(description="Trains a network on a device that this file defines.")
    parser.add_argument("--epochs", type=int, default=15, help="passes over the training data (default 15)")
    parser.add_argument("--seed", type=int, default=0, help="decides split, weights and batches (default 0)")
    arguments = parser.parse_args()
    show(NAME)
    reached = {}
    for device in ("cpu", NAME):
        losses, reached[device] = trained(device, arguments.epochs, arguments.seed)
        print(f"{device:5}  loss {losses[0]:.4f} -> {losses[-1]:.4f}, {reached[device]:.1%} of the test images read")
    print("the CPU computed for it:", ", ".join(f"{name} {count}x" for name, count in fell_back.most_common()))
    print(f"memory in use there: {allocator.in_use} bytes")


if __name__ == "__main__":
    main()
