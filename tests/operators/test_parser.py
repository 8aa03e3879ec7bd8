"""Does a Python call mean the same overload, with the same arguments, as under PyTorch?

Every call of the tables below is made on both libraries. What they do must agree: the result with its dtype and sizes,
or the class of the error; where it says so, the error's words too.
"""

from __future__ import annotations

import builtins
import enum
import gc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core.errors import ArgumentTypeError
from glasstorch.operators.parser import PythonFunction, Signature, method_operator
from tests.refusals import builtin

Require = Callable[[str], Any]
Call = Callable[[Any], Any]


def outcome(call: Call, library: Any) -> tuple[str, ...]:
    """What a call does: the result's kind, dtype, sizes and values, or the error's builtin class."""
    try:
        return _told(call(library), library)
    except Exception as error:  # noqa: BLE001  # whatever is raised is what is compared
        return ("raises", builtin(error).__name__, str(error))


def _told(result: Any, library: Any) -> tuple[str, ...]:
    if isinstance(result, library.Tensor):
        return (
            "tensor",
            repr(result.dtype),
            repr(tuple(result.shape)),
            repr(result.tolist()),
            str(result.requires_grad),
        )
    if isinstance(result, tuple | list):
        return (type(result).__name__ if type(result) in (tuple, list) else "tuple",
                *(part for r in result for part in _told(r, library)))  # fmt: skip
    return (type(result).__name__, repr(result))


class Level(enum.IntEnum):
    THREE = 3


class OwnInt(int):
    pass


class OwnFloat(float):
    pass


class OwnComplex(complex):
    pass


def quietly(call: Callable[[], Any]) -> Any:
    """What a call gives, without NumPy's word on a dropped imaginary part."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


def x(t: Any) -> Any:
    return t.arange(6.0).view(2, 3)


ACCEPTED: dict[str, Call] = {
    # Overloads
    "sum of all": lambda t: t.sum(x(t)),
    "sum over one dimension": lambda t: t.sum(x(t), 0),
    "sum, negative dimension, keepdim by place": lambda t: t.sum(x(t), -1, True),
    "sum over a list": lambda t: x(t).sum([0, 1]),
    "sum over loose dimensions": lambda t: x(t).sum((0, 1), keepdim=True),
    "sum over dimension None": lambda t: x(t).sum(None),
    "amax over dimension None": lambda t: x(t).amax(dim=None, keepdim=True),
    "roll over dimensions None": lambda t: x(t).roll(1, None),
    "sum with dtype": lambda t: x(t).sum(dtype=t.float64),
    "sum with Python's dtype": lambda t: x(t).sum(dtype=int),
    "sum by name": lambda t: t.sum(input=x(t), dim=1),
    "max of all": lambda t: t.max(x(t)),
    "max over a dimension": lambda t: t.max(x(t), 1),
    "max of two": lambda t: t.max(x(t), x(t) * 2),
    "max, dimension by name": lambda t: x(t).max(dim=0, keepdim=True),
    "any over dimensions": lambda t: x(t).any(dim=(0, 1)),
    "argmax": lambda t: x(t).argmax(1),
    "squeeze of all": lambda t: t.ones(1, 2, 1).squeeze(),
    "squeeze of one": lambda t: t.ones(1, 2, 1).squeeze(0),
    "squeeze of loose dimensions": lambda t: t.ones(1, 2, 1).squeeze(0, 2),
    "squeeze of several": lambda t: t.ones(1, 2, 1).squeeze((0, 2)),
    "pow of tensors": lambda t: t.pow(x(t), x(t)),
    "pow of a number": lambda t: t.pow(2, x(t)),
    "pow by a number": lambda t: t.pow(x(t), 2),
    "where of numbers": lambda t: t.where(x(t) > 2, 1, 0),
    "where of a number and a tensor": lambda t: t.where(x(t) > 2, 1.5, x(t)),
    "where alone": lambda t: t.where(x(t) > 2),
    "clamp by one bound": lambda t: x(t).clamp(max=3),
    "clamp by tensors": lambda t: x(t).clamp(t.ones(3), t.full((3,), 4.0)),
    "transpose": lambda t: x(t).transpose(1, 0),
    "movedim of ints": lambda t: x(t).movedim(0, 1),
    "movedim of lists": lambda t: x(t).movedim([0, 1], [1, 0]),
    "arange of an end": lambda t: t.arange(3),
    "arange of a start": lambda t: t.arange(1, 4),
    "arange with a step": lambda t: t.arange(0, 1, 0.25),
    "arange with everything by name": lambda t: t.arange(start=1, end=6, step=2, dtype=t.float32),
    "randint's sizes": lambda t: t.randint(5, (2, 3)).shape,
    "randint from and to": lambda t: t.randint(3, 4, (2,)),
    # Loose ints for a list
    "view of loose ints": lambda t: x(t).view(3, 2),
    "view of a list": lambda t: x(t).view([3, 2]),
    "view of a size": lambda t: x(t).view(t.Size([3, 2])),
    "view of one int": lambda t: x(t).view(-1),
    "view by name": lambda t: x(t).view(size=(6,)),
    "zeros of loose ints": lambda t: t.zeros(2, 3),
    "zeros of nothing": lambda t: t.zeros(()),
    "zeros of a list": lambda t: t.zeros([2]),
    "zeros by name": lambda t: t.zeros(size=(2,)),
    "zeros that require grad": lambda t: t.zeros(2, requires_grad=True),
    "ones with options": lambda t: t.ones(2, dtype=t.int64, device="cpu"),
    "full": lambda t: t.full((2,), 3),
    "full of a float": lambda t: t.full([2], 3.5, dtype=t.float64),
    "permute of loose ints": lambda t: x(t).permute(1, 0),
    "permute of a tuple": lambda t: t.permute(x(t), (1, 0)),
    "expand with -1": lambda t: t.ones(2, 1).expand(-1, 4),
    "reshape": lambda t: t.reshape(x(t), (-1,)),
    "new_zeros": lambda t: x(t).new_zeros(2, 2, dtype=t.int32),
    "as_strided": lambda t: x(t).as_strided((2,), (3,), 1),
    # Numbers and tensors
    "add of a number": lambda t: t.add(x(t), 1),
    "add of two numbers": lambda t: t.add(1, 2) if hasattr(t, "add") else None,
    "add with alpha": lambda t: t.add(x(t), x(t), alpha=3),
    "add of a NumPy scalar": lambda t: x(t) + np.float64(2),
    "mul of a bool": lambda t: x(t) * True,
    "int tensor plus float": lambda t: t.arange(3) + 0.5,
    "reflected": lambda t: [1 + x(t), 2 * x(t), 1 - x(t), 1 / (x(t) + 1), 2 ** x(t), 7 // (x(t) + 1), 7 % (x(t) + 1)],
    "comparison with a number": lambda t: x(t) > 2,
    "equality with what is no number": lambda t: x(t) == "a",
    "in place with a number": lambda t: x(t).add_(1),
    "a 0-dim tensor for a number": lambda t: t.full((2,), t.tensor(3)),
    "a 0-dim tensor for an int": lambda t: x(t).select(t.tensor(0), t.tensor(1)),
    "a NumPy int for an int": lambda t: x(t).select(np.int64(0), np.int32(1)),
    "0-dim tensors for sizes": lambda t: t.zeros(t.tensor(2), 3),
    "alpha as a tensor": lambda t: t.add(x(t), x(t), alpha=t.tensor(2)),
    "a device by its string": lambda t: x(t).to("cpu"),
    "a dtype": lambda t: x(t).to(t.int64),
    "a dtype and a device": lambda t: x(t).to("cpu", t.float64),
    "like another": lambda t: x(t).to(t.ones(1, dtype=t.int32)),
    "copy by name": lambda t: x(t).to(t.float32, copy=True),
    # Lists of tensors, optional arguments
    "cat": lambda t: t.cat([x(t), x(t)]),
    "cat of a tuple over a dimension": lambda t: t.cat((x(t), x(t)), 1),
    "stack by name": lambda t: t.stack(tensors=[x(t), x(t)], dim=-1),
    "indices with None": lambda t: x(t)[:, None, [0, 2]],
    "rounding": lambda t: t.div(x(t), 2, rounding_mode="floor"),
    "no rounding": lambda t: t.div(x(t), 2, rounding_mode=None),
    "slice by name": lambda t: t.narrow(x(t), dim=1, start=1, length=2),
    "narrow from a tensor": lambda t: x(t).narrow(1, t.tensor(1), 1),
    # out=
    "out": lambda t: t.add(x(t), 1, out=t.empty(2, 3)),
    "out None": lambda t: t.add(x(t), 1, out=None),
    "two outs": lambda t: t.max(x(t), 1, out=(t.empty(2), t.empty(2, dtype=t.int64))),
    "an axis": lambda t: x(t).sum(axis=0, keepdims=True),
    "an axis in a function": lambda t: t.mean(x(t), axis=1),
    "an axis where there are overloads": lambda t: x(t).max(axis=1),
    "an axis to join along": lambda t: t.cat([x(t), x(t)], axis=1),
    "an axis, keeping it": lambda t: x(t).argmax(axis=1, keepdims=True),
    "an axis in place of a dim that must be given": lambda t: t.cumsum(x(t), axis=1),
    "an axis beside a keyword": lambda t: x(t).softmax(axis=0, dtype=t.float64),
    "an axis for a view": lambda t: x(t).unsqueeze(axis=1),
    "an axis for a view of one index": lambda t: t.select(x(t), axis=1, index=2),
    "an axis for a part": lambda t: x(t).narrow(axis=1, start=0, length=2),
    "an axis with indices by name": lambda t: t.gather(x(t), axis=1, index=t.tensor([[0], [2]])),
    "an axis and out": lambda t: t.cumprod(x(t), axis=0, out=t.empty(2, 3)),
    "an axis in place": lambda t: x(t).cumsum_(axis=1),
    "NumPy's name of the input": lambda t: t.sum(a=x(t), axis=(0, 1)),
    "NumPy's name of the input of a function of each element": lambda t: t.neg(x=x(t)),
    "NumPy's name of the input, and out": lambda t: t.abs(x1=x(t), out=t.empty(2, 3)),
    "NumPy's names of both operands": lambda t: t.add(x1=x(t), x2=x(t), alpha=2),
    "NumPy's name of the second operand": lambda t: t.maximum(x(t), x2=t.full((3,), 2.0)),
    "NumPy's name of a second operand that is a number": lambda t: t.mul(x(t), x2=2),
    "NumPy's name of the second operand of a method": lambda t: x(t).sub(x2=x(t)),
    "NumPy's name beside PyTorch's": lambda t: t.mm(a=x(t), mat2=x(t).T),
    "NumPy's name of the input of a transform": lambda t: t.fft.fft(a=x(t)).real,
    "NumPy's name of a matrix": lambda t: t.linalg.vector_norm(x=x(t)),
    # Numbers
    "a member of an IntEnum for a number": lambda t: t.full((2,), Level.THREE),
    "an int of one's own class": lambda t: t.full((2,), OwnInt(3)),
    "a float of one's own class": lambda t: t.arange(OwnFloat(2.5)),
    "a complex number of one's own class": lambda t: t.full((2,), OwnComplex(1j)),
    "a member of an IntEnum for an end": lambda t: t.arange(Level.THREE),
    "a member of an IntEnum to fill with": lambda t: t.ones(2).fill_(Level.THREE),
    "a member of an IntEnum by itself": lambda t: t.scalar_tensor(Level.THREE),
    "a member of an IntEnum for alpha": lambda t: t.ones(2).add(1, alpha=Level.THREE),
    "a member of an IntEnum as operand": lambda t: t.tensor([1]) + Level.THREE,
    "a bool of NumPy's to fill with": lambda t: t.full((2,), np.bool_(True)),
    "a bool of NumPy's for an end": lambda t: t.arange(np.bool_(True)),
    "a bool of NumPy's as operand": lambda t: t.tensor([1]) + np.bool_(True),
    "a complex number of NumPy's": lambda t: t.full((2,), np.complex128(1j)),
    "a short complex number of NumPy's": lambda t: quietly(lambda: t.full((2,), np.complex64(2 + 1j))),
    "a short complex operand of NumPy's": lambda t: quietly(lambda: t.tensor([1]) + np.complex64(2 + 1j)),
    # Sizes
    "a bool among loose sizes": lambda t: t.ones(2, True),
    "a bool among sizes": lambda t: t.zeros([1, True]),
    "a bool among sizes of a view": lambda t: t.ones(2).view(2, True),
    "a bool among dimensions": lambda t: t.sum(x(t), [0, True]),
    "a tensor of one element among sizes": lambda t: t.zeros([t.tensor([1]), t.tensor([[2]]), 1]),
    "a tensor of one element for all sizes": lambda t: t.zeros(t.tensor([2])),
    "a tensor of one element among loose sizes": lambda t: t.zeros(t.tensor([2]), 1),
    "a member of an IntEnum for a size": lambda t: t.zeros(Level.THREE, 2),
    "out of a factory": lambda t: t.zeros(2, out=t.empty(2, dtype=t.int32)),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_accepted_call_gives_pytorchs_result(name: str, require: Require) -> None:
    call = ACCEPTED[name]
    ours = outcome(call, glasstorch)
    assert ours[0] != "raises", ours
    assert ours == outcome(call, require("torch"))


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
    "a missing operand": (lambda t: x(t) + None, "unsupported operand type(s) for +: 'Tensor' and 'NoneType'"),
    "a string operand": (lambda t: "a" * x(t), ""),
    "an object operand": (lambda t: x(t) < object(), "'<' not supported between instances of 'Tensor' and 'object'"),
    "matmul with a number": (lambda t: x(t) @ 2, ""),
    "a tensor that requires grad for a number": (lambda t: t.full((1,), t.ones((), requires_grad=True)), ""),
    "item of many": (lambda t: x(t).item(), ""),
    "a dimension out of range": (lambda t: x(t).sum(2), "expected to be in range of [-2, 1], but got 2"),
    "a dimension twice": (lambda t: x(t).sum((0, 0)), "dim 0 appears multiple times in the list of dims"),
    "shapes that do not match": (lambda t: x(t) + t.ones(4), "tensor a (3) must match the size of tensor b (4)"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_call_raises_pytorchs_class_of_error(name: str, require: Require) -> None:
    call, words = REFUSED[name]
    kind, *rest = outcome(call, glasstorch)
    theirs_kind, *theirs = outcome(call, require("torch"))
    assert (kind, theirs_kind) == ("raises", "raises"), (rest, theirs)
    assert rest[0] == theirs[0], (rest, theirs)
    assert words in rest[1]
    assert words in theirs[1]


def test_no_refusal_is_a_failure_inside_the_library() -> None:
    for call, _ in REFUSED.values():
        with pytest.raises((TypeError, ValueError, RuntimeError, IndexError)) as error:
            call(glasstorch)
        deepest = list(error.traceback)[-1].path
        assert "numpy" not in str(deepest)
        assert not isinstance(error.value, AttributeError | KeyError | builtins.AssertionError)


# What only ours says ---------------------------------------------------------------------------------------------


def test_a_refusal_by_all_overloads_says_why_for_each() -> None:
    with pytest.raises(ArgumentTypeError) as error:
        glasstorch.sum(glasstorch.ones(2), "0")
    assert str(error.value) == (
        "sum() received an invalid combination of arguments - got (Tensor, str), but expected one of:\n"
        " * (Tensor input, *, torch.dtype dtype = None)\n"
        "      takes 1 positional arguments but 2 were given\n"
        " * (Tensor input, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None)\n"
        "      argument 'dim' (position 2) must be tuple of ints, not str"
    )


def test_a_method_is_refused_without_its_tensor_and_arrays_by_their_full_name() -> None:
    x = glasstorch.ones(2)
    with pytest.raises(ArgumentTypeError) as error:
        x.pow_(np.ones(2))
    assert str(error.value) == (
        "pow_() received an invalid combination of arguments - got (numpy.ndarray), but expected one of:\n"
        " * (Tensor exponent)\n"
        "      argument 'exponent' (position 1) must be Tensor, not numpy.ndarray\n"
        " * (Number exponent)\n"
        "      argument 'exponent' (position 1) must be Number, not numpy.ndarray"
    )
    with pytest.raises(ArgumentTypeError, match=r"^cumsum\(\): .*; expected cumsum\(int dim, \*, torch"):
        x.cumsum("0")


def test_a_refusal_with_out_says_which_overload_takes_which_out() -> None:
    x = glasstorch.ones(2)
    with pytest.raises(ArgumentTypeError) as error:
        glasstorch.max(x, 0, out=x)
    assert str(error.value) == (
        "max() received an invalid combination of arguments - got (Tensor, int, out=Tensor), but expected one of:\n"
        " * (Tensor input, *, Tensor out)\n"
        "      takes 1 positional arguments but 2 were given\n"
        " * (Tensor input, Tensor other, *, Tensor out)\n"
        "      argument 'other' (position 2) must be Tensor, not int\n"
        " * (Tensor input, int dim, bool keepdim = False, *, tuple of Tensors out)\n"
        "      argument 'out' must be tuple of Tensors, not Tensor"
    )
    with pytest.raises(ArgumentTypeError, match=r"; expected exp\(Tensor input, \*, Tensor out\)$"):
        glasstorch.exp(1, out=x)


def test_a_function_called_by_its_parser_counts_the_places_of_a_function() -> None:
    function = PythonFunction("narrow", ["narrow"])
    with pytest.raises(ArgumentTypeError, match=r"argument 'start' \(position 3\) must be int, not str"):
        function(glasstorch.ones(2), 0, "a", 1)
    with pytest.raises(ArgumentTypeError, match=r"argument 'input' \(position 1\) must be Tensor, not int"):
        function(2, 0, 0, 1)


def test_what_is_given_as_out_must_be_a_tensor() -> None:
    with pytest.raises(ArgumentTypeError, match=r"add\(\): argument 'out' must be Tensor, not int"):
        glasstorch.add(glasstorch.ones(2), 1, out=3)


def test_a_mistake_below_an_operator_of_python_is_not_taken_for_a_refusal() -> None:
    # PyTorch takes every TypeError for one (the bridge, in chapter 01, runs it)
    def mistaken(left: object, right: object) -> object:
        raise TypeError("unhashable type: 'list'")

    with pytest.raises(TypeError, match="unhashable"):
        method_operator(mistaken, 1, 2)


def test_a_signature_prints_as_pytorch_writes_it() -> None:
    operator = glasstorch.ops.aten.add.Tensor
    assert str(Signature("add", operator)) == "(Tensor input, Tensor other, *, Number alpha = 1)"


def test_a_call_that_the_second_overload_accepts_leaves_no_cycle() -> None:
    x = glasstorch.ones(3)
    x.view(glasstorch.int32)
    gc.collect()
    gc.disable()
    try:
        x.view(glasstorch.int32)
        assert gc.collect() == 0
    finally:
        gc.enable()
