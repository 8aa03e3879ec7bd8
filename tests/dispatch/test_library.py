"""Are declarations and kernels registered, refused and taken back as they should be?"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from glasstorch.core.errors import RegistrationError, SchemaError
from glasstorch.core.keys import CPU_KEYS, DispatchKey
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.library import KernelTable, Library, place
from glasstorch.dispatch.operator import Operator, registry
from tests.refusals import same_refusal

Require = Callable[[str], Any]
Make = Callable[..., TensorImpl]


def line() -> int:
    """The line that this is called from."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


# Declaring ------------------------------------------------------------------------------------------------------


def test_an_operator_knows_where_it_was_defined(library: Library) -> None:
    operator, at = library.define("f(Tensor x) -> Tensor"), line()
    assert operator.defined_at == f"{__file__}:{at}"
    assert str(operator.schema) == "sample::f(Tensor x) -> Tensor"


def test_a_place_in_the_library_begins_at_its_folder() -> None:
    assert place(inspect.getfile(Library), 7) == "dispatch/library.py:7"


def test_a_place_in_a_notebook_is_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    from IPython.core.compilerop import CachingCompiler

    compiler = CachingCompiler()
    file = compiler.cache("library.define(...)", 3, raw_code="library.define(...)")
    shell = SimpleNamespace(compile=compiler)
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    assert place(file, 2) == "Cell In[3]:2"
    assert place(__file__, 2) == f"{__file__}:2"


def test_defining_an_operator_twice_names_both_places(library: Library) -> None:
    library.define("f(Tensor x) -> Tensor")
    first = line() - 1
    with pytest.raises(RegistrationError) as error:
        library.define("f(Tensor x, int n) -> Tensor")
    second = line() - 1
    assert f"already defined at {__file__}:{first}; refused the one at {__file__}:{second}" in str(error.value)


def test_a_namespace_is_defined_once_and_then_extended(library: Library) -> None:
    with pytest.raises(RegistrationError, match=r"namespace sample; it was defined at .*conftest.py:\d+, refused the"):
        Library("sample", "DEF")
    with pytest.raises(RegistrationError, match="namespace aten; it was defined at the library itself"):
        Library("aten", "DEF")
    with Library("sample", "FRAGMENT") as more:
        more.define("g(Tensor x) -> Tensor")
        assert registry.find("sample::g")
    with pytest.raises(RegistrationError):
        registry.find("sample::g")


def test_a_closed_namespace_can_be_defined_again() -> None:
    for _ in range(2):
        with Library("again", "DEF") as library:
            library.define("f(Tensor x) -> Tensor")


def test_a_library_of_kernels_defines_nothing(library: Library) -> None:
    with pytest.raises(RegistrationError, match="a Library of kind 'IMPL' cannot define 'g"):
        Library("sample", "IMPL").define("g(Tensor x) -> Tensor")
    with pytest.raises(ValueError, match="Unsupported kind: 'OTHER'; expected 'DEF', 'FRAGMENT' or 'IMPL'"):
        Library("sample", "OTHER")


def test_a_schema_that_cannot_be_read_defines_nothing(library: Library) -> None:
    with pytest.raises(SchemaError, match="cannot read the type 'Tensr'"):
        library.define("h(Tensr x) -> Tensor")
    with pytest.raises(RegistrationError):
        registry.find("sample::h")


def test_a_name_of_another_namespace_is_refused(library: Library) -> None:
    assert library.define("sample::f(Tensor x) -> Tensor").name == "sample::f"
    with pytest.raises(RegistrationError, match="names the namespace other, and this Library is of sample"):
        library.define("other::f(Tensor x) -> Tensor")
    with pytest.raises(RegistrationError, match=r"'aten::mul.Tensor' names the namespace aten"):
        library.impl("aten::mul.Tensor", lambda x, y: x, "CPU")


# Registering ----------------------------------------------------------------------------------------------------


def test_a_second_kernel_for_a_key_is_refused_and_names_both_places(library: Library, operator: Operator) -> None:
    library.impl("op", lambda x: 1, "CPU")
    first = line() - 1
    with pytest.raises(RegistrationError) as error:
        library.impl("op", lambda x: 2, "CPU")
    second = line() - 1
    assert str(error.value) == (
        f"sample::op already has a CPU kernel, registered at {__file__}:{first}; refused the one at "
        f"{__file__}:{second}. Pass allow_override=True to replace it"
    )


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_closing_libraries_in_any_order_leaves_the_kernels_of_the_others(
    library: Library, operator: Operator, tensor: Make, order: tuple[int, ...]
) -> None:
    library.impl("op", lambda x: "base", "CPU")
    others = [Library("sample", "IMPL"), Library("sample", "IMPL")]
    for i, other in enumerate(others):
        other.impl("op", lambda x, i=i: f"override {i}", "CPU", allow_override=True)
    assert operator(tensor()) == "override 1"
    others[order[0]].close()
    assert operator(tensor()) == ("override 1" if order[0] == 0 else "override 0")
    others[order[1]].close()
    assert operator(tensor()) == "base"
    others[order[1]].close()  # a second time does nothing
    assert operator(tensor()) == "base"


def test_the_key_is_the_librarys_where_none_is_given(library: Library, operator: Operator, tensor: Make) -> None:
    with Library("sample", "IMPL", "CPU") as other:
        other.impl("op", lambda x: "cpu")
        assert operator.has_kernel_for("CPU")
    library.impl("op", lambda x: "composite")
    assert operator.has_kernel_for("CompositeImplicitAutograd")


@pytest.mark.parametrize(
    ("name", "kernel", "key", "error", "message"),
    [
        ("op", len, "Nope", RegistrationError, "could not parse dispatch key: Nope; expected a runtime key such as"),
        ("op", len, "StartOfDenseBackends", RegistrationError, "could not parse dispatch key: StartOfDenseBackends"),
        ("op", len, "EndOfDenseBackends", RegistrationError, "could not parse dispatch key: EndOfDenseBackends"),
        ("op", 3, "CPU", TypeError, "Input function is required to be a callable but found type <class 'int'>"),
        ("nope", len, "CPU", RegistrationError, "there is no operator 'sample::nope'"),
    ],
)
def test_what_cannot_be_registered_is_refused(
    library: Library, operator: Operator, name: str, kernel: Any, key: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        library.impl(name, kernel, key)


def test_a_meta_kernel_for_what_is_composed_of_other_operators_is_refused_in_pytorchs_words(require: Require) -> None:
    torch = require("torch")
    same_refusal(torch, lambda t: t.library.Library("aten", "IMPL").impl("matmul", len, "Meta"))


def test_a_second_fallback_for_a_key_is_refused_and_names_both_places() -> None:
    with Library("_", "IMPL") as library:
        library.fallback(lambda operator, *args: None, "PrivateUse1")
        first = line() - 1
        with pytest.raises(
            RegistrationError, match=f"for the same dispatch key PrivateUse1.*:{first}, new registration"
        ):
            library.fallback(lambda operator, *args: None, "PrivateUse1")
    assert DispatchKey.PrivateUse1 not in registry.fallbacks


def test_a_fallback_belongs_to_no_namespace(library: Library) -> None:
    with pytest.raises(RegistrationError, match=r"register it with Library\('_', 'IMPL'\), not with that of 'sample'"):
        library.fallback(lambda operator, *args: None, "PrivateUse1")


def test_the_librarys_own_kernels_take_the_keys_and_every_argument(tensor: Make) -> None:
    table = KernelTable("CPU")
    with Library("aten", "FRAGMENT") as library:
        one = library.define("_sample_one(Tensor x, int n=1) -> Tensor")
        two = library.define("_sample_two(Tensor x, int n=2) -> Tensor")

        @table.impl("_sample_one", "_sample_two")
        def kernel(keys: int, x: TensorImpl, n: int) -> tuple[bool, int]:
            return keys & CPU_KEYS != 0, n

        assert (one(tensor()), two(tensor())) == ((True, 1), (True, 2))
        assert registry.find("aten::_sample_two").kernels[DispatchKey.CPU][0].where.startswith(__file__)


# How a user's kernel is called, against PyTorch ------------------------------------------------------------------

CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((2,), {}),
    ((3,), {}),
    ((3, [1, 2]), {}),
    ((2, [5]), {}),
    ((), {"sizes": [1, 2], "flag": True}),
    ((), {"flag": False, "n": 2}),
    ((2, [1, 2]), {"flag": False, "scale": None}),
    ((), {"scale": 1.5}),
]


@pytest.mark.parametrize(("args", "kwargs"), CALLS, ids=str)
def test_a_kernel_is_called_with_the_arguments_that_pytorch_passes(
    library: Library, tensor: Make, require: Require, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    torch = require("torch")
    schema = "f(Tensor x, int n=2, int[] sizes=[1, 2], *, bool flag=True, float? scale=None) -> Tensor"
    seen: list[tuple[Any, ...]] = []

    def kernel(*given: Any, **named: Any) -> Any:
        seen.append((given[1:], named))
        return given[0]

    name = f"glasstorch_call_{next(_names)}"
    with torch.library._scoped_library(name, "DEF") as theirs:
        theirs.define(schema)
        theirs.impl("f", kernel, "CPU")
        getattr(torch.ops, name).f(torch.ones(1), *args, **kwargs)
    operator = library.define(schema)
    library.impl("f", kernel, "CPU")
    operator(tensor(), *args, **kwargs)
    assert seen[0] == seen[1]


_names = itertools.count()
