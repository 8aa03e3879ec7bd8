"""Does a running program see the same schemas here as in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import glasstorch
from glasstorch import _C
from glasstorch.dispatch.operator import registry
from glasstorch.dispatch.runtime_schema import Argument, FunctionSchema
from glasstorch.dispatch.schema_reader import parse_schema

Require = Callable[[str], Any]


def facts(schema: Any) -> tuple[object, ...]:
    """All that both libraries say of a schema."""
    return (
        str(schema), repr(schema), schema.name, schema.overload_name, schema.is_mutable, schema._is_view_op(),
        [of_argument(a) for a in schema.arguments], [of_argument(a) for a in schema.returns],
    )  # fmt: skip


def of_argument(a: Any) -> tuple[object, ...]:
    alias = a.alias_info and (a.alias_info.is_write, a.alias_info.before_set, a.alias_info.after_set)
    default = str(a.default_value) if "device" in type(a.default_value).__name__ else a.default_value
    kind = (str(a.type), a.type.annotation_str, a.type.kind(), str(a.real_type))
    return (a.name, kind, a.N, default, type(default), a.has_default_value(), a.kwarg_only, alias, a.is_out, a.is_write)


SIGNATURES = [
    "(Tensor self, *, Scalar alpha=1) -> Tensor",
    "(Tensor self, *, Scalar alpha=1, int beta=2) -> Tensor",
    "(Tensor self, *, Scalar alpha=2) -> Tensor",
    "(Tensor self) -> Tensor",
    "(Tensor? self) -> Tensor",
    "(Tensor self, int x) -> Tensor",
    "(Tensor self, int x=1) -> Tensor",
    "(Tensor self, *, int x=1) -> Tensor",
    "(Tensor self) -> Tensor?",
    "(Tensor self) -> (Tensor, Tensor)",
    "(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    "(Tensor self, *, int x=1, Tensor(a!) out) -> Tensor(a!)",
    "(Tensor(a!) self) -> Tensor",
]


def test_two_schemas_are_compatible_where_they_are_in_pytorch(require: Require) -> None:
    theirs = require("torch")._C.parse_schema
    for new in SIGNATURES:
        for old in SIGNATURES:
            a, b, c, d = parse_schema(f"f{new}"), parse_schema(f"f{old}"), theirs(f"f{new}"), theirs(f"f{old}")
            assert a.is_backward_compatible_with(b) == c.is_backward_compatible_with(d), (new, old)
            assert a.check_forward_compatible_with(b)[0] == c.check_forward_compatible_with(d)[0], (new, old)
            assert (a == b, a == parse_schema(f"f{new}")) == (c == d, True)
            assert hash(a) == hash(parse_schema(f"f{new}"))


def test_why_a_program_does_not_run_where_only_the_older_schema_is_is_said_as_in_pytorch(require: Require) -> None:
    theirs = require("torch")._C.parse_schema
    for new, old in [(0, 5), (5, 3), (5, 0)]:
        a, b = f"f{SIGNATURES[new]}", f"f{SIGNATURES[old]}"
        assert parse_schema(a).check_forward_compatible_with(parse_schema(b)) == (
            theirs(a).check_forward_compatible_with(theirs(b))
        )


def test_a_schema_is_made_of_its_parts() -> None:
    add = glasstorch.ops.aten.add.Tensor._schema
    assert (type(add), type(add.arguments[0])) == (FunctionSchema, Argument)
    made = _C.FunctionSchema("aten::x", "", list(add.arguments), list(add.returns), False, False)
    assert str(made) == "aten::x(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    assert _C.parse_schema(str(add)) == add


# Operators here that PyTorch has no schema of, and why.
OURS_ALONE = {
    "aten::_as_strided_backward": "the gradient of as_strided, which PyTorch computes in a C++ function",
}


def test_every_shared_operator_shows_the_schema_that_pytorch_shows(require: Require) -> None:
    schemas = require("torch")._C._jit_get_all_schemas()
    theirs = {f"{s.name}.{s.overload_name}".rstrip("."): s for s in schemas}
    alone = {name for name in registry.operators if name.startswith("aten::") and name not in theirs}
    assert alone == set(OURS_ALONE)
    shared = [operator for name, operator in registry.operators.items() if name in theirs]
    assert len(shared) > 2090
    for operator in shared:
        assert facts(operator._schema) == facts(theirs[operator.name])
