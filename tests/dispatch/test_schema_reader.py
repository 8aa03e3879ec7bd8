"""Is the text of a schema read, and refused, as PyTorch reads and refuses it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from glasstorch.dispatch.schema_reader import parse_schema
from tests.dispatch.test_runtime_schema import facts

Require = Callable[[str], Any]

READ = [
    "f() -> ()",
    "ns::f.over(Tensor a,Tensor  b)->Tensor",
    "f (Tensor a) -> (Tensor)",
    "f(Tensor a) -> (Tensor b)",
    "f(Tensor a) -> (Tensor values, Tensor(b!)? q)",
    "f(Tensor a) -> Tensor?[]",
    "f(Tensor a, *, int b, *, int c) -> Tensor",
    "f(*, Tensor a) -> ()",
    "f(Tensor a, *) -> ()",
    "f(Tensor(a -> *) x, Tensor(b! -> c) y, Tensor(*) z, Tensor(*!) w) -> Tensor(a)[]",
    "f(Tensor(a|a) x) -> ()",
    "f(Tensor(a!)[] x, Tensor[](b!) y, Tensor(c!)[](d) z) -> ()",
    "f(Tensor! a, Tensor! b) -> ()",
    "f(Tensor( a! ) x, Tensor(A_b)? y=None) -> ()",
    "f(*, Tensor(a!) out, Tensor(b!)? other=None) -> Tensor(a!)",
    "f(Tensor?[] a, Tensor[]? b, int[]? c=None, int[2]? d=None, float[]? e=None) -> Tensor?",
    "f(int[2] a=1, SymInt[2] b=1, int[2] c=[1,2], int[] d=[], int[1] e=0, int[3] f=[4, 4, 4]) -> ()",
    "f(bool[3] a=[True,False,True], float[] b=[1.0,-2.5], bool c=3, float d=True) -> ()",
    "f(float a=1e30, float b=123456789.0, float c=1e16, float d=1e18, float e=1e19, Scalar f=1e20, float g=100) -> ()",
    "f(Scalar a=-1, float b=-1e-3, float c=1e-05, Scalar d=0.3333333333333333, complex e=1j, float f=.5) -> ()",
    'f(str a=\'x\', str b="a\\nb", Device c="cpu", str? d=None, str e=1) -> ()',
    "f(ScalarType a=long, Layout b=strided, MemoryFormat c=contiguous_format, int d=Mean, ScalarType? e=None) -> ()",
    "f(Storage x, Stream y, Any z, NoneType n, None q, complex c, SymInt? s, Generator? g, QScheme k) -> SymBool",
    "f(DeviceIndex x, Layout l, MemoryFormat? m) -> Device",
    "f(int from, int self, int lambda) -> ()",
    "f(...) -> ...",
    "f(Tensor a, ...) -> (Tensor, ...)",
    "f(Tensor a) -> Tensor\n\n",
    "f(t[](a!) x, t y, foo? z, AnyEnumType e) -> t(*)",
    "f(Dict(str, t) x, Dict(int, Tensor[])(a)[] y) -> Dict(Tensor, complex)",
]
REFUSED = [
    "",
    "f",
    "f.x",
    "1f() -> ()",
    "f.x(Tensor a)",
    "f(Tensor a",
    "f(Tensor a) Tensor",
    "f(Tensor a) ->",
    "f(Tensor a) -> (Tensor",
    "f(Tensor a) -> (Tensor, ",
    "f(Tensor a) -> Tensor extra stuff",
    "f(Tensr a) -> Tensor",
    "f(Dimname a) -> Tensor",
    "f(Tensor) -> Tensor",
    "f(Tensor a,) -> ()",
    "f(Tensor a, , Tensor b) -> ()",
    "f(Tensor a, int 2b) -> Tensor",
    "f(int class) -> ()",
    "f(int None) -> ()",
    "f(Tensor(a! b) x) -> ()",
    "f(Tensor(a!|b) x) -> ()",
    "f(Tensor(a)! x) -> ()",
    "f(Tensor(a -> ) x) -> ()",
    "f(Tensor a=5) -> Tensor",
    "f(Generator a=3) -> ()",
    "f(Scalar b=one) -> Tensor",
    "f(bool b=true) -> Tensor",
    "f(int[] a=[1,b]) -> Tensor",
    "f(int[] a=1) -> ()",
    "f(MemoryFormat a=channels_last) -> ()",
    'f(str[] a=["x","y"]) -> ()',
    "f(int a=99999999999999999999) -> ()",
    "f(int a=1e400) -> ()",
    "f.default(Tensor a) -> ()",
    "f.__x(Tensor a) -> ()",
    "a.b.c(Tensor a) -> Tensor",
    "a::b::f(Tensor a) -> ()",
]


@pytest.mark.parametrize("text", READ)
def test_a_schema_is_read_as_pytorch_reads_it(require: Require, text: str) -> None:
    assert facts(parse_schema(text)) == facts(require("torch")._C.parse_schema(text))


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_read_is_refused_in_pytorchs_words_and_at_its_place(require: Require, text: str) -> None:
    with pytest.raises((RuntimeError, IndexError)) as theirs:
        require("torch")._C.parse_schema(text)
    with pytest.raises((RuntimeError, IndexError)) as ours:
        parse_schema(text)
    assert (type(ours.value).__name__, str(ours.value)) == (type(theirs.value).__name__, str(theirs.value))


def test_the_place_of_an_error_is_marked() -> None:
    with pytest.raises(RuntimeError) as error:
        parse_schema("f(Tensor a, int 2b) -> Tensor")
    assert str(error.value).splitlines() == [
        "expected ident but found 'number' here:",
        "f(Tensor a, int 2b) -> Tensor",
        "                ~ <--- HERE",
    ]


def test_a_character_of_no_schema_and_a_default_before_none_are_refused() -> None:
    with pytest.raises(RuntimeError, match="expected a valid token but found"):
        parse_schema("f(Tensor $) -> ()")
    with pytest.raises(RuntimeError, match="Non-default positional argument follows default argument"):
        parse_schema("f(int b=1, int c) -> ()")
