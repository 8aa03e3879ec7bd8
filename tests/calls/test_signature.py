"""Is a call that fits no overload refused as PyTorch refuses it?"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.calls.signature import Signature
from tests.calls.outcomes import Call, same_class_of_refusal, x

Require = Callable[[str], Any]

# A call that is refused, and words of the message that both libraries use.
REFUSED: dict[str, tuple[Call, str]] = {
    "a string for a tensor": (lambda t: x(t).add("a"), "argument 'other' (position 1) must be Tensor, not str"),
    "a list for a tensor": (lambda t: t.add(x(t), [1]), "argument 'other' (position 2) must be Tensor, not list"),
    "a string for an index": (lambda t: t.gather(x(t), 0, "a"), "'index' (position 3) must be Tensor, not str"),
    "a string for a method's index": (lambda t: x(t).gather(0, "a"), "'index' (position 2) must be Tensor, not str"),
    "a string by name for a size": (lambda t: t.ones(size="a"), "argument 'size' must be tuple of ints, not str"),
    "a number by name among tensors": (lambda t: t.cat(tensors=[x(t), 3]), "expected Tensor as element 1 in argument"),
    "nothing for a tensor": (lambda t: t.exp(), ""),
    "a number where a tensor must be": (lambda t: t.exp(2.0), "(position 1) must be Tensor, not float"),
    "too many": (lambda t: t.exp(x(t), x(t)), ""),
    "an unknown name": (lambda t: t.exp(x(t), other=1), "got an unexpected keyword argument 'other'"),
    "given twice": (lambda t: x(t).add(x(t), other=x(t)), ""),
    "missing": (lambda t: t.add(x(t)), ""),
    "loose dimensions, with keepdim after them": (lambda t: x(t).sum(0, 1), ""),
    "loose dimensions of any": (lambda t: x(t).any(0, 1), ""),
    "a float for an int": (lambda t: x(t).transpose(0, 1.5), ""),
    "a bool for an int": (lambda t: x(t).select(True, 0), ""),
    "a float for a size": (lambda t: t.zeros(2.5), ""),
    "a float among sizes": (lambda t: x(t).view(3, 2.0), ""),
    "a bool for a size": (lambda t: t.ones(True), "argument 'size' (position 1) must be tuple of ints, not bool"),
    "a bool as the first size": (lambda t: t.zeros([True, 1]), "but found element of type bool at pos 0"),
    "a bool of NumPy's among sizes": (lambda t: t.zeros([1, np.bool_(True)]), "failed to unpack the object at pos 2"),
    "a float tensor among sizes": (lambda t: t.zeros([1, t.tensor(2.0)]), "must be tuple of ints,but got Tensor"),
    "a tensor of two elements for sizes": (lambda t: t.zeros([t.tensor([1, 2])]), "found element of type Tensor at"),
    "what is not given is not said": (lambda t: t.linspace(0, 1, 2.5), "got (int, int, float), but expected one of"),
    "a string for a size": (lambda t: t.zeros("2"), ""),
    "a string among sizes": (lambda t: t.zeros((2, "a")), "failed to unpack the object at pos 2 with error"),
    "a string among loose sizes": (lambda t: t.zeros(2, "a"), "must be tuple of ints,but got str"),
    "a float as the first size": (lambda t: x(t).reshape([1.0]), "found element of type float at pos 0"),
    "a number among tensors": (lambda t: t.cat([x(t), 3]), "expected Tensor as element 1 in argument 0, but got int"),
    "NumPy's name for a tensor that is given": (lambda t: t.exp(x(t), x=x(t)), "unexpected keyword argument 'x'"),
    "both of NumPy's names": (lambda t: t.exp(x=x(t), a=x(t)), ""),
    "NumPy's name of the input of a determinant": (lambda t: t.linalg.det(x=x(t)), ""),
    "no input": (lambda t: t.exp(), 'missing 1 required positional arguments: "input"'),
    "an unknown axis": (lambda t: x(t).argmax(axes=1), ""),
    "a dimension by both of its names": (lambda t: x(t).sum(axis=0, dim=0), ""),
    "a dim and an axis": (lambda t: x(t).cumsum(0, axis=1), ""),
    "a dim and an axis, where none is needed": (lambda t: x(t).argmax(1, axis=0), ""),
    "a dim and an axis of a view": (lambda t: x(t).unsqueeze(0, axis=1), ""),
    "a second dim of a view": (lambda t: x(t).unsqueeze(0, 1), ""),
    "no dim": (lambda t: t.cumsum(x(t)), 'missing 1 required positional arguments: "dim"'),
    "no dim of a view": (lambda t: x(t).unsqueeze(), 'missing 1 required positional arguments: "dim"'),
    "no index": (lambda t: x(t).select(0), ""),
    "a list of lists": (lambda t: t.zeros([[2]]), ""),
    "no overload": (lambda t: t.sum(x(t), "0"), "an invalid combination of arguments - got (Tensor, str)"),
    "no overload, by name": (lambda t: x(t).sum(axes=0), ""),
    "alpha of a string": (lambda t: t.add(x(t), x(t), alpha="2"), ""),
    "alpha by place": (lambda t: x(t).add(x(t), 2), ""),
    "cat of a tensor": (lambda t: t.cat(x(t)), ""),
    "cat of numbers": (lambda t: t.cat([1, 2]), ""),
    "an unknown dtype": (lambda t: t.zeros(2, dtype="float32"), ""),
    "an unknown rounding": (lambda t: t.div(x(t), 2, rounding_mode="up"), "expected rounding_mode to be one of None"),
    "an unknown device": (lambda t: t.zeros(2, device="nowhere"), ""),
    "the tensor by both of its names": (lambda t: t.sum(input=x(t), self=x(t)), ""),
    "outs that are no tensors": (lambda t: t.max(x(t), 1, out=(t.empty(2), 3)), ""),
    "out where there is none": (lambda t: t.flatten(x(t), out=t.empty(6)), ""),
    "out for a trace": (lambda t: t.trace(x(t), out=t.empty(())), ""),
    "out for a distance": (lambda t: t.dist(x(t), x(t), out=t.empty(())), ""),
    "outs for a mean beside a variance": (lambda t: t.var_mean(x(t), dim=0, out=(t.empty(3), t.empty(3))), ""),
    "outs for a mean beside a deviation": (lambda t: t.std_mean(x(t), out=(t.empty(()), t.empty(()))), ""),
    "out for a median of all": (lambda t: t.median(x(t), out=t.empty(())), ""),
    "out for a median of all without NaN": (lambda t: t.nanmedian(x(t), out=t.empty(())), ""),
    "out for an exponential of a matrix": (lambda t: t.linalg.matrix_exp(t.ones(2, 2), out=t.ones(2, 2)), ""),
    "out for a number among boundaries": (lambda t: t.bucketize(3, t.ones(2), out=t.ones(2, dtype=t.int64)), ""),
    "out for the bits of a number": (lambda t: t.bitwise_or(3, t.tensor([1]), out=t.tensor([1])), ""),
    "a list for one out": (lambda t: t.sin(x(t), out=[t.empty(2, 3)]), "argument 'out' must be Tensor, not list"),
    "one out where two are taken": (lambda t: t.topk(x(t), 1, out=t.empty(2, 1)), "argument 'out' must be tuple"),
    "one out for two": (lambda t: t.max(x(t), 1, out=t.empty(2)), ""),
    "a tensor that requires grad for a number": (lambda t: t.full((1,), t.ones((), requires_grad=True)), ""),
    "item of many": (lambda t: x(t).item(), ""),
    "a dimension out of range": (lambda t: x(t).sum(2), "expected to be in range of [-2, 1], but got 2"),
    "a dimension twice": (lambda t: x(t).sum((0, 0)), "dim 0 appears multiple times in the list of dims"),
    "shapes that do not match": (lambda t: x(t) + t.ones(4), "tensor a (3) must match the size of tensor b (4)"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_call_raises_pytorchs_class_of_error(name: str, require: Require) -> None:
    same_class_of_refusal(require("torch"), *REFUSED[name])


def test_no_refusal_is_a_failure_inside_the_library() -> None:
    for call, _ in REFUSED.values():
        with pytest.raises((TypeError, ValueError, RuntimeError, IndexError)) as error:
            call(glasstorch)
        deepest = list(error.traceback)[-1].path
        assert "numpy" not in str(deepest)
        assert not isinstance(error.value, AttributeError | KeyError | builtins.AssertionError)


def test_a_signature_prints_as_pytorch_writes_it() -> None:
    operator = glasstorch.ops.aten.add.Tensor
    assert str(Signature("add", operator)) == "(Tensor input, Tensor other, *, Number alpha = 1)"
