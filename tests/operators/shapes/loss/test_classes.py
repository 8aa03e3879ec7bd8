"""Which inputs do softmax and the losses refuse, and in which words?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch

Refusal = tuple[Callable[[Any], Any], type[Exception], str]


def targets(t: Any, *shape: int) -> Any:
    return t.zeros(shape, dtype=t.int64)


def nll(t: Any) -> Any:
    return t.nn.functional.nll_loss


SOFTMAX: dict[str, Refusal] = {
    "integers": (
        lambda t: t.softmax(t.arange(3), 0),
        NotImplementedError,
        "\"softmax_lastdim_kernel_impl\" not implemented for 'Long'",
    ),
    "bool": (
        lambda t: t.log_softmax(t.zeros(2, 3).bool(), 0),
        NotImplementedError,
        "\"log_softmax_kernel_impl\" not implemented for 'Bool'",
    ),
    "no such dimension": (
        lambda t: t.softmax(t.zeros(2, 3), 2),
        IndexError,
        r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 2\)",
    ),
    "into another dtype": (
        lambda t: t.softmax(t.zeros(3), 0, out=t.zeros(3).double()),
        RuntimeError,
        "Expected out tensor to have dtype float, but got double instead",
    ),
    "halves to float": (
        lambda t: t.ops.aten._softmax(t.zeros(3).half(), 0, True),
        RuntimeError,
        "softmax with half to float conversion is not supported on CPU",
    ),
    "floats to halves in the gradient": (
        lambda t: t.ops.aten._softmax_backward_data(t.zeros(3), t.zeros(3), 0, t.float16),
        RuntimeError,
        "expected scalar type Float but found Half",
    ),
    "a gradient of another size": (
        lambda t: t.ops.aten._softmax_backward_data(t.zeros(3, 4), t.zeros(2, 4), 1, t.float32),
        RuntimeError,
        r"Expected tensor for argument #1 'grad' to have same size as tensor for argument #2 'output'; but \[3, 4\]",
    ),
    "a gradient of another dtype": (
        lambda t: t.ops.aten._log_softmax_backward_data(t.zeros(3).double(), t.zeros(3), 0, t.float32),
        RuntimeError,
        "expected scalar type Double but found Float",
    ),
}

NLL: dict[str, Refusal] = {
    "a scalar": (lambda t: nll(t)(t.zeros(()), targets(t)), ValueError, r"Expected 1 or more dimensions \(got 0\)"),
    "another batch": (
        lambda t: nll(t)(t.zeros(3, 4), targets(t, 2)),
        ValueError,
        r"Expected input batch_size \(3\) to match target batch_size \(2\)\.",
    ),
    "many targets for one sample": (
        lambda t: nll(t)(t.zeros(4), targets(t, 2)),
        ValueError,
        "For 1D input, 1D target must have size 1, but got target size: 2",
    ),
    "several targets a sample": (
        lambda t: nll(t)(t.zeros(1, 4), targets(t, 1, 2)),
        RuntimeError,
        "0D or 1D target tensor expected, multi-target not supported",
    ),
    "float targets": (
        lambda t: nll(t)(t.zeros(3, 4), t.zeros(3)),
        RuntimeError,
        "expected target dtype to be Long or Byte, but got Float",
    ),
    "uint8 targets in an image": (
        lambda t: nll(t)(t.zeros(1, 4, 2, 2), t.zeros(1, 2, 2, dtype=t.uint8)),
        RuntimeError,
        "expected scalar type Long but found Byte",
    ),
    "integer scores": (
        lambda t: nll(t)(targets(t, 3, 4), targets(t, 3)),
        NotImplementedError,
        "not implemented for 'Long'",
    ),
    "too few weights": (
        lambda t: nll(t)(t.zeros(3, 4), targets(t, 3), t.zeros(3)),
        RuntimeError,
        r"weight tensor should be defined either for all 4 classes or no classes but got weight tensor of shape: \[3\]",
    ),
    "weights of another dtype": (
        lambda t: nll(t)(t.zeros(3, 4), targets(t, 3), t.zeros(4).double()),
        RuntimeError,
        "expected scalar type Float but found Double",
    ),
    "a class that does not exist": (
        lambda t: nll(t)(t.zeros(3, 4), targets(t, 3) + 4),
        IndexError,
        r"Target 4 is out of bounds\.",
    ),
    "a negative class": (
        lambda t: nll(t)(t.zeros(1, 4, 2, 2), targets(t, 1, 2, 2) - 1),
        IndexError,
        r"Target -1 is out of bounds\.",
    ),
    "a row of another length": (
        lambda t: nll(t)(t.zeros(2, 4, 5), targets(t, 2, 6)),
        RuntimeError,
        r"Expected target size \[2, 5\], got \[2, 6\]",
    ),
    "an image of another size": (
        lambda t: nll(t)(t.zeros(2, 4, 5, 6), targets(t, 2, 5, 7)),
        RuntimeError,
        r"size mismatch \(got input: \[2, 4, 5, 6\] , target: \[2, 5, 7\]",
    ),
    "a row for an image": (
        lambda t: nll(t)(t.zeros(2, 4, 5, 6), targets(t, 2, 5)),
        RuntimeError,
        r"only batches of spatial targets supported \(3D tensors\) but got targets of dimension: 2",
    ),
}

BACKWARD: dict[str, Refusal] = {
    "a gradient for each where one was due": (
        lambda t: t.ops.aten.nll_loss_backward(t.zeros(2), t.zeros(3, 4), targets(t, 3), None, 1, -100, t.zeros(())),
        RuntimeError,
        r"Expected a single element grad_output tensor, but got: \[2\]",
    ),
    "too few gradients": (
        lambda t: t.ops.aten.nll_loss_backward(t.zeros(2), t.zeros(3, 4), targets(t, 3), None, 0, -100, t.zeros(())),
        RuntimeError,
        r"Expected a tensor of dimension 1 and tensor.size\[0\] == 3 but got: dimension 1 and tensor.size\[0\] = 2",
    ),
    "several total weights": (
        lambda t: t.ops.aten.nll_loss_backward(t.zeros(()), t.zeros(3, 4), targets(t, 3), None, 1, -100, t.zeros(2)),
        RuntimeError,
        r"expected total_weight to be a  ?single element tensor, got: \[2\] \(2 elements\)",
    ),
    "a gradient of another dtype": (
        lambda t: t.ops.aten.nll_loss_backward(
            t.zeros(()).double(), t.zeros(3, 4), targets(t, 3), None, 1, -100, t.zeros(())
        ),
        RuntimeError,
        "expected scalar type Float but found Double",
    ),
    "a gradient that is no image": (
        lambda t: t.ops.aten.nll_loss2d_backward(
            t.zeros(2), t.zeros(1, 4, 2, 2), targets(t, 1, 2, 2), None, 0, -100, t.zeros(())
        ),
        RuntimeError,
        r"grad_output must have same dimension as target \(3\) but got dimension: \[2\]",
    ),
    "an image of gradients of another size": (
        lambda t: t.ops.aten.nll_loss2d_backward(
            t.zeros(1, 2, 3), t.zeros(1, 4, 2, 2), targets(t, 1, 2, 2), None, 0, -100, t.zeros(())
        ),
        RuntimeError,
        r"size mismatch \(got grad_output: \[1, 2, 3\] target: \[1, 2, 2\]",
    ),
}

MSE: dict[str, Refusal] = {
    "integers": (
        lambda t: t.nn.functional.mse_loss(targets(t, 2), targets(t, 2)),
        NotImplementedError,
        "\"mse_cpu\" not implemented for 'Long'",
    ),
    "sizes": (
        lambda t: t.ops.aten.mse_loss(t.zeros(3), t.zeros(2)),
        RuntimeError,
        r"The size of tensor a \(3\) must match the size of tensor b \(2\)",
    ),
}

REFUSED = {
    f"{operator}: {case}": refusal
    for operator, cases in (("softmax", SOFTMAX), ("nll", NLL), ("nll backward", BACKWARD), ("mse", MSE))
    for case, refusal in cases.items()
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(torch: Any, case: str) -> None:
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call(torch)


def test_halves_to_float_change_the_dtype_of_the_result() -> None:
    x = glasstorch.zeros(3, dtype=glasstorch.float16, device="meta")
    assert glasstorch.ops.aten._softmax(x, 0, True).dtype is glasstorch.float32
    with pytest.raises(RuntimeError, match="conversion is supported for Half type only, got Float"):
        glasstorch.ops.aten._softmax(x.float(), 0, True)
