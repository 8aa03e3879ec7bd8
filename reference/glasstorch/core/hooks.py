"""What does the core ask of the layers above it?

Mirrors: aten/src/ATen/core/VariableHooksInterface.h, c10/core/impl/PyInterpreter.h,
    aten/src/ATen/detail/CUDAHooksInterface.h
Differs: a Protocol for each layer that answers, filled in once when that layer is imported.

A tensor has `backward` and `grad_fn`, and the core implements neither: it calls the layer that registered itself here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from glasstorch.core.errors import AutogradError, DeviceError
from glasstorch.core.keys import PYTHON, WRAPPED

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor
    from glasstorch.core.device import device


class VariableHooks(Protocol):
    """What autograd answers about a tensor."""

    def grad_fn(self, tensor: Tensor) -> Any:
        """The node that produced the tensor, or None."""

    def backward(
        self, tensor: Tensor, gradient: Any, retain_graph: bool | None, create_graph: bool, inputs: Any
    ) -> None:
        """Run the engine from the tensor."""

    def is_leaf(self, tensor: Tensor) -> bool: ...

    def requires_grad_(self, tensor: Tensor, requires_grad: bool, only: str) -> None: ...

    def get_grad(self, tensor: Tensor) -> Tensor | None: ...

    def set_grad(self, tensor: Tensor, grad: object) -> None: ...

    def get_grad_dtype(self, tensor: Tensor) -> Any: ...

    def set_grad_dtype(self, tensor: Tensor, dtype: object) -> None: ...

    def retain_grad(self, tensor: Tensor) -> None: ...

    def retains_grad(self, tensor: Tensor) -> bool: ...

    def register_hook(self, tensor: Tensor, hook: Callable[[Any], Any]) -> Any: ...

    def register_post_accumulate_grad_hook(self, tensor: Tensor, hook: Callable[[Any], Any]) -> Any: ...

    def backward_hooks(self, tensor: Tensor) -> Any: ...

    def set_backward_hooks(self, tensor: Tensor, hooks: object) -> None: ...

    def set_post_accumulate_hooks(self, tensor: Tensor, hooks: object) -> None: ...

    def base(self, tensor: Tensor) -> Tensor | None:
        """The base of a view, or None."""

    def view_again(self, view: Tensor, new_base: Tensor, visitors: tuple[Any, ...], *, alike: bool) -> Tensor | None:
        """The same view of another tensor, or None."""

    def base_again(self, view: Tensor, new_view: Tensor) -> None:
        """None for a tensor that is no view; an error for any other."""

    def is_recorded(self, tensor: Tensor) -> bool:
        """Whether a change of the tensor would be recorded: it requires grad, and grad mode is on."""

    def may_have_derivative(self, tensor: Tensor) -> bool:
        """Whether the tensor requires grad or has a tangent: _may_require_fw_or_bw_grad (ATen/native)."""

    def tangent(self, tensor: Tensor) -> Tensor | None:
        """What forward mode knows of the tensor, or None."""

    def becomes_number(self, tensor: Any) -> None:
        """Python is about to take a tensor as a float or a complex number, which has no gradient."""


class _NoAutograd:
    """The placeholder until autograd is imported."""

    def tangent(self, tensor: Tensor) -> None:
        """No tensor has one: forward mode belongs to autograd. So a tensor can be printed without it."""

    def __getattr__(self, name: str) -> Any:
        raise AutogradError(f"{name}: glasstorch.autograd is not loaded; `import glasstorch` loads it")


variable_hooks: VariableHooks = _NoAutograd()


Leaf = TypeVar("Leaf", bound="Tensor")


def required(
    tensor: Leaf, requires_grad: bool = True, only: str = "Only Tensors of floating point and complex"
) -> Leaf:
    """The tensor itself, once it requires grad: also inside a transform, where `tensor.requires_grad_()` is refused.

    `only` begins the message of the error for integers; PyTorch has three forms of it.
    """
    variable_hooks.requires_grad_(tensor, requires_grad, only)
    return tensor


def set_variable_hooks(hooks: VariableHooks) -> None:
    """Called once by the autograd layer when it is imported."""
    global variable_hooks
    variable_hooks = hooks


class Bytes(Protocol):
    """A storage as lower layers see it: bytes on a device."""

    @property
    def device(self) -> device: ...

    def address(self) -> int: ...


class TensorHooks(Protocol):
    """What the tensor layer makes for layers below it."""

    def wrapped_number(self, value: Any) -> Tensor:
        """A 0-dim tensor that wraps a Python number and is weak in type promotion."""

    def from_array(self, array: Any) -> Tensor:
        """A tensor over a NumPy array's memory."""

    def over(self, array: Any, dtype: Any) -> Tensor:
        """A tensor over a NumPy array's memory, whose bytes are read as a dtype of the same size."""

    def wrap(self, array: Any, dtype: Any) -> Tensor:
        """A CPU tensor around a fresh row-major array that has no other owner."""

    def make(self, storage: Bytes, dtype: Any, shape: Any, strides: Any, offset: int, cls: Any = ...) -> Tensor:
        """A tensor, of the class `cls` if it is given, that reads a storage at these sizes, strides and offset."""

    def alias(self, base: Any, cls: Any) -> Any:
        """The same storage, geometry and version counter as an instance of a class, without autograd's record."""

    def empty_pinned(self, shape: Any, strides: Any, dtype: Any) -> Tensor:
        """An uninitialised CPU tensor in pinned memory."""

    def tensor_class(self) -> type[Tensor]:
        """The class Tensor itself."""


class _NoTensors:
    def __getattr__(self, name: str) -> Any:
        raise AutogradError(f"{name}: glasstorch._tensor is not loaded; `import glasstorch` loads it")


tensor_hooks: TensorHooks = _NoTensors()


def set_tensor_hooks(hooks: TensorHooks) -> None:
    """Called once by the tensor layer when it is imported."""
    global tensor_hooks
    tensor_hooks = hooks


class CUDAHooks(Protocol):
    """What the CUDA layer answers, which is loaded on first use of CUDA."""

    def lazy_init(self) -> None:
        """Find a driver and load the kernels; DeviceError where there is neither a GPU nor a simulator."""

    def current_device(self) -> int:
        """The device of the calling thread that `cuda` without an index means."""

    def is_initialized(self) -> bool:
        """Whether a driver is active and the kernels are loaded."""

    def indexed(self, on: device) -> device:
        """A CUDA device with its index; one that does not exist is refused. Loads the kernels."""


class _NoCUDA:
    def __getattr__(self, name: str) -> Any:
        raise DeviceError(f"{name}: glasstorch.kernels.cuda is not loaded; `import glasstorch` loads it")


cuda_hooks: CUDAHooks = _NoCUDA()


def set_cuda_hooks(hooks: CUDAHooks) -> None:
    """Called once by the CUDA layer's runtime when it is imported."""
    global cuda_hooks
    cuda_hooks = hooks


class DeviceBlock(Protocol):
    """Memory on a device, on loan until the object dies."""

    address: int
    nbytes: int

    def record_stream(self, stream: int) -> None:
        """When the object dies, keep the memory until the work queued on a stream by then is done."""


class MemoryHooks(Protocol):
    """What the CUDA kernels do for storages and tensors; loaded on first use of CUDA."""

    def allocate(self, nbytes: int, on: device) -> DeviceBlock:
        """Uninitialised bytes on a device, for the current stream."""

    def copy_bytes(self, target: Bytes, source: Bytes, nbytes: int) -> None:
        """Copy the first bytes from one storage to another, on whatever devices they are."""

    def host_array(self, tensor: Any) -> Any:
        """The elements of a CUDA tensor as a NumPy array of its own. Calls no operator."""

    def pinned(self, nbytes: int) -> Any:
        """Uninitialised page-locked main memory, as a uint8 array that owns it."""

    def is_pinned(self, address: int) -> bool:
        """Whether an address lies in page-locked main memory."""

    def let_wait(self, on: device, stream: int) -> None:
        """Make a stream of a device wait for the work queued on the current stream so far."""

    def current_stream(self, on: device) -> int:
        """The handle of the calling thread's current stream of a device."""


class _NoDeviceMemory:
    """Loads the CUDA kernels, which replace this object, and passes the call on to them."""

    def __getattr__(self, name: str) -> Any:
        cuda_hooks.lazy_init()
        assert memory_hooks is not self, "the CUDA kernels set the memory hooks when they are loaded"
        return getattr(memory_hooks, name)


memory_hooks: MemoryHooks = _NoDeviceMemory()


def set_memory_hooks(hooks: MemoryHooks) -> None:
    """Called once by the CUDA kernels when they are loaded."""
    global memory_hooks
    memory_hooks = hooks


class TraceHooks(Protocol):
    """Events that the tracer must know of, because they bypass the operators and no graph can hold them."""

    def records_here(self) -> bool:
        """Whether the function that is being traced is the caller's, and not that of another thread."""

    def value_read(self, tensor: Any) -> None:
        """A tensor's elements go to Python or NumPy."""

    def length_read(self, tensor: Any) -> None:
        """`len(tensor)` was asked for."""

    def iterated(self, tensor: Any) -> None:
        """A loop over a tensor's first dimension begins."""

    def made_from_data(self, function: str) -> None:
        """A function of this name was called to make a tensor from data of Python or NumPy."""

    def gradient_hooked(self, tensor: Any) -> None:
        """A hook for a tensor's gradient is registered."""


trace_hooks: TraceHooks | None = None  # None while nothing is being traced


def set_trace_hooks(hooks: TraceHooks | None) -> None:
    """Called by the tracer when the first trace begins and when the last one ends."""
    global trace_hooks
    trace_hooks = hooks


def array_namespace() -> Any:
    """The module that `x.__array_namespace__()` gives; imported when it is first asked for."""
    assert find_array_namespace is not None, "the facade sets the namespace"
    return find_array_namespace()


find_array_namespace: Callable[[], Any] | None = None


def set_array_namespace(find: Callable[[], Any]) -> None:
    """Called once by the facade."""
    global find_array_namespace
    find_array_namespace = find


def transforms() -> Any:
    """The module of vmap and the other transforms, which lies above autograd; imported when it is first asked for."""
    assert find_transforms is not None, "the facade sets the transforms"
    return find_transforms()


find_transforms: Callable[[], Any] | None = None


def set_transforms(find: Callable[[], Any]) -> None:
    """Called once by the facade."""
    global find_transforms
    find_transforms = find


def intercepted(before: Callable[[Any, Any, Any], None]) -> AbstractContextManager[Any]:
    """In the block, `before(operator, args, kwargs)` is called before each operator below autograd runs."""
    assert intercept is not None, "the facade sets the interception"
    return intercept(before)


intercept: Callable[[Callable[[Any, Any, Any], None]], AbstractContextManager[Any]] | None = None


def set_intercept(function: Callable[[Callable[[Any, Any, Any], None]], AbstractContextManager[Any]]) -> None:
    """Called once by the facade."""
    global intercept
    intercept = function


def decides(tensor: Tensor) -> bool:
    """Whether a formula or a check can look at a tensor's values.

    On the meta device there are none, and those of a class with a `__torch_dispatch__` are its own business.

    The tracer is informed that they would be read: it does not record everything that happens if a tensor has values.
    """
    if tensor.is_meta and trace_hooks is not None:
        trace_hooks.value_read(tensor)
    if tensor.key_set & WRAPPED and transform_hooks is not None:
        return not transform_hooks.is_batch(tensor)
    return not (tensor.is_meta or tensor.key_set & PYTHON)


def is_example(tensor: Any) -> bool:
    """Whether it stands for one example of the vmap that runs innermost."""
    return bool(tensor.key_set & WRAPPED) and transform_hooks is not None and transform_hooks.is_example(tensor)


class TransformHooks(Protocol):
    """What the transforms (vmap, grad, ...) answer about a tensor that one of them has wrapped."""

    def text(self, tensor: Any) -> str:
        """How it is printed."""

    def is_batch(self, tensor: Any) -> bool:
        """Whether it stands for many examples, which have no common value to look at."""

    def is_example(self, tensor: Any) -> bool:
        """Whether it stands for one example of the vmap that runs innermost."""

    def check_truth(self, tensor: Any) -> None:
        """Python is about to branch on it: an error for a batch."""

    def without_history(self, tensor: Any) -> Any:
        """The same value without what this level has recorded of it; the levels outside still know its history."""


transform_hooks: TransformHooks | None = None  # None until a transform is imported


def set_transform_hooks(hooks: TransformHooks) -> None:
    """Called once by func/printing.py."""
    global transform_hooks
    transform_hooks = hooks
