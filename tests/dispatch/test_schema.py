"""Does a schema say the same to us as to PyTorch?"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from glasstorch.core import layout
from glasstorch.core.dtype import int64
from glasstorch.core.errors import SchemaError
from glasstorch.dispatch.schema import AliasInfo, Argument, FunctionSchema, Return, Type, split_at_commas

Require = Callable[[str], Any]

ADD = "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"


def test_a_schema_prints_back_as_it_was_written() -> None:
    schema = FunctionSchema.parse(ADD)
    assert str(schema) == ADD
    assert (schema.namespace, schema.name, schema.overload) == ("aten", "add", "Tensor")
    assert schema.qualified_name == "aten::add.Tensor"
    assert [a.name for a in schema.positional] == ["self", "other"]
    assert schema.keyword_only == (Argument(Type("Scalar", None, ()), "alpha", "1", True),)
    assert schema.returns == (Return(Type("Tensor", None, ()), None),)


def test_a_type_says_whether_it_is_a_list_and_whether_it_may_be_missing() -> None:
    facts = {
        text: (t.base, t.is_list, t.is_optional, t.list_size, t.is_write)
        for text in ("Tensor", "Tensor?", "int[2]", "int[1]?", "Tensor?[]", "Tensor(a!)", "Tensor(a -> *)[]")
        if (t := Type.parse(text)) is not None and str(t) == text
    }
    assert facts == {
        "Tensor": ("Tensor", False, False, None, False),
        "Tensor?": ("Tensor", False, True, None, False),
        "int[2]": ("int", True, False, 2, False),
        "int[1]?": ("int", True, True, 1, False),
        "Tensor?[]": ("Tensor", True, False, None, False),
        "Tensor(a!)": ("Tensor", False, False, None, True),
        "Tensor(a -> *)[]": ("Tensor", True, False, None, False),
    }


@pytest.mark.parametrize(
    ("text", "is_write", "before", "after"),
    [
        ("Tensor(a)", False, {"a"}, {"a"}),
        ("Tensor(a!)?", True, {"a"}, {"a"}),
        ("Tensor(a -> *)[]", False, {"a"}, {"*"}),
        ("Tensor(a|b)", False, {"a", "b"}, {"a", "b"}),
        ("Tensor(a! -> b|c)", True, {"a"}, {"b", "c"}),
    ],
)
def test_an_alias_says_which_memory_is_shared_before_and_after(
    text: str, is_write: bool, before: set[str], after: set[str]
) -> None:
    alias = Type.parse(text).alias_info
    assert alias == AliasInfo(is_write, before, after)
    assert str(alias) in text
    assert Type.parse("Tensor").alias_info is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1), ("-100", -100), ("1e-5", 1e-5), ("0.5", 0.5), ("True", True), ("None", None), ("[]", []),
        ("[0,1]", [0, 1]), ("'trunc'", "trunc"), ('"mean"', "mean"), ("Mean", 1), ("long", int64),
        ("contiguous_format", layout.contiguous_format), ("inf", float("inf")),
    ],
)  # fmt: skip
def test_a_default_becomes_a_python_value(text: str, value: object) -> None:
    argument = FunctionSchema.parse(f"f(Scalar x={text}) -> Tensor").arguments[0]
    assert argument.default_value == value
    assert type(argument.default_value) is type(value)


@pytest.mark.parametrize(
    ("text", "inplace", "out", "view", "factory"),
    [
        (ADD, False, False, False, False),
        ("add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", True, False, False, False),
        ("__and__(Tensor self) -> Tensor", False, False, False, False),
        ("__iand__(Tensor(a!) self) -> Tensor(a!)", True, False, False, False),
        ("add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", False, True, False, False),
        ("t(Tensor(a) self) -> Tensor(a)", False, False, True, False),
        ("split(Tensor(a -> *) self) -> Tensor(a)[]", False, False, True, False),
        ("zeros(int[] size, *, Device? device=None) -> Tensor", False, False, False, True),
    ],
)
def test_a_schema_says_what_kind_of_operator_it_is(
    text: str, inplace: bool, out: bool, view: bool, factory: bool
) -> None:
    schema = FunctionSchema.parse(text)
    assert (schema.is_inplace, schema.is_out, schema.is_view, schema.is_factory) == (inplace, out, view, factory)


def test_several_results_have_names() -> None:
    schema = FunctionSchema.parse("max.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)")
    assert [r.name for r in schema.returns] == ["values", "indices"]
    assert str(FunctionSchema.parse("f(Tensor x) -> Tensor grid").returns[0]) == "Tensor grid"
    assert FunctionSchema.parse("f(Tensor x) -> ()").returns == ()
    assert [r.name for r in FunctionSchema.parse("f(Tensor x) -> (Tensor, Tensor)").returns] == [None, None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("add(Tensor self", "expected 'name.overload(Type argument, ...) -> Type'"),
        ("add(Tensor self) Tensor", "expected 'name.overload(Type argument, ...) -> Type'"),
        ("add(Tensr self) -> Tensor", "cannot read the type 'Tensr'; expected one of"),
        ("add(Tensor self) -> Tensr", "cannot read the type 'Tensr'"),
        ("add(Tensor) -> Tensor", "cannot read the argument 'Tensor'; expected 'Type name'"),
        ("add(Tensor a, Tensor a) -> Tensor", "two arguments are named 'a'"),
        ("add(Tensor a, Scalar b=one) -> Tensor", "cannot read the default 'one'"),
        ("add(Tensor a,Tensor b) -> Tensor", "write it in that form"),
        ("add(Tensor a, *) -> Tensor", "write it in that form"),
        ("add(Tensor a, Scalar b = 1) -> Tensor", "cannot read"),
        ("add(Tensor a, int 2b) -> Tensor", "cannot read the argument 'int 2b'"),
        ("add(Tensor a, *, int b, *, int c) -> Tensor", "write it in that form"),
        ("", "expected 'name.overload(Type argument, ...) -> Type'"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(message)):
        FunctionSchema.parse(text)


def test_commas_inside_brackets_do_not_split() -> None:
    assert split_at_commas("int[2] a=[1,2], (Tensor, Tensor) b") == ["int[2] a=[1,2]", "(Tensor, Tensor) b"]
    assert split_at_commas(" ") == []


# Against PyTorch ------------------------------------------------------------------------------------------------


def declarations(torchgen: Any) -> list[str]:
    """All schemas of PyTorch, from the yaml file in its wheel."""
    path = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native" / "native_functions.yaml"
    text = path.read_text(encoding="utf-8")
    return re.findall(r"^- func: (.+?)\s*$", text, re.MULTILINE)


def test_every_declaration_of_pytorch_is_read_as_torchgen_reads_it(require: Require) -> None:
    require("torch")
    model = require("torchgen.model")
    compared = 0
    for text in declarations(require("torchgen")):
        ours, theirs = FunctionSchema.parse(text), model.FunctionSchema.parse(text)
        assert str(ours) == text
        given = theirs.arguments.flat_all
        assert [(a.name, str(a.type), a.default) for a in given] == [
            (a.name, _without_alias(a.type), a.default) for a in ours.arguments
        ], text
        assert [a.name for a in theirs.arguments.flat_positional] == [a.name for a in ours.positional], text
        assert [a.name for a in theirs.arguments.out] == [a.name for a in ours.out_arguments], text
        assert [r.name for r in theirs.returns] == [r.name for r in ours.returns], text
        for mine, one in zip((*ours.arguments, *ours.returns), (*given, *theirs.returns), strict=True):
            assert mine.type.alias_info == _as_sets(one.annotation), text
        kind = theirs.kind()
        assert (kind is model.SchemaKind.inplace) == ours.is_inplace, text
        assert (kind is model.SchemaKind.out) == ours.is_out, text
        compared += 1
    assert compared == 2584


def _as_sets(annotation: Any) -> AliasInfo | None:
    """What torchgen says of an alias; it leaves the sets after the call empty where they are those before it."""
    if annotation is None:
        return None
    after = annotation.alias_set_after or annotation.alias_set
    return AliasInfo(annotation.is_write, set(annotation.alias_set), set(after))


def _without_alias(kind: Type) -> str:
    return str(Type(kind.base, None, kind.suffixes))
