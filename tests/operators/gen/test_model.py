"""Are the declaration files read exactly, and refused with their line where they cannot be?"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from glasstorch.core.errors import SchemaError
from glasstorch.dispatch.schema import FunctionSchema
from glasstorch.dispatch.tags import Tag
from glasstorch.operators.gen.model import (
    Derivative,
    NativeFunction,
    inplace_schema,
    load_derivatives,
    load_functions,
    load_not_implemented,
    out_schema,
    result_names,
)

Require = Callable[[str], Any]
Read = Callable[[str], list[NativeFunction]]


def test_a_row_becomes_an_operator(functions: Read) -> None:
    (add,) = functions("""
        # a comment

        - func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
          variants: function, method
          shape: pointwise.binary_alpha
          mirrors: aten/src/ATen/native/BinaryOps.cpp
          doc: "Adds
            two."
    """)
    assert str(add.schema) == "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    assert (add.name, add.identifier, add.where) == ("add.Tensor", "add_Tensor", "native_functions.yaml:4")
    assert add.variants == {"function", "method"}
    assert (add.shape, add.composite, add.functional, add.doc) == ("pointwise.binary_alpha", None, None, "Adds two.")
    assert not add.is_composite_implicit


def test_a_composite_row_names_its_kernel(functions: Read) -> None:
    implicit, explicit = functions("""
        - func: f(Tensor self) -> Tensor
          dispatch:
            CompositeImplicitAutograd: some.f
        - func: g(Tensor self) -> Tensor
          dispatch:
            CompositeExplicitAutograd: some.folder.g
    """)
    assert (implicit.composite, implicit.is_composite_implicit) == (("CompositeImplicitAutograd", "some.f"), True)
    assert (explicit.composite, explicit.is_composite_implicit) == (
        ("CompositeExplicitAutograd", "some.folder.g"),
        False,
    )


def test_generated_forms_stand_after_what_they_were_made_from(functions: Read) -> None:
    add, in_place, out = functions("""
        - func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
          variants: function, method
          autogen: add_.Tensor, add.out
    """)
    assert str(in_place.schema) == "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"
    assert str(out.schema) == "add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
    assert in_place.functional == out.functional == "add.Tensor"
    assert in_place.where == out.where == add.where
    assert (in_place.variants, out.variants) == ({"method"}, {"function"})


def test_a_row_may_name_what_its_out_form_writes_to(functions: Read) -> None:
    _, one, _, two = functions("""
        - func: f_backward(Tensor grad_output, Tensor self) -> Tensor
          autogen: f_backward.grad_input(grad_input)
        - func: pool(Tensor self) -> (Tensor, Tensor)
          autogen: pool.out(out, indices)
    """)
    assert str(one.schema).startswith(
        "f_backward.grad_input(Tensor grad_output, Tensor self, *, Tensor(a!) grad_input)"
    )
    assert str(two.schema).startswith("pool.out(Tensor self, *, Tensor(a!) out, Tensor(b!) indices)")


ADD = """- func: add.Tensor(Tensor self, Tensor other) -> Tensor
  variants: function, method
  autogen: add_.Tensor, add.out
  doc: "Adds."
"""
PLUS = """- func: plus.Tensor(Tensor self, Tensor more) -> Tensor
  autogen: plus_.Tensor, plus.out
  alias_of: add.Tensor
"""


def test_an_alias_calls_the_form_of_its_original_that_it_is(functions: Read) -> None:
    *_, plain, in_place, out = functions(ADD + PLUS)
    assert [f.alias_of for f in (plain, in_place, out)] == ["add.Tensor", "add_.Tensor", "add.out"]
    assert (out.composite, out.alias_of) == (("CompositeImplicitAutograd", "aliases.same_as"), "add.out")
    assert (in_place.doc, in_place.functional) == ("`add_` under another name. Adds.", "plus.Tensor")


def test_the_forms_of_an_alias_and_its_original_may_have_overloads_of_other_names(functions: Read) -> None:
    original = ADD.replace("add.out", "add.OutTensor")
    *_, plain, in_place, out = functions(PLUS + original)[:3]
    assert [f.alias_of for f in (plain, in_place, out)] == ["add.Tensor", "add_.Tensor", "add.OutTensor"]


def test_an_alias_may_leave_out_and_want_named_what_its_original_does_not(functions: Read) -> None:
    *_, plain = functions(ADD + "- func: plus(Tensor self, *, Tensor other=0) -> Tensor\n  alias_of: add.Tensor")
    assert plain.alias_of == "add.Tensor"


def test_help_calls_the_original_of_an_alias_by_its_public_name(functions: Read) -> None:
    alias, _ = functions("""
        - func: det(Tensor A) -> Tensor
          alias_of: linalg_det_of
        - func: linalg_det_of(Tensor A) -> Tensor
          python_module: linalg
          doc: "The determinant."
    """)
    assert alias.doc == "`linalg.det_of` under another name. The determinant."


def test_an_in_place_form_is_a_function_too_where_the_row_says_so(functions: Read) -> None:
    _, in_place, out = functions(ADD + "  inplace_variants: function, method")
    assert (in_place.variants, out.variants) == ({"function", "method"}, {"function"})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("alias_of: sub", "f: expected alias_of to name an operator with a kernel, got sub"),
        (
            "alias_of: add.Tensor",
            "f is an alias and takes and gives other types: add.Tensor(Tensor self, Tensor other)",
        ),
        (
            "alias_of: add.Tensor\n  doc: Adds.",
            "f is add.Tensor under another name: it has no dispatch, shape or doc of",
        ),
        (
            "autogen: f.out\n  alias_of: g",
            "f.out is a form of an alias; g has no form of that kind",
        ),
        ("inplace_variants: method", "inplace_variants of aten::f: expected some of its variants, ['function'], got"),
    ],
)
def test_an_alias_that_is_none_is_refused(functions: Read, row: str, message: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(f"native_functions.yaml:5: {message}")):
        functions(f"{ADD}- func: f(Tensor x) -> Tensor\n  {row}\n- func: g(Tensor x) -> Tensor")


def test_autocast_is_said_of_an_operator_and_not_of_its_forms(functions: Read) -> None:
    add, in_place, out = functions(ADD + "  autocast: cpu promote, cuda fp32")
    assert add.autocast == (("cpu", "promote"), ("cuda", "fp32"))
    assert in_place.autocast == out.autocast == ()


@pytest.mark.parametrize("text", ["fp32", "cpu fp16", "cuda fp32, cpu fp32", "cpu fp32, cpu promote", "xpu fp32"])
def test_autocast_on_another_device_or_with_another_policy_is_refused(functions: Read, text: str) -> None:
    with pytest.raises(SchemaError, match=f"autocast: expected some of cpu, cuda, in this order.*; got '{text}'"):
        functions(f"{ADD}  autocast: {text}")


def test_an_out_form_of_several_results_has_a_tensor_for_each() -> None:
    schema = FunctionSchema.parse("max.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)")
    assert str(out_schema(schema, "dim_max")) == (
        "max.dim_max(Tensor self, int dim, *, Tensor(a!) values, Tensor(b!) indices) -> "
        "(Tensor(a!) values, Tensor(b!) indices)"
    )


def test_the_out_form_of_a_factory_has_the_options_of_its_tensor() -> None:
    schema = FunctionSchema.parse("zeros(int[] size, *, ScalarType? dtype=None, Device? device=None) -> Tensor")
    assert str(out_schema(schema, "out")) == "zeros.out(int[] size, *, Tensor(a!) out) -> Tensor(a!)"


F = "- func: f(Tensor x) -> Tensor\n"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("- func: f(Tensr x) -> Tensor", ":1: in the schema 'f(Tensr x) -> Tensor': cannot read the type 'Tensr'"),
        ("\n\n- func: add(Tensor self)", ":3: cannot read the schema 'add(Tensor self)'"),
        ("- name: add", ":1: a row has 'func' and may have"),
        (F + "  color: red", ":1: a row has 'func' and may have"),
        (F + "  variants: function, macro", ":1: variants of aten::f: expected 'function', 'method'"),
        (F + "  variants: [function]", ":1: 'variants': expected text, got ['function']"),
        ("- func: [1]", ":1: 'func': expected text, got [1]"),
        (F + "- func: f(Tensor y) -> Tensor", ":2: f is declared twice; the first is at native_functions"),
        (F + "  autogen: f_\n- func: f_(Tensor(a!) x) -> Tensor(a!)", ":3: f_ is declared twice; the first is at"),
        (F + "  func: g(Tensor x) -> Tensor", ": line 2: the key 'func' stands twice in one row"),
        (F + "  autogen: g_", ":1: autogen of f: 'g_' is neither f_ nor an overload of it"),
        (F + "  autogen: f.out(a, b)", ":1: f.out: 1 results are written to a, b"),
        (F + "  autogen: 'f.a b'", ":1: autogen: expected names such as add_.Tensor or add.out"),
        ("- func: f(int n) -> Tensor\n  autogen: f_", ":1: f_: an in-place form needs a Tensor as first argument, f"),
        ("- func: f() -> Tensor\n  autogen: f_", ":1: f_: an in-place form needs a Tensor as first argument"),
        (F + "  dispatch:\n    CPU: some.f", ":1: dispatch: expected one of Composite"),
        (F + "  dispatch: some.f", ":1: dispatch: expected one of Composite"),
        (F + "  doc: 'open", ":2: not valid yaml"),
        ("func: f(Tensor x) -> Tensor", ": expected a list of rows"),
        ("- just text", ": expected a list of rows"),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_read_is_refused_with_file_and_line(functions: Read, rows: str, message: str) -> None:
    with pytest.raises(SchemaError, match=re.escape("native_functions.yaml" + message)):
        functions(rows)


def test_an_empty_file_declares_nothing(functions: Read) -> None:
    assert functions("# nothing yet\n") == []


# Derivatives ----------------------------------------------------------------------------------------------------


def test_a_derivative_has_a_formula_for_each_differentiable_argument(
    derivatives: Callable[..., dict[str, Derivative]],
) -> None:
    found = derivatives("- op: add.Tensor\n  self: grad\n  other: grad * alpha\n")
    assert found == {
        "add.Tensor": Derivative("add.Tensor", (("self", "grad"), ("other", "grad * alpha")), (), "derivatives.yaml:1")
    }


MAX = "- func: max.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)"


def test_results_without_gradient_are_named(derivatives: Callable[..., dict[str, Derivative]]) -> None:
    found = derivatives("- op: max.dim\n  self: grad\n  not_differentiable: indices\n", MAX)
    assert found["max.dim"].not_differentiable == ("indices",)
    assert result_names(FunctionSchema.parse("f(Tensor x) -> Tensor")) == ("result",)
    assert result_names(FunctionSchema.parse("f(Tensor x) -> (Tensor, Tensor)")) == ("result0", "result1")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("- op: add\n  self: grad", ":1: 'op: add' is not declared in native_functions.yaml"),
        ("- self: grad", ":1: 'op: None' is not declared"),
        ("- op: add.Tensor\n  self: grad\n\n- op: add.Tensor\n  self: grad", ":4: add.Tensor has formulas already, at"),
        ("- op: add.Tensor\n  left: grad", ":1: add.Tensor has no argument 'left'; it is add.Tensor(Tensor self"),
        ("- op: add.Tensor\n  self, right: f(grad)", ":1: add.Tensor has no argument 'right'"),
        ("- op: add.Tensor\n  self: grad\n  not_differentiable: indices", ":1: add.Tensor has no result 'indices'; it"),
    ],
)  # fmt: skip
def test_a_derivative_that_fits_no_operator_is_refused_with_file_and_line(
    derivatives: Callable[..., object], rows: str, message: str
) -> None:
    with pytest.raises(SchemaError, match=re.escape("derivatives.yaml" + message)):
        derivatives(rows)


# Our own files --------------------------------------------------------------------------------------------------


def test_our_files_are_read_and_every_schema_prints_back() -> None:
    functions = load_functions()
    assert len(functions) > 200
    assert all(FunctionSchema.parse(str(f.schema)) == f.schema for f in functions)
    assert load_derivatives(functions)


def test_every_operator_has_a_sentence_of_help() -> None:
    lacking = [f.name for f in load_functions() if not f.doc.endswith(".")]
    assert not lacking


OURS_ALONE = {
    **dict.fromkeys(
        ["_batch_norm_with_update_functional", "_native_batch_norm_legit_functional"],
        "PyTorch generates it from the operator that moves running statistics",
    ),
    "_as_strided_backward": "PyTorch computes it in C++ below no operator",
    "embedding_renorm": "PyTorch declares the in-place form, and generates this one",
    "rrelu_with_noise_functional": "PyTorch generates it from the operator that writes its noise to an argument",
    "zero": "PyTorch declares the in-place form, and generates this one",
}


def test_every_schema_is_pytorchs_word_for_word(require: Require) -> None:
    require("torch")
    path = Path(require("torchgen").__file__).parent / "packaged" / "ATen" / "native" / "native_functions.yaml"
    text = path.read_text(encoding="utf-8")
    rows = re.findall(r"^- func: (.+?)\s*$", text, re.MULTILINE)
    theirs = {row.partition("(")[0]: row for row in rows}
    generated = {
        name for names in re.findall(r"^  autogen: (.+?)\s*$", text, re.MULTILINE) for name in names.split(", ")
    }
    different = {
        f.name
        for f in load_functions()
        if theirs.get(f.name) != str(f.schema) and (f.functional is None or f.name not in generated)
    }
    assert different == set(OURS_ALONE)


def test_generated_schemas_are_those_that_torchgen_generates(require: Require) -> None:
    require("torch")
    model = require("torchgen.model")
    for f in load_functions():
        if f.functional is not None and f.name not in OURS_ALONE:
            theirs = model.FunctionSchema.parse(str(f.schema))
            assert theirs.kind() is (model.SchemaKind.inplace if f.schema.is_inplace else model.SchemaKind.out)
    base = FunctionSchema.parse("sin(Tensor self) -> Tensor")
    assert str(inplace_schema(base, "sin_", "")) == "sin_(Tensor(a!) self) -> Tensor(a!)"


# Tags -----------------------------------------------------------------------------------------------------------------

TAGGED = """
- func: f.Tensor(Tensor self) -> Tensor
  autogen: f_.Tensor, f.out
  tags: core, pointwise, cheap
"""


def tags_of(function: NativeFunction) -> list[str]:
    return [tag.name for tag in function.tags]


def test_forms_have_the_tags_of_their_operator_but_core(functions: Read) -> None:
    assert {f.name: tags_of(f) for f in functions(TAGGED)} == {
        "f.Tensor": ["core", "pointwise", "cheap"],
        "f_.Tensor": ["inplace", "pointwise", "cheap"],
        "f.out": ["out", "pointwise", "cheap"],
    }


def test_a_row_gives_a_form_other_tags_of_pytorchs(functions: Read) -> None:
    _, in_place, out = functions(TAGGED + "  form_tags:\n    f_.Tensor: none\n    f.out: generated, core\n")
    assert tags_of(in_place) == ["inplace", "cheap"]
    assert tags_of(out) == ["core", "generated", "out", "cheap"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("tags: pointwize", "tags: 'pointwize' is not a tag; there are core, cudagraph_unsafe, data_dependent_output"),
        ("tags: core, core", "tags: one stands twice in 'core, core'"),
        ("tags: out", "tags: 'inplace' and 'out' follow from the schema"),
        ("form_tags:\n    g.out: core", "form_tags: g.out is not a form that f generates"),
        ("form_tags: core", "form_tags: expected a form's name and its tags in each line, got 'core'"),
        ("python_function: maybe", "python_function of f: expected one of generated, by hand, none, got 'maybe'"),
        ("out: copied", "out of f: it has no out= form"),
        (
            "autogen: f.out\n  out: somehow",
            "out of f: expected 'own kernel', 'passed on to FORM', 'copied', 'composed'",
        ),
        (
            "autogen: f.out\n  out: copied, cast",
            "out of f: expected 'own kernel', 'passed on to FORM', 'copied', 'comp",
        ),
        ("autogen: f.out\n  out: passed on", "out of f: expected 'own kernel', 'passed on to FORM', "),
        ("autogen: f.out\n  out: passed on to g.out", "f.out is passed on to g.out, which is not declared"),
        ("property: T, writable", "property of f: expected an attribute's name, or that and ', assignable', got"),
    ],
)
def test_a_fact_that_is_none_is_refused_with_file_and_line(functions: Read, row: str, message: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(f"native_functions.yaml:1: {message}")):
        functions(f"- func: f(Tensor x) -> Tensor\n  {row}\n")


def test_a_derivative_that_nobody_knows_stands_in_place_of_formulas(tmp_path: Path, functions: Read) -> None:
    path = tmp_path / "derivatives.yaml"
    declared = functions("- func: f(Tensor x) -> Tensor\n- func: g(Tensor x) -> Tensor")
    path.write_text(
        "- op: f\n  not_implemented: derivative\n- op: g\n  x: grad\n  complex: refused\n", encoding="utf-8"
    )
    assert load_not_implemented(declared, path) == {"f": "derivative"}
    assert load_derivatives(declared, path).keys() == {"g"}
    assert load_derivatives(declared, path)["g"].refuses_complex


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("not_implemented: third", "not_implemented of add.Tensor: expected one of derivative, second derivative, got"),
        ("not_implemented: derivative\n  self: grad", "add.Tensor is not implemented and has no 'self' besides"),
        ("self: grad\n  complex: yes", "complex of add.Tensor: expected 'refused', or no such line, got True"),
    ],
)
def test_a_derivative_row_that_is_none_is_refused(derivatives: Callable[..., object], row: str, message: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(f"derivatives.yaml:1: {message}")):
        derivatives(f"- op: add.Tensor\n  {row}\n")


def test_tags_are_pytorchs(require: Require) -> None:
    aten = require("torch").ops.aten
    different = {}
    for f in load_functions():
        name, _, overload = f.name.partition(".")
        theirs = getattr(getattr(aten, name, None), overload or "default", None)
        if theirs is not None:
            carried = [tag.name for tag in theirs.tags if tag.name != "pt2_compliant_tag"]  # which all have
            ours = [tag.name for tag in f.tags if not tag.ours]
            if sorted(carried) != sorted(ours):
                different[f.name] = (ours, carried)
    assert not different


def test_no_tag_of_pytorchs_that_an_operator_of_ours_has_is_left_out(require: Require) -> None:
    aten = require("torch").ops.aten
    said = set()
    for f in load_functions():
        name, _, overload = f.name.partition(".")
        theirs = getattr(getattr(aten, name, None), overload or "default", None)
        said |= {tag.name for tag in theirs.tags} if theirs is not None else set()
    assert said <= {tag.name for tag in Tag if not tag.ours}


def test_every_tag_is_said_of_an_operator() -> None:
    said_by_programs = {Tag.pt2_compliant_tag, Tag.cudagraph_unsafe, Tag.flexible_layout, Tag.needs_contiguous_strides}
    said_by_programs |= {Tag.needs_exact_strides, Tag.needs_fixed_stride_order, Tag.nondeterministic_bitwise}
    said_by_programs |= {Tag.out_variant}
    assert {tag for f in load_functions() for tag in f.tags} == set(Tag) - said_by_programs


# Families --------------------------------------------------------------------------------------------------------


def test_a_row_belongs_to_the_family_whose_section_it_stands_in(functions: Read) -> None:
    made, in_place, f = functions("""
        - family: creation
        - func: made(Tensor self) -> Tensor
          autogen: made_
        - family: views
        - func: f(Tensor self) -> Tensor
    """)
    assert (made.family, in_place.family, f.family) == ("creation", "creation", "views")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- family: vues\n", r":1: a section begins with 'family:' alone and one of creation, random, .*'vues'"),
        ("- family: views\n  doc: some\n", ":1: a section begins with 'family:' alone"),
        ("- family: views\n- family: views\n", ":2: the section of views stands behind that of views; expected one"),
        ("- family: views\n- family: random\n", ":2: the section of random stands behind that of views"),
    ],
)
def test_a_section_that_is_not_one_familys_in_order_is_refused(functions: Read, text: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        functions(text)


def test_formulas_stand_in_the_section_of_their_operators_family(derivatives: Callable[..., Any]) -> None:
    declared = "- family: views\n- func: f(Tensor self) -> Tensor\n"
    assert set(derivatives("- family: views\n- op: f\n  self: grad\n", declared)) == {"f"}
    with pytest.raises(SchemaError, match=":2: f stands in the section of joining; it is declared in that of views"):
        derivatives("- family: joining\n- op: f\n  self: grad\n", declared)


# Out= forms -------------------------------------------------------------------------------------------------------


def test_a_row_says_who_writes_to_out(functions: Read) -> None:
    row = "- func: {0}(Tensor x) -> Tensor\n  autogen: {0}.out\n"
    told = functions(row.format("f") + row.format("g") + "  out: composed, cast, recorded\n")
    assert {f.name: f.out for f in told} == {
        "f": None,
        "f.out": "own kernel",
        "g": None,
        "g.out": "composed, cast, recorded",
    }
