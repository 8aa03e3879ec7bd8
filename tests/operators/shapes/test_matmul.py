"""Which products are refused, and in which words?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

NOT_BOOL = NotImplementedError, "not implemented for 'Bool'"
REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "mm of a vector": (lambda t: t.mm(t.zeros(3), t.zeros(3, 2)), RuntimeError, "self must be a matrix"),
    "mm by a batch": (lambda t: t.mm(t.zeros(2, 3), t.zeros(1, 3, 2)), RuntimeError, "mat2 must be a matrix"),
    "mm of sizes": (
        lambda t: t.mm(t.zeros(2, 3), t.zeros(2, 3)),
        RuntimeError,
        r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 2x3\)",
    ),
    "mm of dtypes": (
        lambda t: t.mm(t.zeros(2, 3).long(), t.zeros(3, 2)),
        RuntimeError,
        "expected m1 and m2 to have the same dtype, but got: long int != float",
    ),
    "mm of bool": (lambda t: t.mm(t.zeros(2, 2).bool(), t.zeros(2, 2).bool()), *NOT_BOOL),
    "mm into another dtype": (
        lambda t: t.mm(t.zeros(2, 2), t.zeros(2, 2), out=t.zeros(2, 2).double()),
        RuntimeError,
        "Expected out tensor to have dtype float, but got double instead",
    ),
    "bmm of matrices": (lambda t: t.bmm(t.zeros(2, 3), t.zeros(1, 3, 2)), RuntimeError, "batch1 must be a 3D tensor"),
    "bmm by matrices": (lambda t: t.bmm(t.zeros(1, 2, 3), t.zeros(3, 2)), RuntimeError, "batch2 must be a 3D tensor"),
    "bmm of batches": (
        lambda t: t.bmm(t.zeros(5, 2, 3), t.zeros(2, 3, 4)),
        RuntimeError,
        r"Expected size for first two dimensions of batch2 tensor to be: \[5, 3\] but got: \[2, 3\]",
    ),
    "bmm of dtypes": (
        lambda t: t.bmm(t.zeros(1, 2, 3), t.zeros(1, 3, 4).double()),
        RuntimeError,
        "expected scalar type Float but found Double",
    ),
    "bmm of bool": (lambda t: t.bmm(t.zeros(1, 2, 2).bool(), t.zeros(1, 2, 2).bool()), *NOT_BOOL),
    "mv of vectors": (
        lambda t: t.mv(t.zeros(3), t.zeros(3)),
        RuntimeError,
        r"vector \+ matrix @ vector expected, got 1, 1, 1",
    ),
    "mv of sizes": (
        lambda t: t.mv(t.zeros(2, 3), t.zeros(2)),
        RuntimeError,
        r"size mismatch, got input \(2\), mat \(2x3\), vec \(2\)",
    ),
    "mv of dtypes": (
        lambda t: t.mv(t.zeros(2, 3), t.zeros(3).double()),
        RuntimeError,
        "addmv input tensors must have the same dtype, but got Double, Float, and Double",
    ),
    "mv of bool": (lambda t: t.mv(t.zeros(2, 2).bool(), t.zeros(2).bool()), *NOT_BOOL),
    "dot of matrices": (
        lambda t: t.dot(t.zeros(2, 3), t.zeros(3)),
        RuntimeError,
        "1D tensors expected, but got 2D and 1D tensors",
    ),
    "dot of sizes": (
        lambda t: t.dot(t.zeros(9), t.zeros(3)),
        RuntimeError,
        r"inconsistent tensor size, expected tensor \[9\] and src \[3\] to have the same number of elements",
    ),
    "dot of dtypes": (
        lambda t: t.dot(t.zeros(3), t.zeros(3).half()),
        RuntimeError,
        "dot : expected both vectors to have same dtype, but found Float and Half",
    ),
    "dot of bool": (lambda t: t.dot(t.zeros(2).bool(), t.zeros(2).bool()), *NOT_BOOL),
    "dot into another dtype": (
        lambda t: t.dot(t.zeros(2), t.zeros(2), out=t.zeros(()).double()),
        RuntimeError,
        "result dtype Double does not match input dtype Float",
    ),
    "addmm of a vector": (
        lambda t: t.addmm(t.zeros(4), t.zeros(3), t.zeros(3, 4)),
        RuntimeError,
        "mat1 must be a matrix, got 1-D tensor",
    ),
    "addmm with a bias of another size": (
        lambda t: t.addmm(t.zeros(3), t.zeros(2, 3), t.zeros(3, 4)),
        RuntimeError,
        r"The expanded size of the tensor \(4\) must match the existing size \(3\) at non-singleton dimension 1",
    ),
    "addmm with a bias of three dimensions": (
        lambda t: t.addmm(t.zeros(1, 2, 4), t.zeros(2, 3), t.zeros(3, 4)),
        RuntimeError,
        r"the number of sizes provided \(2\) must be greater or equal to the number of dimensions in the tensor \(3\)",
    ),
    "addmm with a bias of another dtype": (
        lambda t: t.addmm(t.zeros(4).double(), t.zeros(2, 3), t.zeros(3, 4)),
        RuntimeError,
        "self and mat2 must have the same dtype, but got Double and Float",
    ),
    "addmm of bool": (
        lambda t: t.addmm(t.zeros(2).bool(), t.zeros(2, 2).bool(), t.zeros(2, 2).bool()),
        *NOT_BOOL,
    ),
    "addmm into too few": (lambda t: t.zeros(4).addmm_(t.zeros(2, 3), t.zeros(3, 4)), RuntimeError, r"\[4\].*\[2, 4\]"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(torch: Any, case: str) -> None:
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call(torch)
