"""Does a Python call mean the same overload, with the same arguments, as under PyTorch?

Every call of the table below is made on both libraries. The results must agree, with their dtypes and sizes.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.calls.parser import PythonFunction
from glasstorch.core.errors import ArgumentTypeError
from tests.calls.outcomes import Call, same_outcome, x

Require = Callable[[str], Any]


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
    "out of a factory": lambda t: t.zeros(2, out=t.empty(2, dtype=t.int32)),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_accepted_call_gives_pytorchs_result(name: str, require: Require) -> None:
    same_outcome(require("torch"), ACCEPTED[name])


# What only ours says ---------------------------------------------------------------------------------------------


def test_a_refusal_by_all_overloads_shows_each() -> None:
    with pytest.raises(ArgumentTypeError) as error:
        glasstorch.sum(glasstorch.ones(2), "0")
    assert str(error.value) == (
        "sum() received an invalid combination of arguments - got (Tensor, str), but expected one of:\n"
        " * (Tensor input, *, torch.dtype dtype = None)\n"
        " * (Tensor input, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None)\n"
    )


def test_a_method_is_refused_without_its_tensor_and_arrays_by_their_full_name() -> None:
    x = glasstorch.ones(2)
    with pytest.raises(ArgumentTypeError) as error:
        x.pow_(np.ones(2))
    assert str(error.value) == (
        "pow_() received an invalid combination of arguments - got (numpy.ndarray), but expected one of:\n"
        " * (Tensor exponent)\n"
        "      didn't match because some of the arguments have invalid types: (!numpy.ndarray!)\n"
        " * (Number exponent)\n"
        "      didn't match because some of the arguments have invalid types: (!numpy.ndarray!)\n"
    )
    with pytest.raises(ArgumentTypeError, match=r"^cumsum\(\): argument 'dim' \(position 1\) must be int, not str$"):
        x.cumsum("0")


def test_a_refusal_with_out_shows_which_overload_takes_which_out() -> None:
    x = glasstorch.ones(2)
    with pytest.raises(ArgumentTypeError) as error:
        glasstorch.max(x, 0, out=x)
    assert str(error.value) == (
        "max() received an invalid combination of arguments - got (Tensor, int, out=Tensor), but expected one of:\n"
        " * (Tensor input, *, Tensor out = None)\n"
        "      didn't match because some of the keywords were incorrect: out\n"
        " * (Tensor input, Tensor other, *, Tensor out = None)\n"
        " * (Tensor input, int dim, bool keepdim = False, *, tuple of Tensors out = None)\n"
    )
    with pytest.raises(ArgumentTypeError, match=r"^exp\(\): argument 'input' \(position 1\) must be Tensor, not int$"):
        glasstorch.exp(1, out=x)


def test_a_function_called_by_its_parser_counts_the_places_of_a_function() -> None:
    function = PythonFunction("narrow", ["narrow"])
    with pytest.raises(ArgumentTypeError, match=r"argument 'start' \(position 3\) must be int, not str"):
        function(glasstorch.ones(2), 0, "a", 1)
    with pytest.raises(ArgumentTypeError, match=r"argument 'input' \(position 1\) must be Tensor, not int"):
        function(2, 0, 0, 1)


def test_a_keyword_that_python_itself_uses_reaches_the_overloads() -> None:
    assert glasstorch.add(self=glasstorch.ones(2), other=1).tolist() == [2, 2]


def test_what_is_given_as_out_must_be_a_tensor() -> None:
    with pytest.raises(ArgumentTypeError, match=r"add\(\): argument 'out' must be Tensor, not int"):
        glasstorch.add(glasstorch.ones(2), 1, out=3)


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


def test_an_object_that_answers_is_asked() -> None:
    class Diagonal:
        @classmethod
        def __torch_function__(cls, *call: Any, **more: Any) -> str:
            return "answered"

    for call in (
        lambda: glasstorch.mean(Diagonal()),  # type: ignore[arg-type]
        lambda: glasstorch.ones(1).add(Diagonal()),  # type: ignore[arg-type]
        lambda: glasstorch.add(glasstorch.ones(1), other=Diagonal()),  # type: ignore[arg-type]
    ):
        assert call() == "answered"
