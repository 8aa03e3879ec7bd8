"""How does a program decide in which form the tensors that nodes save are kept?

Mirrors: torch/csrc/autograd/python_saved_variable_hooks.cpp, aten/src/ATen/SavedTensorHooks.h,
    torch/autograd/graph.py (saved_tensors_hooks, save_on_cpu, disable_saved_tensors_hooks)
Differs: ContextVars, of which each thread and each asyncio task has its own value. The `device_type` of save_on_cpu
    has no effect: CUDA is the only device whose memory can be pinned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.core.device import device
from glasstorch.core.errors import ArgumentTypeError, AutogradError
from glasstorch.devices.runtime import is_available
from glasstorch.operators.generated.functions import empty


class Pair(NamedTuple):
    """What a tensor is given to when it is saved, and what then gives it back."""

    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]
    outer: Pair | None = None  # the pair that is in use again when this one's block ends


in_use: ContextVar[Pair | None] = ContextVar("saved_tensors_hooks", default=None)
refusal: ContextVar[str | None] = ContextVar("saved_tensors_hooks_refusal", default=None)


class saved_tensors_hooks:
    """Inside, a node keeps `pack_hook(tensor)` in place of each tensor that it saves, and `unpack_hook` turns it back.

    `pack_hook` runs without recording and must not write to its argument, nor return something that holds it, which
    would keep a node and its own result alive. `unpack_hook` returns a tensor of the same values, sizes and dtype; it
    runs in the backward pass, and whenever the tensor is asked for. Of nested blocks the innermost counts. Saved
    versions are not checked.

    >>> from glasstorch import ones
    >>> x = ones(2, requires_grad=True)
    >>> with saved_tensors_hooks(lambda t: t.tolist(), lambda values: x.new_tensor(values)):
    ...     y = x.exp()
    >>> y.grad_fn._saved_result.shape
    torch.Size([2])
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        push(self.pack_hook, self.unpack_hook)

    def __exit__(self, *args: object) -> None:
        pop()


def push(pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
    """Use a pair of hooks from now on; refused where they are disabled."""
    for name, hook in (("pack_hook", pack), ("unpack_hook", unpack)):
        if not callable(hook):
            raise ArgumentTypeError(f"{name} must be callable, and is a {type(hook).__name__}: {hook!r}")
    if (message := refusal.get()) is not None:
        raise AutogradError(message)
    in_use.set(Pair(pack, unpack, in_use.get()))


def pop() -> None:
    """Go back to the pair before."""
    pair = in_use.get()
    assert pair is not None, "there are no hooks in use"
    in_use.set(pair.outer)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Inside, hooks for saved tensors are refused with this message; where some are in use, the block itself is."""
    if not isinstance(error_message, str):
        raise ArgumentTypeError(
            f"disable_saved_tensors_hooks(): argument 'error_message' must be str, not {type(error_message).__name__}"
        )
    if in_use.get() is not None:
        raise AutogradError(error_message)
    before = refusal.get()
    refusal.set(error_message)
    try:
        yield
    finally:
        refusal.set(before)


class save_on_cpu(saved_tensors_hooks):
    """Inside, nodes keep what they save in the CPU's memory, and copy it back when the backward pass needs it.

    With `pin_memory`, it is pinned memory, and the copies do not wait for the device.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> tuple[device, Tensor]:
            if not pin_memory:
                return tensor.device, tensor.cpu()
            pinned = is_available()
            kept = empty(tensor.size(), dtype=tensor.dtype, layout=tensor.layout, pin_memory=pinned)
            kept.copy_(tensor, non_blocking=pinned)
            return tensor.device, kept

        def unpack(packed: tuple[device, Tensor]) -> Tensor:
            home, tensor = packed
            return tensor.to(home, non_blocking=pin_memory)

        super().__init__(pack, unpack)
