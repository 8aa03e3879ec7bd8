"""Are operators found and called by their own names as under PyTorch?"""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch.dispatch.operator import registry
from glasstorch.operators import direct


@pytest.fixture(params=["glasstorch", "torch"])
def torch(request: pytest.FixtureRequest, require: Callable[[str], Any]) -> Any:
    """The library under test."""
    return require(request.param)


def test_a_packet_picks_an_overload_and_an_overload_is_one_operator(torch: Any) -> None:
    x = torch.ones(2)
    aten = torch.ops.aten
    assert aten.add(x, x).tolist() == [2.0, 2.0]
    assert aten.add.Tensor(x, x, alpha=2).tolist() == [3.0, 3.0]
    assert aten.sum(x).item() == 2.0
    assert aten.sum.dim_IntList(x, [0], True).tolist() == [2.0]
    assert (
        aten.mm.default(torch.eye(2) if hasattr(torch, "eye") else torch.ones(2, 2), torch.zeros(2, 2)).sum().item()
        == 0
    )
    assert {"Tensor", "out"} <= set(aten.add.overloads())
    assert "default" in aten.mm.overloads()


def test_names_print_as_pytorch_prints_them(torch: Any) -> None:
    aten = torch.ops.aten
    assert [str(aten.add), str(aten.add.Tensor), str(aten.mm.default)] == [
        "aten.add",
        "aten.add.Tensor",
        "aten.mm.default",
    ]
    assert repr(aten.add) == "<OpOverloadPacket(op='aten.add')>"
    assert repr(aten.add.Tensor) == "<OpOverload(op='aten.add', overload='Tensor')>"
    assert str(aten.add.Tensor._schema) == "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"


def test_what_does_not_exist_is_an_attribute_error(torch: Any) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing_like_it'"):
        torch.ops.aten.nothing_like_it  # noqa: B018
    with pytest.raises(AttributeError, match=r"The underlying op of 'aten.add' has no overload name 'Nothing'"):
        torch.ops.aten.add.Nothing  # noqa: B018
    assert not hasattr(torch.ops.no_such_namespace, "f")


def test_an_integer_stands_for_a_list_that_has_a_length(torch: Any) -> None:
    x, aten = torch.arange(16.0).view(1, 4, 4), torch.ops.aten
    assert aten.max_pool2d.default(x, 2).tolist() == aten.max_pool2d.default(x, [2, 2]).tolist()
    assert aten.sum.dim_IntList(x, 1).tolist() == aten.sum.dim_IntList(x, [1]).tolist()
    refused = (
        r"aten::flip\(\) Expected a value of type 'List\[int\]' for argument 'dims' but instead found type 'int'\."
    )
    with pytest.raises(RuntimeError, match=refused + r"\nPosition: 1\nValue: 0\nDeclaration: aten::flip\("):
        aten.flip.default(x, 0)
    with pytest.raises(RuntimeError, match=refused):
        aten.flip.default(self=x, dims=0)


def test_a_users_operator_appears_and_goes_with_its_library(torch: Any) -> None:
    with torch.library._scoped_library("glasstorch_ops", "DEF") as library:
        library.define("f(Tensor x, int n=2) -> Tensor")
        library.impl("f", lambda x, n=2: x * n, "CompositeImplicitAutograd")
        x = torch.ones(1, requires_grad=True)
        y = torch.ops.glasstorch_ops.f(x, 3)
        assert (y.tolist(), y.grad_fn.name()) == ([3.0], "MulBackward0")
        assert torch.ops.glasstorch_ops.f(x).tolist() == [2.0]
        assert torch.ops.glasstorch_ops.f.default(x).tolist() == [2.0]


def test_the_packet_of_a_closed_library_is_gone() -> None:
    with glasstorch.library.Library("gone", "DEF") as library:
        library.define("f(Tensor x) -> Tensor")
        library.impl("f", lambda x: x, "CPU")
        packet = glasstorch.ops.gone.f
        assert packet(glasstorch.ones(1)).tolist() == [1.0]
    assert not hasattr(glasstorch.ops.gone, "f")
    assert "gone" not in dir(glasstorch.ops)
    with glasstorch.library.Library("gone", "DEF") as library:
        library.define("f(Tensor x, int n) -> Tensor")
        library.impl("f", lambda x, n: x + n, "CPU")
        assert packet(glasstorch.ones(1), 2).tolist() == [3.0]  # it looks its overloads up again


def test_calling_directly_is_calling_the_operator() -> None:
    x = glasstorch.arange(6.0).view(2, 3)
    assert direct.on_tensor("transpose.int")(x, 0, 1).tolist() == registry.find("aten::transpose.int")(x, 0, 1).tolist()
    made = direct.factory("zeros")([2], None, None, None, None)
    assert made.tolist() == glasstorch.ops.aten.zeros.default([2]).tolist()


def test_an_overload_says_what_is_said_of_it(torch: Any) -> None:
    ours = {"core", "pointwise", "inplace", "inplace_view", "dynamic_output_shape", "nondeterministic_seeded"}
    said = {
        name: [tag.name for tag in overload.tags if tag.name in ours]
        for name, overload in {
            "add": torch.ops.aten.add.Tensor,
            "add_": torch.ops.aten.add_.Tensor,
            "t_": torch.ops.aten.t_.default,
            "nonzero": torch.ops.aten.nonzero.default,
            "uniform_": torch.ops.aten.uniform_.default,
        }.items()
    }
    assert said == {
        "add": ["core", "pointwise"],
        "add_": ["inplace", "pointwise"],
        "t_": ["inplace", "inplace_view"],
        "nonzero": ["core", "dynamic_output_shape"],
        "uniform_": ["inplace", "nondeterministic_seeded"],
    }
    assert torch.Tag.core in torch.ops.aten.add.Tensor.tags


def test_an_operator_of_the_users_has_tags(torch: Any) -> None:
    library = torch.library.Library("tagged", "DEF")
    library.define("one(Tensor x) -> Tensor", tags=torch.Tag.pointwise)
    library.define("two(Tensor x) -> Tensor", tags=(torch.Tag.core, torch.Tag.pointwise))
    library.define("three(Tensor x) -> Tensor")
    try:
        ops = torch.ops.tagged
        assert ops.one.default.tags == [torch.Tag.pointwise]
        assert ops.two.default.tags == [torch.Tag.core, torch.Tag.pointwise]
        assert ops.three.default.tags == []
    finally:
        getattr(library, "close", library._destroy if hasattr(library, "_destroy") else lambda: None)()


# What an overload and a packet say of themselves ------------------------------------------------------------------

SAID = [
    "add.Tensor.name()",
    "add.Tensor._name",
    "add.Tensor.__name__",
    "add.Tensor.__qualname__",
    "add.Tensor._namespace",
    "add.Tensor.namespace",
    "add.Tensor._opname",
    "add.Tensor._overloadname",
    "mm.default._overloadname",
    "mm.default.__name__",
    "add.Tensor.is_view",
    "add_.Tensor.is_view",
    "t.default.is_view",
    "add.Tensor._defined_in_python",
    "repr(add.Tensor.overloadpacket)",
    "add.Tensor._can_decompose()",
    "reshape.default._can_decompose()",
    "copy.deepcopy(add.Tensor) is add.Tensor",
    "copy.deepcopy(add) is add",
    "add.__name__",
    "add._qualified_op_name",
    "mm.overloads()[0]",
    "str(mm._schemas[''])",
    "mm.op_overloads()[0] is mm.default",
    "list(mm)[0]",
]


@pytest.mark.parametrize("said", SAID)
def test_an_overload_and_a_packet_say_of_themselves_what_pytorchs_say(require: Callable[[str], Any], said: str) -> None:
    answers = []
    for library in (require("torch"), glasstorch):
        aten = library.ops.aten
        names = {name: getattr(aten, name) for name in ("add", "add_", "mm", "t", "reshape")}
        answers.append(eval(said, {"copy": copy, **names}))
    assert answers[1] == answers[0]


def test_a_composite_operator_can_be_decomposed_and_another_cannot(torch: Any) -> None:
    x = torch.ones(4)
    assert torch.ops.aten.reshape.default.decompose(x, [2, 2]).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert torch.ops.aten.add.Tensor.decompose(x, x) is NotImplemented


def test_a_call_may_be_redispatched_with_a_key_set(torch: Any) -> None:
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
    x = torch.ones(2, requires_grad=True)
    result = torch.ops.aten.add.Tensor.redispatch(keys, x, x, alpha=2)
    assert (result.tolist(), result.requires_grad) == ([3.0, 3.0], False)


def test_a_python_kernel_is_kept_and_not_overridden(torch: Any) -> None:
    with torch.library._scoped_library("glasstorch_py", "DEF") as library:
        library.define("f(Tensor x) -> Tensor")
        f = torch.ops.glasstorch_py.f.default
        key = torch._C.DispatchKey.CompositeImplicitAutograd

        @f.py_impl(key)
        def composed(x: Any) -> Any:
            return x + 1

        assert f.py_kernels[key] is composed
        assert f.has_kernel_for_dispatch_key(key)
        assert f.decompose(torch.ones(1)).tolist() == [2.0]
        with pytest.raises(RuntimeError, match="Trying to override a python impl for"):
            f.py_impl(key)(composed)


@pytest.mark.parametrize(
    "call",
    [
        lambda torch, x: torch.ops.aten.add(x, x, 2),
        lambda torch, x: torch.ops.aten.add(x),
        lambda torch, x: torch.ops.aten.add("a", 3),
        lambda torch, x: torch.ops.aten.mm(x),
        lambda torch, x: torch.ops.aten.mm(x, "a"),
    ],
)
def test_a_packet_without_a_fitting_overload_says_why_of_each(require: Callable[[str], Any], call: Any) -> None:
    messages = []
    for library in (require("torch"), glasstorch):
        with pytest.raises(RuntimeError) as error:
            call(library, library.ones(1))
        messages.append(str(error.value).splitlines())
    assert messages[1][0] == messages[0][0]
    own = [line for line in messages[1] if line and "out" not in line]
    assert set(own) <= set(messages[0])


def test_operators_that_take_functions_are_said_to_be_missing() -> None:
    with pytest.raises(AttributeError, match="no attribute 'cond': operators that take functions, as cond"):
        glasstorch.ops.higher_order.cond  # noqa: B018


def test_a_namespace_is_a_module_that_names_its_operators(torch: Any) -> None:
    assert repr(torch.ops.aten) == "<module 'torch.ops.aten' from 'torch.ops'>"
    torch.ops.import_module("json")
    assert torch.ops.aten.mm.__name__ in list(torch.ops.aten)


def test_what_is_no_library_is_an_os_error(torch: Any, tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("not a library")
    for path in ("nonexistent.so", str(text)):
        with pytest.raises(OSError, match=f"Could not load this library: .*{Path(path).name}"):
            torch.ops.load_library(path)
    assert not {"nonexistent.so", str(text)} & torch.ops.loaded_libraries
