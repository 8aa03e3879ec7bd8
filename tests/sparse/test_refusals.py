"""What PyTorch refuses of sparse tensors is refused here: by the same class of error, in the same words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

import glasstorch
from tests.refusals import builtin

Call = Callable[[Any, Any], Any]
Require = Callable[[str], Any]

LAYOUTS: Final[dict[str, Callable[[Any], Any]]] = {
    "coo": lambda t: t.eye(4).to_sparse(),
    "csr": lambda t: t.eye(4).to_sparse_csr(),
    "csc": lambda t: t.eye(4).to_sparse_csc(),
    "bsr": lambda t: t.eye(4).to_sparse_bsr((2, 2)),
    "bsc": lambda t: t.eye(4).to_sparse_bsc((2, 2)),
    "batched csr": lambda t: t.stack([t.eye(4)] * 2).to_sparse_csr(),
    "hybrid coo": lambda t: t.stack([t.eye(4)] * 2, -1).to_sparse(2),
    "integers": lambda t: t.eye(4, dtype=t.int64).to_sparse_csr(),
}

# `t` is a library, `x` a tensor of one of the layouts in it. Where one of the layouts has an answer, the other library
# must have one too.
CALLS: Final[dict[str, Call]] = {
    # Kernels that PyTorch makes of others: the first one that is missing is named.
    "a number in place of a tensor": lambda t, x: t.bitwise_and(x, 1),
    "a number in place of a tensor, in place": lambda t, x: x.copysign_(1.0),
    "a number in place of a tensor, out=": lambda t, x: t.fmod(t.ones(4, 4), 2, out=x),
    "an out= form that is generated": lambda t, x: t.ops.aten._cdist_forward.out(x, x, 2.0, None, out=x),
    "a copy that is changed": lambda t, x: t.index_fill(t.ones(4, 4), 0, x, 1.0),
    "a copy of its own that is changed": lambda t, x: x.put(t.tensor([0]), t.ones(1)),
    "places in a list": lambda t, x: t.ones(4, 4).index_put((t.tensor([0]),), x),
    "a scan": lambda t, x: x.logcumsumexp(0),
    "a scan with positions": lambda t, x: x.cummax(0),
    "a scan to a strided tensor": lambda t, x: t.logcumsumexp(x, 0, out=t.empty(4, 4)),
    "logic": lambda t, x: t.logical_or(t.ones(4, 4), x),
    "logic of itself": lambda t, x: x.logical_not(),
    "logic in place": lambda t, x: x.logical_xor_(x),
    "numbers for others": lambda t, x: x.nan_to_num_() if x.layout is not t.sparse_coo else x.logical_not_(),
    "the middle of each column": lambda t, x: x.nanmedian(0),
    "a power of two": lambda t, x: t.ldexp(t.ones(4, 4), x.to(t.float32)),
    "two parts of a complex number": lambda t, x: t.complex(x, x),
    "the outer product, added": lambda t, x: t.addr(t.ones(4, 4), x, x),
    "the loss's derivative": lambda t, x: t.ops.aten.huber_loss_backward(x, x, x, 1, 1.0),
    "a convolution": lambda t, x: t.ops.aten.convolution(x, t.ones(4, 4), None, [1], [0], [1], False, [0], 1),
    "a product to another tensor": lambda t, x: t.dot(*[t.ones(4, dtype=x.dtype)] * 2, out=x),
    # Structured operators: the result's layout is the argument's, and the out= form is named.
    "a scan that is structured": lambda t, x: x.cumsum(0),
    "a triangle": lambda t, x: x.tril(),
    "in place": lambda t, x: x.tril_(),
    "a reduction": lambda t, x: x.amax(0),
    "a reduction to a number": lambda t, x: x.all(),
    "elements": lambda t, x: x.log2_(),
    "elements and a number": lambda t, x: x.clamp_(0),
    "derivatives of elements": lambda t, x: t.ops.aten.hardsigmoid_backward(x, x),
    # A kernel that serves all backends here, and strided tensors only in PyTorch.
    "the same": lambda t, x: t.equal(x, x),
    "a normal number for each mean": lambda t, x: t.normal(x),
    "what a share is dropped from": lambda t, x: t.native_dropout(x, 0.5, True),
    "windows": lambda t, x: x.unfold(0, 2, 1),
    "strides of one's own": lambda t, x: x.as_strided((2, 2), (2, 1)),
    "strides of one's own, in place": lambda t, x: x.as_strided_((2, 2), (2, 1)),
    "another shape as a view": lambda t, x: x.view(-1),
    "elements by their flat index": lambda t, x: x.take(t.tensor([0])),
    "other sizes": lambda t, x: x.resize_(2, 2),
    "no sizes": lambda t, x: x.resize_(()),
    "the sizes of a strided tensor": lambda t, x: x.resize_as_(t.ones(3)),
    "an order of memory with other sizes": lambda t, x: (
        x.resize_as_(x, memory_format=t.contiguous_format) if x.is_sparse else x.log2_()
    ),
    "another storage": lambda t, x: x.set_(x),
    "strides of a new tensor": lambda t, x: x.new_empty_strided((2, 2), (2, 1)),
    # Layouts without an order of memory.
    "another shape": lambda t, x: x.reshape(-1),
    "one dimension": lambda t, x: x.flatten(),
    "a copy in an order of memory": lambda t, x: x.clone(memory_format=t.preserve_format),
    "a copy in another order of memory": lambda t, x: x.clone(memory_format=t.channels_last),
    "ones in an order of memory": lambda t, x: t.ones_like(x, memory_format=t.preserve_format),
    "ones": lambda t, x: t.ones(2, 2, out=x) if x.layout is t.sparse_coo else x.resize_(3),
    "one value": lambda t, x: t.full((2, 2), 1.0, layout=t.sparse_coo),
    "ones like another": lambda t, x: x.new_ones((2, 2)) if x.layout is t.sparse_coo else x.resize_(3),
    "no elements in one dimension": lambda t, x: t.empty(2, layout=x.layout) if x.is_sparse_csr else x.tril(),
    "elements of an out= that is strided": lambda t, x: t.sin(x, out=t.empty(4, 4)) if x.is_sparse else x.log2_(),
    # Tensor's own methods.
    "strides": lambda t, x: x.stride(),
    "the storage": lambda t, x: x.untyped_storage(),
    "the pointer": lambda t, x: x.data_ptr(),
    "an array": lambda t, x: x.numpy(),
    "a list": lambda t, x: x.tolist(),
    "a number": lambda t, x: x.item(),
    "yes or no": lambda t, x: bool(x),
    "a gradient of no recorded tensor": lambda t, x: x.sum().backward() if x.is_sparse else x.backward(),
}  # fmt: skip


def told(t: Any, call: Call, layout: str) -> tuple[str, str]:
    """The class and the words of the error, or that there was none."""
    try:
        call(t, LAYOUTS[layout](t))
    except Exception as error:  # noqa: BLE001  # whatever is raised is what is compared
        words, is_missing, _ = str(error).partition(" backend.")
        return builtin(error).__name__, words if is_missing else str(error)
    return "", "answered"


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", CALLS)
def test_what_pytorch_refuses_is_refused_in_its_words(require: Require, name: str, layout: str) -> None:
    torch = require("torch")
    assert told(glasstorch, CALLS[name], layout) == told(torch, CALLS[name], layout)


def test_a_kernel_for_all_backends_may_serve_strided_tensors_only() -> None:
    names = glasstorch._C._dispatch_dump_table("aten::equal")
    assert "CPU: " in names
    assert "SparseCPU: " not in names
