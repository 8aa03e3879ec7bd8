"""Does a formula save what it names, and nothing else?"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from glasstorch.core.errors import SchemaError
from glasstorch.operators.gen import formulas
from glasstorch.operators.gen.formulas import Formula, helper_names, read_formulas
from glasstorch.operators.gen.model import Derivative, NativeFunction

Read = Callable[[str], list[NativeFunction]]

OPERATOR = "- func: op(Tensor self, Tensor other, Tensor[] list, Scalar alpha, *, bool flag=True) -> Tensor"
SEVERAL = "- func: op(Tensor self, int dim) -> (Tensor values, Tensor indices)"
OPERATORS, HELPERS = frozenset(("cos", "where", "sum")), frozenset(("scaled",))


@pytest.fixture
def formula(functions: Read) -> Callable[..., Formula]:
    """Reads one formula of an operator with every kind of argument."""

    def read(text: str, arguments: str = "self", declared: str = OPERATOR) -> Formula:
        derivative = Derivative("op", ((arguments, text),), (), "derivatives.yaml:7")
        return read_formulas(functions(declared)[0], derivative, OPERATORS, HELPERS)[0]

    return read


def test_a_formula_saves_the_tensors_that_it_names(formula: Callable[..., Formula]) -> None:
    found = formula("grad * other + cos(self) * other")
    assert found.tensors == ("other", "self")
    assert found.expression == "grad * other + f.cos(self_) * other"
    assert (found.results, found.constants, found.helpers) == ((), (), frozenset())


def test_a_formula_saves_results_and_numbers(formula: Callable[..., Formula]) -> None:
    found = formula("scaled(grad * result, alpha) if flag else grad")
    assert found.expression == "scaled(grad * result, alpha) if flag else grad"
    assert found.results == ("result",)
    assert found.constants == (("alpha", "alpha"), ("flag", "flag"))
    assert found.helpers == {"scaled"}


def test_asking_for_a_fact_does_not_save_the_tensor(formula: Callable[..., Formula]) -> None:
    found = formula("grad.expand(self.shape).to(other.dtype) * result.ndim")
    assert found.expression == "grad.expand(self_shape).to(other_dtype) * result_ndim"
    assert (found.tensors, found.results) == ((), ())
    assert found.constants == (
        ("other_dtype", "other.dtype"),
        ("result_ndim", "result.ndim"),
        ("self_shape", "self._shape"),
    )


def test_the_geometry_of_a_tensor_and_the_shapes_of_a_list_are_facts_too(formula: Callable[..., Formula]) -> None:
    found = formula("sum(grad, shapes_of(list), self.geometry)")
    assert found.tensors == ()
    assert [name for name, _ in found.constants] == ["list_shapes", "self_geometry"]


def test_several_results_are_named_as_in_the_schema(formula: Callable[..., Formula]) -> None:
    found = formula("grads[0] * indices", declared=SEVERAL)
    assert (found.results, found.tensors) == (("indices",), ())


def test_one_formula_may_serve_several_arguments(formula: Callable[..., Formula]) -> None:
    assert formula("scaled(grad, 1)", "self, other").arguments == ("self", "other")


def test_a_method_is_not_a_name(formula: Callable[..., Formula]) -> None:
    assert formula("grad.unheard_of(self)").expression == "grad.unheard_of(self_)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "grad * othr",
            "derivatives.yaml:7: the name 'othr' is neither an argument, a result, a helper nor an operator",
        ),
        ("sin(self)", "derivatives.yaml:7: the name 'sin' is neither"),
        ("__import__('os')", "derivatives.yaml:7: the name '__import__' is neither"),
        ("grad *", "derivatives.yaml:7: the formula 'grad *' of op is not an expression"),
        ("x = grad", "derivatives.yaml:7: the formula 'x = grad' of op is not an expression"),
    ],
)
def test_a_formula_that_cannot_be_read_is_refused_with_file_and_line(
    formula: Callable[..., Formula], text: str, message: str
) -> None:
    with pytest.raises(SchemaError, match=re.escape(message)):
        formula(text)


def test_an_argument_must_not_have_the_name_of_the_gradient(formula: Callable[..., Formula]) -> None:
    with pytest.raises(
        SchemaError, match=r"derivatives.yaml:7: op has an argument 'grad', which in a formula is something"
    ):
        formula("grad * 2", "grad", "- func: op(Tensor grad) -> Tensor")
    with pytest.raises(SchemaError, match="op has an argument 'result'"):
        formula("grad * 2", "result", "- func: op(Tensor result) -> Tensor")
    with pytest.raises(SchemaError, match=r"derivatives.yaml:7: op has an argument 'grads', .*such as 'grads_output'"):
        formula("grad * 2", "self", "- func: op(Tensor self, Tensor[] grads) -> Tensor")


@pytest.mark.parametrize("name", ["grad", "grads"])
def test_a_result_must_not_have_the_name_of_the_gradient(formula: Callable[..., Formula], name: str) -> None:
    with pytest.raises(SchemaError, match=f"derivatives.yaml:7: op has a result '{name}', which in a formula is"):
        formula("grads[0]", "self", f"- func: op(Tensor self) -> (Tensor values, Tensor {name})")


def test_helpers_are_the_public_functions_of_the_files_of_formulas() -> None:
    helpers = helper_names()
    assert "scaled" in helpers
    assert not any(name.startswith("_") for name in helpers)


def test_a_helper_that_two_files_define_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "reference" / "glasstorch" / "autograd" / "formulas"
    folder.mkdir(parents=True)
    for name in ("views.py", "joining.py"):
        (folder / name).write_text("def scaled(x):\n    return x\n", encoding="utf-8")
    monkeypatch.setattr(formulas, "FORMULAS", folder)
    monkeypatch.setattr(formulas, "OPERATORS", tmp_path / "reference" / "glasstorch" / "operators")
    with pytest.raises(SchemaError, match=r"scaled\(\), which glasstorch\.autograd\.formulas\.joining and .*views"):
        helper_names()
