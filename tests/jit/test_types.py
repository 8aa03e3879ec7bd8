"""Does a type of a graph print and fit as PyTorch's does?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.core.dtype import DTYPES
from glasstorch.dispatch import schema
from glasstorch.jit.parser import parse_type
from glasstorch.jit.types import (
    DTYPE_OF_NUMBER,
    TENSOR,
    ListType,
    TensorType,
    TupleType,
    as_argument,
    from_schema,
    plain_constant,
    type_of,
)

Require = Callable[[str], Any]

# PyTorch's parse_ir reads these.
TYPES = [
    "Tensor", "Float()", "Float(2, 3)", "Float(2, *)", "Float(2, 3, strides=[3, 1])", "Float(requires_grad=1)",
    "Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)", "Double(2, 3)", "Bool(1)", "BFloat16(1)", "int",
    "float", "bool", "Scalar", "NoneType", "str", "Device", "Generator", "Any", "int?", "Scalar?", "Tensor?",
    "Float(2, 3)?", "int[]", "int[][]", "Tensor[]", "Float(2, 3)[]", "Tensor?[]", "int[]?", "(Tensor, int)",
    "(Float(2, 3), int)", "(Tensor, Scalar)", "(Tensor, int?)", "()", "(int)", "(int)[]", "Half(2)",
    "Half(2, device=cuda:1)",
]  # fmt: skip


def torch_type(torch: Any, text: str) -> Any:
    graph = torch._C.parse_ir(f"graph(%x : {text}):\n  return (%x)")
    return next(graph.inputs()).type()


@pytest.mark.parametrize("text", TYPES)
def test_a_type_prints_as_pytorch_prints_it(text: str, require: Require) -> None:
    graph = require("torch")._C.parse_ir(f"graph(%x : {text}):\n  return (%x)")
    assert str(graph) == f"graph(%x : {parse_type(text)}):\n  return (%x)\n"


def test_a_type_fits_where_pytorch_lets_it(require: Require) -> None:
    torch = require("torch")
    theirs = [torch_type(torch, text) for text in TYPES]
    ours = [parse_type(text) for text in TYPES]
    wrong = [
        (TYPES[i], TYPES[j])
        for i in range(len(TYPES))
        for j in range(len(TYPES))
        if ours[i].is_subtype_of(ours[j]) != theirs[i].isSubtypeOf(theirs[j])
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("type", "text"),
    [
        (TensorType(glasstorch.float32), "FloatTensor"),
        (TensorType(glasstorch.float32, requires_grad=True), "FloatTensor(requires_grad=1)"),
        (TensorType(sizes=(2, None)), "Tensor(2, *)"),
        (TensorType(device=glasstorch.device("cpu")), "Tensor(device=cpu)"),
        (TensorType(glasstorch.int64, ()), "Long()"),
    ],
)
def test_what_is_unknown_of_a_tensor_is_left_out(type: TensorType, text: str) -> None:
    assert str(type) == text
    assert parse_type(text) == type


def test_strides_are_written_when_all_are_known() -> None:
    assert str(TensorType(glasstorch.float32, (2, 3), (None, 1))) == "Float(2, 3)"


def test_the_type_of_a_tensor_is_that_of_its_trace_in_pytorch(require: Require) -> None:
    torch = require("torch")
    for shape, requires_grad in (((2, 3), True), ((), False), ((0,), False), ((1, 4), False)):
        ours = TensorType.of(glasstorch.ones(shape, requires_grad=requires_grad))
        theirs = torch._C.TensorType.create_from_tensor(torch.ones(shape, requires_grad=requires_grad))
        graph = torch._C.Graph()
        graph.addInput("x").setType(theirs)
        assert str(graph) == f"graph(%x : {ours}):\n  return ()\n"
        assert parse_type(str(ours)) == ours


def test_a_type_without_shapes_is_the_same_type_otherwise() -> None:
    assert parse_type("(Float(2)[], Long()?, int)").unshaped() == parse_type("(Tensor[], Tensor?, int)")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NoneType"), (True, "bool"), (1, "int"), (1.0, "float"), ("a", "str"), (glasstorch.float32, "int"),
        (glasstorch.strided, "int"), (glasstorch.preserve_format, "int"), (glasstorch.device("cpu"), "Device"),
        ([1, 2], "int[]"), ((1, 2.0), "(int, float)"), ((), "()"), ([[1], [2]], "int[][]"),
        ([glasstorch.ones(2), glasstorch.ones(3)], "Tensor[]"),
    ],
)  # fmt: skip
def test_a_python_value_has_a_type(value: object, text: str) -> None:
    assert str(type_of(value)) == text


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "an empty list does not say what its elements are"),
        ([1, 2.0], r"have one type, got int, float in \[1, 2.0\]"),
        ({1}, r"a graph cannot hold \{1\} of type set"),
    ],
)
def test_a_value_that_no_graph_can_hold_is_refused(value: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        type_of(value)


def test_the_type_of_an_argument_comes_from_the_schema() -> None:
    texts = {"Tensor(a!)": "Tensor", "SymInt[2]?": "int[]?", "ScalarType?": "int?", "Tensor?[]": "Tensor?[]"}
    assert {text: str(from_schema(schema.Type.parse(text))) for text in texts} == texts
    assert from_schema(schema.Type.parse("Tensor[]")) == ListType(TENSOR)


def test_a_dtype_is_the_number_that_pytorch_gives_it(require: Require) -> None:
    torch = require("torch")
    for dtype in DTYPES:
        graph = torch._C.Graph()
        graph.insertConstant(getattr(torch, dtype.name))
        assert f"[value={plain_constant(dtype)}]" in str(graph)
        assert DTYPE_OF_NUMBER[plain_constant(dtype)] is dtype


@pytest.mark.parametrize("value", [glasstorch.int64, glasstorch.bool])
def test_a_number_becomes_a_dtype_where_the_schema_asks_for_one(value: object) -> None:
    number = plain_constant(value)
    assert as_argument(schema.Type.parse("ScalarType?"), number) is value
    assert as_argument(schema.Type.parse("ScalarType?"), None) is None
    assert as_argument(schema.Type.parse("int"), number) == number


def test_layouts_and_memory_formats_are_numbers_too() -> None:
    formats = [glasstorch.contiguous_format, glasstorch.preserve_format, glasstorch.channels_last]
    assert plain_constant([glasstorch.strided, *formats]) == [0, 0, 1, 2]
    assert plain_constant((glasstorch.float32,)) == (6,)
    assert [as_argument(schema.Type.parse("MemoryFormat"), number) for number in (0, 1, 2)] == formats
    assert as_argument(schema.Type.parse("Layout?"), 0) is glasstorch.strided


def test_a_tuple_fits_another_of_the_same_length_only() -> None:
    assert not TupleType((TENSOR,)).is_subtype_of(TupleType((TENSOR, TENSOR)))
    assert not TupleType(()).is_subtype_of(TENSOR)
