"""Does an operator's table always hold the kernel that is in force?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from glasstorch.core.errors import RegistrationError
from glasstorch.core.keys import CPU_KEYS, META_KEYS, below, key_set_of
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch import resolve as resolve_module
from glasstorch.dispatch.active_keys import compute_keys, include
from glasstorch.dispatch.library import Library
from glasstorch.dispatch.operator import Operator, keys_of, registry, tensors_of

Make = Callable[..., TensorImpl]
Require = Callable[[str], Any]


def test_a_key_set_is_resolved_once(
    library: Library, operator: Operator, tensor: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.impl("op", lambda x: "cpu", "CPU")
    resolved: list[int] = []
    plain = resolve_module.resolve

    def counting(operator: Operator, keys: int) -> Any:
        resolved.append(keys)
        return plain(operator, keys)

    monkeypatch.setattr(registry, "resolve", counting)
    for _ in range(3):
        assert operator(tensor()) == "cpu"
    with include(key_set_of("Tracer")):
        assert operator(tensor()) == "cpu"
    assert resolved == [compute_keys(CPU_KEYS), compute_keys(CPU_KEYS) | key_set_of("Tracer")]


def test_a_registration_is_in_force_at_the_next_call(library: Library, operator: Operator, tensor: Make) -> None:
    library.impl("op", lambda x: "cpu", "CPU")
    assert operator(tensor()) == "cpu"
    library.impl("op", lambda x: "autograd", "Autograd")
    assert operator(tensor()) == "autograd"


def test_a_registration_leaves_the_tables_of_other_operators(
    library: Library, operator: Operator, tensor: Make
) -> None:
    other = library.define("other(Tensor x) -> Tensor")
    library.impl("op", lambda x: x, "CPU")
    operator(tensor())
    library.impl("other", lambda x: x, "CPU")
    assert list(operator.table) == [compute_keys(CPU_KEYS)]
    assert not other.table


def test_a_resolver_that_started_before_a_registration_does_not_store(
    library: Library, operator: Operator, tensor: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.impl("op", lambda x: "old", "CPU")
    plain = resolve_module.resolve

    def interrupted(operator: Operator, keys: int) -> Any:
        resolution = plain(operator, keys)
        monkeypatch.undo()
        library.impl("op", lambda x: "new", "CPU", allow_override=True)  # as another thread might, just now
        return resolution

    monkeypatch.setattr(registry, "resolve", interrupted)
    assert operator(tensor()) == "old"
    assert not operator.table
    assert operator(tensor()) == "new"


def test_threads_that_call_while_others_register_end_with_the_last_kernel(
    library: Library, operator: Operator, tensor: Make
) -> None:
    library.impl("op", lambda x: 0, "CPU")
    stop = threading.Event()
    seen: set[int] = set()
    failures: list[BaseException] = []

    def call() -> None:
        try:
            while not stop.is_set():
                seen.add(operator(tensor()))
        except Exception as error:  # noqa: BLE001  # told to the main thread
            failures.append(error)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for version in range(1, 300):
        library.impl("op", lambda x, version=version: version, "CPU", allow_override=True)
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert seen <= set(range(300))
    assert operator(tensor()) == 299


# Arguments ------------------------------------------------------------------------------------------------------


SEVERAL = "several(Tensor x, int[] size, int n=2, *, bool flag=True, Scalar scale) -> Tensor"


@pytest.fixture
def several(library: Library) -> Operator:
    """An operator with every kind of parameter; its kernel returns what it got."""
    operator = library.define(SEVERAL)
    library.impl("several", lambda keys, *args, **kwargs: (args[1:], kwargs), "CPU", with_keyset=True)
    return operator


def test_arguments_are_bound_in_the_order_of_the_schema(several: Operator, tensor: Make) -> None:
    x = tensor()
    assert several.bind([x, [1]], {"scale": 3}) == [x, [1], 2, True, 3]
    assert several.bind([x], {"scale": 3, "n": 5, "size": [1], "flag": False}) == [x, [1], 5, False, 3]
    assert several(x, [1], scale=3) == (([1],), {"scale": 3})
    assert several(x, [1], 4, scale=3, flag=False) == (([1], 4), {"scale": 3, "flag": False})


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        (([1], 2, 3), {}, r"several\(\) takes 3 positional argument\(s\) but 4 was/were given"),
        (([1],), {}, r"several\(\) is missing value for argument 'scale'"),
        ((), {"scale": 1}, "is missing value for argument 'size'"),
        (([1],), {"scale": 1, "size": [2]}, "Argument 'size' specified both as positional and keyword argument"),
        (([1],), {"scale": 1, "other": 2}, "Unknown keyword argument 'other' for operator"),
    ],
)
def test_arguments_that_do_not_fit_the_schema_are_refused_as_in_pytorch(
    several: Operator, tensor: Make, require: Require, args: tuple[object, ...], kwargs: dict[str, object], message: str
) -> None:
    with pytest.raises(RuntimeError, match=message):
        several(tensor(), *args, **kwargs)
    torch = require("torch")
    with torch.library._scoped_library("glasstorch_arguments", "DEF") as theirs:
        theirs.define(SEVERAL)
        with pytest.raises(RuntimeError, match=message):
            torch.ops.glasstorch_arguments.several(torch.ones(1), *args, **kwargs)


def test_a_number_may_stand_for_a_tensor_of_the_librarys_operators_and_nothing_else_may(
    library: Library, tensor: Make
) -> None:
    assert registry.find("aten::add.Tensor")(3, 2.5).item() == 5.5
    assert registry.find("aten::mul.Tensor")(3, 2j).item() == 6j
    operator = library.define("f(Tensor x, Tensor? y=None, Tensor[] z=[]) -> Tensor")
    library.impl("f", lambda x, *rest: x, "CPU")
    with pytest.raises(
        RuntimeError, match=r"f\(\) Expected a value of type 'Tensor\?' for argument 'y' but instead found"
    ):
        operator(tensor(), "a")
    with pytest.raises(
        RuntimeError, match="Expected a value of type 'Tensor' for argument 'x' but instead found type 'int"
    ):
        operator(3)
    with pytest.raises(
        RuntimeError, match="Expected a value of type 'Tensor' for argument 'x' but instead found type 'None"
    ):
        operator(None)


def test_the_keys_of_a_call_come_from_all_tensors_in_lists_too(tensor: Make) -> None:
    cpu, meta = tensor(), tensor(META_KEYS)
    assert keys_of([cpu, None, 3, [None, (meta,)]]) == CPU_KEYS | META_KEYS
    assert keys_of([1, "x"]) == 0
    assert list(tensors_of([cpu, None, 3, [None, (meta,)]])) == [cpu, meta]


def test_redispatching_goes_on_below_the_given_keys(library: Library, operator: Operator, tensor: Make) -> None:
    library.impl("op", lambda x: "cpu", "CPU")
    library.impl(
        "op", lambda keys, x: "autograd over " + operator.redispatch(keys & below("AutogradOther"), x), "Autograd",
        with_keyset=True,
    )  # fmt: skip
    assert operator(tensor()) == "autograd over cpu"


# Names ----------------------------------------------------------------------------------------------------------


def test_operators_are_found_by_name_and_listed_by_overload(library: Library) -> None:
    plain = library.define("f(Tensor x) -> Tensor")
    named = library.define("f.int(Tensor x, int n) -> Tensor")
    library.define("fg(Tensor x) -> Tensor")
    assert registry.find("sample::f.int") is named
    assert registry.overloads("sample", "f") == [plain, named]
    assert (named.namespace, named.overload_name, plain.overload_name) == ("sample", "int", "")
    assert (str(named), repr(named)) == ("sample.f.int", "<OpOverload(op='sample.f', overload='int')>")


def test_an_unknown_operator_is_refused_with_the_form_of_a_name() -> None:
    with pytest.raises(RegistrationError, match="there is no operator 'sample::f'; expected namespace::name"):
        registry.find("sample::f")


def test_an_operator_knows_for_which_keys_it_has_kernels(library: Library, operator: Operator) -> None:
    with Library("sample", "IMPL") as other:
        other.impl("op", lambda x: x, "CPU")
        assert operator.has_kernel_for("CPU")
        assert not operator.has_kernel_for("Meta")
    assert not operator.has_kernel_for("CPU")
