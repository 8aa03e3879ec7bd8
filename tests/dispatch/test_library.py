"""Are declarations and kernels registered, refused and taken back as they should be?"""

from __future__ import annotations

import gc
import inspect
import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from glasstorch.core.errors import RegistrationError, SchemaTextError
from glasstorch.core.keys import CPU_KEYS, DispatchKey
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.library import KernelTable, Library, place
from glasstorch.dispatch.operator import Operator, registry
from glasstorch.dispatch.tags import Tag
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
    assert str(error.value).startswith("Tried to register an operator (sample::f(Tensor x, int n) -> Tensor) with the")


def test_a_namespace_is_defined_once_and_then_extended(library: Library) -> None:
    with pytest.raises(
        RegistrationError, match=r"namespace sample; please put .*It was defined at .*conftest.py:\d+; refused the"
    ):
        Library("sample", "DEF")
    with pytest.raises(RegistrationError, match="It was defined at the library itself"):
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
    with pytest.raises(RegistrationError, match="Cannot define an operator inside of a TORCH_LIBRARY_IMPL"):
        Library("sample", "IMPL").define("g(Tensor x) -> Tensor")
    with pytest.raises(ValueError, match="Unsupported kind: OTHER; expected one of DEF, FRAGMENT, IMPL"):
        Library("sample", "OTHER")


def test_a_schema_that_cannot_be_read_defines_nothing(library: Library) -> None:
    with pytest.raises(SchemaTextError, match=r"unknown type specifier.*\nh\(Tensr x"):
        library.define("h(Tensr x) -> Tensor")
    with pytest.raises(RegistrationError):
        registry.find("sample::h")


def test_a_name_of_another_namespace_is_refused(library: Library) -> None:
    assert library.define("sample::f(Tensor x) -> Tensor").name == "sample::f"
    with pytest.raises(RegistrationError, match=r"Explicitly provided namespace \(other\) in schema string does"):
        library.define("other::f(Tensor x) -> Tensor")
    with pytest.raises(RegistrationError, match=r"Explicitly provided namespace \(aten\) in operator name does"):
        library.impl("aten::mul.Tensor", lambda x, y: x, "CPU")


# Registering ----------------------------------------------------------------------------------------------------


def test_a_second_kernel_of_a_user_is_refused_where_overriding_is_and_names_both_places(
    library: Library, operator: Operator
) -> None:
    library.impl("op", lambda x: 1, "CPU")
    first = line() - 1
    with pytest.raises(RegistrationError) as error:
        library.impl("op", lambda x: 2, "CPU", allow_override=False)
    second = line() - 1
    assert str(error.value).startswith("This is not allowed since there's already a kernel registered from python")
    assert str(error.value).endswith(f"registered at {__file__}:{first}; refused the one at {__file__}:{second}")


def test_a_kernel_that_is_replaced_is_warned_of_once_with_both_places(
    library: Library, operator: Operator, tensor: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glasstorch.core.warn_once._given", set())
    library.impl("op", lambda x: 1, "CPU")
    first = line() - 1
    with pytest.warns(UserWarning, match="Warning only once for all operators,") as warned:
        library.impl("op", lambda x: 2, "CPU")
    second = line() - 1
    library.impl("op", lambda x: 3, "CPU")
    assert str(warned[0].message).endswith(
        f"operator: sample::op(Tensor x) -> Tensor\n    registered at {operator.defined_at}\n  dispatch key: CPU\n"
        f"  previous kernel: registered at {__file__}:{first}\n       new kernel: registered at {__file__}:{second}"
    )
    assert operator(tensor()) == 3


def test_what_is_meant_and_what_is_for_meta_is_replaced_without_a_warning(library: Library, operator: Operator) -> None:
    library.impl("op", lambda x: 1, "CPU")
    library.impl("op", lambda x: 2, "CPU", allow_override=True)
    library.impl("op", lambda x: 1, "Meta")
    library.impl("op", lambda x: 2, "Meta")


def test_a_kernel_of_the_librarys_own_may_be_replaced_by_its_full_name() -> None:
    sums = registry.find("aten::sum").kernels[DispatchKey.CPU]
    before = list(sums)
    with Library("aten", "IMPL") as library:
        library.impl("aten::sum", lambda x, **kwargs: x, "CPU", allow_override=True)
        assert len(sums) == len(before) + 1
    assert sums == before


def test_what_a_library_registered_goes_with_its_last_reference(library: Library, operator: Operator) -> None:
    other = Library("sample", "FRAGMENT")
    other.define("short(Tensor x) -> Tensor")
    other.impl("op", lambda x: x, "CPU")
    assert operator.has_kernel_for("CPU")
    del other
    assert not operator.has_kernel_for("CPU")
    assert "sample::short" not in registry.operators


def test_a_closed_library_registers_nothing(library: Library, operator: Operator) -> None:
    other = Library("sample", "FRAGMENT")
    other.close()
    for register in (lambda: other.impl("op", len, "CPU"), lambda: other.define("g(Tensor x) -> Tensor")):
        with pytest.raises(AssertionError, match="Library object has been destroyed"):
            register()


@pytest.mark.parametrize("kind", ["DEF", "FRAGMENT"])
def test_a_reserved_namespace_is_refused(kind: str) -> None:
    with pytest.raises(ValueError, match="prim is a reserved namespace"):
        Library("prim", kind)
    assert repr(Library("prim", "IMPL")) == "Library(kind=IMPL, ns=prim, dispatch_key=)>"


def test_an_operator_may_stand_for_its_name(library: Library, operator: Operator, tensor: Make) -> None:
    library.impl(operator, lambda x: "here", "CPU")
    assert operator(tensor()) == "here"
    with pytest.raises(
        RegistrationError, match="either a name or an OpOverload object as the first argument, got <class"
    ):
        library.impl(3, len, "CPU")  # type: ignore[arg-type]


def test_an_unknown_analysis_of_aliases_is_refused(library: Library) -> None:
    library.define("g(Tensor x) -> Tensor", "CONSERVATIVE")
    with pytest.raises(RuntimeError, match="Invalid alias_analysis type PURE"):
        library.define("h(Tensor x) -> Tensor", "PURE")


TAGGED: list[tuple[Tag, str, str | None]] = [
    (Tag.inplace, "f(Tensor(a!) x, int n) -> Tensor(a!)", None),
    (Tag.inplace, "f(*, Tensor(a!) x) -> Tensor(a!)", "must have at least one positional argument"),
    (Tag.inplace, "f(Tensor x) -> Tensor", "requires the first positional argument to be mutable"),
    (Tag.inplace, "f(Tensor(a!)[] x) -> ()", "requires the first positional argument to be a Tensor. Got type"),
    (Tag.inplace, "f(Tensor(a!) x) -> ()", r"must return exactly one value \(the first argument\). Got 0 returns"),
    (Tag.inplace, "f(Tensor(a!) x) -> Tensor", "must return the first mutable argument"),
    (Tag.inplace, "f(Tensor(a!) x, Tensor(b!) y) -> Tensor(a!)", r"Found additional mutable args: \['y'\]"),
    (Tag.out, "f(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", None),
    (Tag.out, "f(Tensor x) -> Tensor", "must have at least one mutable argument"),
    (Tag.out, "f(Tensor(a!) x) -> Tensor(a!)", r"Found mutable positional args: \['x'\]"),
    (Tag.out, "f(Tensor x, *, Tensor(a!)[] out) -> ()", "only supports Tensor mutable arguments"),
    (Tag.out, "f(Tensor x, *, Tensor(a!) out) -> ()", r"must return all mutable arguments \(got 1 mutable args but 0"),
    (Tag.out, "f(Tensor x, *, Tensor(a!) out) -> Tensor", "must alias mutable arg 'out'"),
]


@pytest.mark.parametrize(("tag", "schema", "refused"), TAGGED)
def test_a_tag_asks_for_a_schema_as_pytorchs_does(
    library: Library, require: Require, tag: Tag, schema: str, refused: str | None
) -> None:
    torch = require("torch")
    with torch.library._scoped_library(f"glasstorch_tag_{next(_names)}", "DEF") as theirs:
        if refused is None:
            theirs.define(schema, tags=getattr(torch.Tag, tag.name))
            assert library.define(schema, tags=tag).tags == [tag]
            return
        with pytest.raises(ValueError, match=rf"(Return 0 of s|S)chema tagged with torch\.Tag\.{tag.name} "):
            theirs.define(schema, tags=getattr(torch.Tag, tag.name))
    with pytest.raises(ValueError, match=f"Schema tagged with torch.Tag.{tag.name} .*{refused}"):
        library.define(schema, tags=tag)


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
    with pytest.raises(RegistrationError, match='using library fragment on the global namespace "_" but it is sample'):
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


def test_the_end_of_a_library_that_was_closed_empties_no_table() -> None:
    library = Library("aten", "IMPL")
    library.impl("neg", lambda x: x, "Meta")
    library.close()
    before = registry.generation
    del library
    gc.collect()
    assert registry.generation == before
