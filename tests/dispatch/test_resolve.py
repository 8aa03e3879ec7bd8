"""Does a key set resolve to the kernel that PyTorch would run?"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasstorch.core.errors import MissingKernelError
from glasstorch.core.keys import (
    ALIASES,
    CPU_KEYS,
    FUNCTIONALITY_BIT,
    META_KEYS,
    DispatchKey,
    DispatchKeySet,
    below,
    key_set_of,
)
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch import resolve as resolve_module
from glasstorch.dispatch.active_keys import compute_keys
from glasstorch.dispatch.guards import AutoDispatchBelowAutograd
from glasstorch.dispatch.library import KernelTable, Library
from glasstorch.dispatch.operator import Kernel, Operator, fallthrough_kernel, registry
from glasstorch.dispatch.resolve import (
    AUTOGRAD_KEYS,
    BACKEND_FALLBACK,
    MISSING,
    Choice,
    backends_of,
    choose,
    computed_table,
    next_hop,
    resolve,
)
from tests.dispatch.both import REGISTERED, registered_in_both
from tests.strategies import steady

Require = Callable[[str], Any]
Make = Callable[..., TensorImpl]


def rules(operator: Operator, *keys: str) -> dict[str, str]:
    return {key: choose(operator, DispatchKey[key]).rule for key in keys}


# The hops ---------------------------------------------------------------------------------------------------------


def test_a_key_that_passes_by_does_so_on_all_its_backends() -> None:
    keys = key_set_of("CPU", "Meta", "AutogradCPU", "ADInplaceOrView")
    asked: list[str] = []

    def passes_by(key: DispatchKey) -> bool:
        asked.append(key.name)
        return key.name in ("AutogradMeta", "ADInplaceOrView")

    assert next_hop(keys, passes_by) == (
        DispatchKey.Meta,
        (DispatchKey.AutogradMeta, DispatchKey.ADInplaceOrView),
    )
    assert asked == ["AutogradMeta", "ADInplaceOrView", "Meta"]


def test_where_all_keys_pass_by_the_next_is_undefined() -> None:
    keys = key_set_of("CPU", "AutogradCPU")
    assert next_hop(keys, lambda key: True) == (
        DispatchKey.Undefined,
        (DispatchKey.AutogradCPU, DispatchKey.CPU),
    )
    assert next_hop(0, lambda key: True) == (DispatchKey.Undefined, ())


# The rules ------------------------------------------------------------------------------------------------------


def test_a_composite_kernel_serves_backends_and_autograd_alike(library: Library, operator: Operator) -> None:
    library.impl("op", lambda x: x, "CompositeImplicitAutograd")
    assert rules(operator, "CPU", "AutogradCPU", "ADInplaceOrView") == {
        "CPU": "math kernel",
        "AutogradCPU": "math kernel",
        "ADInplaceOrView": "backend fallback",
    }


def test_an_explicit_composite_kernel_serves_backends_only(library: Library, operator: Operator) -> None:
    library.impl("op", lambda x: x, "CompositeExplicitAutograd")
    assert rules(operator, "CPU", "AutogradCPU") == {"CPU": "default backend kernel", "AutogradCPU": "backend fallback"}


def test_a_cpu_kernel_on_a_composite_operator_moves_autograd_to_its_fallback(
    library: Library, operator: Operator
) -> None:
    library.impl("op", lambda x: x, "CompositeImplicitAutograd")
    before = rules(operator, "CPU", "AutogradCPU", "CUDA", "AutogradCUDA")
    library.impl("op", lambda x: x, "CPU")
    after = rules(operator, "CPU", "AutogradCPU", "CUDA", "AutogradCUDA")
    assert set(before.values()) == {"math kernel"}
    assert after == {
        "CPU": "kernel",
        "AutogradCPU": "backend fallback",
        "CUDA": "math kernel",
        "AutogradCUDA": "math kernel",
    }


def test_a_kernel_for_the_very_key_comes_first(library: Library, operator: Operator) -> None:
    for key in ("CompositeExplicitAutograd", "Autograd", "AutogradCPU"):
        library.impl("op", lambda x: x, key)
    assert rules(operator, "AutogradCPU", "AutogradCUDA") == {
        "AutogradCPU": "kernel",
        "AutogradCUDA": "autograd kernel",
    }


def test_two_kernels_that_cannot_both_serve_are_told_apart(library: Library, operator: Operator, tensor: Make) -> None:
    library.impl("op", lambda x: x, "CompositeImplicitAutograd")
    library.impl("op", lambda x: x, "SparseCPU")
    assert rules(operator, "AutogradOther", "AutogradCPU") == {
        "AutogradOther": "ambiguous autogradother",
        "AutogradCPU": "math kernel",
    }
    with pytest.raises(MissingKernelError, match="AutogradOther records, and the two cannot both serve it"):
        operator(tensor(key_set_of("SparseCPU", "AutogradOther")))


def test_the_computed_table_lists_the_keys_of_a_set_from_the_highest(library: Library, operator: Operator) -> None:
    library.impl("op", lambda x: x, "CPU")
    table = computed_table(operator, CPU_KEYS)
    assert [(c.key.name, c.rule) for c in table] == [
        ("AutocastCPU", "backend fallback"),
        ("AutogradCPU", "backend fallback"),
        ("ADInplaceOrView", "backend fallback"),
        ("CPU", "kernel"),
    ]


def test_a_resolution_says_which_keys_fell_through(library: Library, operator: Operator) -> None:
    library.impl("op", lambda x: x, "CPU")
    resolution = resolve(operator, compute_keys(CPU_KEYS))
    assert resolution.choice.key is DispatchKey.CPU
    assert [key.name for key in resolution.skipped] == ["AutogradCPU", "ADInplaceOrView", "BackendSelect"]


def test_a_kernel_that_is_replaced_while_a_call_is_resolved_is_still_the_one_that_runs(
    library: Library, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.impl("op", lambda x: "old", "CPU")

    def chosen_and_replaced(operator: Operator, key: DispatchKey) -> Choice:
        choice = choose(operator, key)
        if key is DispatchKey.CPU:
            library.impl("op", fallthrough_kernel, "CPU", allow_override=True)  # as another thread might, just now
        return choice

    monkeypatch.setattr(resolve_module, "choose", chosen_and_replaced)
    found = resolve(operator, key_set_of("CPU"))
    assert found.choice.kernel is not None
    assert found.choice.kernel.function is not fallthrough_kernel


def test_a_fallthrough_registered_for_one_operator_skips_its_key(
    library: Library, operator: Operator, tensor: Make
) -> None:
    library.impl("op", lambda x: "cpu", "CPU")
    library.impl("op", lambda x: "autograd", "Autograd")
    library.impl("op", fallthrough_kernel, "AutogradCPU")
    assert operator(tensor()) == "cpu"


# What is missing ------------------------------------------------------------------------------------------------


def test_a_missing_kernel_names_the_key_and_what_there_is(library: Library, operator: Operator, tensor: Make) -> None:
    library.impl("op", lambda x: x, "CUDA")
    with pytest.raises(MissingKernelError) as error:
        operator(tensor())
    assert isinstance(error.value, NotImplementedError)
    assert "Could not run 'sample::op' with arguments from the 'CPU' backend" in str(error.value)
    assert "only available for these backends: [CUDA, Meta, BackendSelect, Python, " in str(error.value)
    assert "Library('sample', 'IMPL').impl('op', kernel, 'CPU')" in str(error.value)


def test_an_operator_without_a_kernel_for_meta_asks_for_one(library: Library, operator: Operator, tensor: Make) -> None:
    library.impl("op", lambda x: x, "CPU")
    with pytest.raises(MissingKernelError, match="sample::op: attempted to run this operator with Meta tensors"):
        operator(tensor(META_KEYS))
    library.impl("op", lambda x: x, "Meta")
    operator(tensor(META_KEYS))


def test_a_call_without_tensors_needs_a_kernel_that_runs_without(library: Library) -> None:
    made = library.define("make(int n) -> Tensor")
    library.impl("make", lambda n: n, "CPU")
    with pytest.raises(MissingKernelError, match=r"There were no tensor arguments .* It has kernels for: \['CPU'\]"):
        made(3)
    library.impl("make", lambda n: n + 1, "CompositeExplicitAutograd")
    assert made(3) == 4


def test_a_fallthrough_for_all_backends_is_no_kernel_where_no_key_is_left(
    library: Library, operator: Operator, tensor: Make
) -> None:
    library.impl("op", fallthrough_kernel, "CompositeExplicitAutograd")
    with pytest.raises(MissingKernelError, match="There were no tensor arguments"):
        operator(tensor())


def test_an_operator_with_nothing_but_fallthroughs_is_missing_a_kernel(
    library: Library, operator: Operator, tensor: Make
) -> None:
    library.impl("op", fallthrough_kernel, "CPU")
    with pytest.raises(MissingKernelError, match="There were no tensor arguments"):
        operator(tensor())


# What surrounds a kernel ----------------------------------------------------------------------------------------


def recording(*_: object) -> bool:
    """A kernel: whether the operators that it called would be recorded."""
    return bool(compute_keys(CPU_KEYS) & FUNCTIONALITY_BIT["AutogradFunctionality"])


@pytest.fixture
def internal() -> Iterator[Callable[[str], Operator]]:
    """Makes operators of the library's own namespace whose kernel, made of other operators, is `recording`."""
    with Library("aten", "FRAGMENT") as library:

        def make(key: str) -> Operator:
            operator = library.define(f"_sample_{key}(Tensor x) -> Tensor")
            KernelTable(key, calls_operators=True, takes_keys=False).add(f"_sample_{key}", recording)
            return operator

        yield make


def test_the_parts_of_an_operator_that_is_differentiated_as_a_whole_are_not_recorded(
    internal: Callable[[str], Operator], tensor: Make
) -> None:
    assert recording()
    assert internal("CompositeImplicitAutograd")(tensor())
    assert not internal("CompositeExplicitAutograd")(tensor())
    assert not internal("CPU")(tensor())
    assert recording()


def test_the_guard_goes_when_a_kernel_raises(library: Library, operator: Operator, tensor: Make) -> None:
    def fail(x: object) -> None:
        assert not recording()
        raise ValueError

    library.register("op", Kernel(fail, DispatchKey.CPU, "here"))
    with pytest.raises(ValueError):
        operator.redispatch(CPU_KEYS & below("ADInplaceOrView"), tensor())
    assert recording()


def test_a_users_kernel_is_recorded_unless_an_autograd_kernel_switches_that_off(
    library: Library, operator: Operator, tensor: Make
) -> None:
    library.impl("op", lambda x: recording(), "CPU")
    assert operator(tensor())

    def below_autograd(keys: int, x: TensorImpl) -> object:
        recorded = operator.redispatch(keys & below("AutogradOther"), x)
        with AutoDispatchBelowAutograd():
            return recorded, operator.redispatch(keys & below("AutogradOther"), x)

    library.impl("op", below_autograd, "Autograd", with_keyset=True)
    assert operator(tensor()) == (True, False)


# What a key does for all operators ------------------------------------------------------------------------------


def test_a_fallback_serves_every_operator_without_a_kernel_for_its_key(library: Library, tensor: Make) -> None:
    one, two = library.define("one(Tensor x) -> Tensor"), library.define("two(Tensor x, int n=1) -> Tensor")
    library.impl("one", lambda x: "kernel", "PrivateUse1")
    keys = key_set_of("PrivateUse1")
    with Library("_", "IMPL") as fallbacks:
        fallbacks.fallback(lambda operator, *args, **kwargs: (operator.name, args[1:], kwargs), "PrivateUse1")
        assert one(tensor(keys)) == "kernel"
        assert two(tensor(keys)) == ("sample::two", (), {})
        assert two(tensor(keys), 2) == ("sample::two", (2,), {})
        assert choose(two, DispatchKey.PrivateUse1).rule == BACKEND_FALLBACK
    assert choose(two, DispatchKey.PrivateUse1).rule == MISSING
    with pytest.raises(MissingKernelError):
        two(tensor(keys))


def test_a_fallback_may_be_told_the_keys(library: Library, operator: Operator, tensor: Make) -> None:
    library.impl("op", lambda x: "cpu", "CPU")

    def trace(keys: int, operator: Operator, x: TensorImpl) -> object:
        return "traced", operator.redispatch(keys & below("TESTING_ONLY_GenericMode"), x)

    with Library("_", "IMPL") as fallbacks:
        fallbacks.fallback(trace, "TESTING_ONLY_GenericMode", with_keyset=True)
        assert operator(tensor(CPU_KEYS | key_set_of("TESTING_ONLY_GenericMode"))) == ("traced", "cpu")


def test_keys_that_most_operators_do_not_care_about_are_passed_through() -> None:
    passed = {key.name for key, kernel in registry.fallbacks.items() if kernel.function is fallthrough_kernel}
    assert {"AutogradCPU", "AutogradOther", "ADInplaceOrView", "BackendSelect", "AutocastCPU"} <= passed
    assert not passed & {"CPU", "Meta", "Python", "Functionalize", "Tracer"}


# Against PyTorch ------------------------------------------------------------------------------------------------

NO_RULE_OF_THE_OPERATORS = "a backend fallback, or nothing"  # which fallbacks there are is another matter
_names = itertools.count()


@settings(steady, max_examples=60)
@given(st.sets(st.sampled_from(REGISTERED), max_size=6))
def test_every_key_resolves_by_the_rule_that_pytorch_names(require: Require, keys: set[str]) -> None:
    torch = require("torch")
    with registered_in_both(torch, keys) as (theirs, operator):
        lines = torch._C._dispatch_dump_table(theirs).splitlines()
        table = dict(re.fullmatch(r"(\w+): .*\[([a-z ]+)\]", line).groups() for line in lines)  # type: ignore[union-attr]
        for key in DispatchKey:
            if key.name not in ALIASES:
                assert _rule(choose(operator, key).rule) == _rule(table.get(key.name, MISSING)), key.name


def _rule(rule: str) -> str:
    return NO_RULE_OF_THE_OPERATORS if rule in (BACKEND_FALLBACK, MISSING) else rule


LADDER = ("AutogradCPU", "ADInplaceOrView", "BackendSelect", "CPU")


@pytest.mark.parametrize("kinds", list(itertools.product(("kernel", "fallthrough", "nothing"), repeat=4)), ids=str)
def test_a_call_runs_the_kernel_that_it_runs_in_pytorch(require: Require, kinds: tuple[str, ...], tensor: Make) -> None:
    torch = require("torch")
    name = f"glasstorch_ladder_{next(_names)}"
    with torch.library._scoped_library(name, "DEF") as theirs, Library(name, "DEF") as ours:
        theirs.define("op(Tensor x) -> Tensor")
        operator = ours.define("op(Tensor x) -> Tensor")
        ran: list[str] = []
        for key, kind in zip(LADDER, kinds, strict=True):
            if kind == "kernel":
                theirs.impl("op", lambda x, key=key: (ran.append(key), x)[1], key)
                ours.impl("op", lambda x, key=key: (ran.append(key), x)[1], key)
            elif kind == "fallthrough":
                theirs.impl("op", torch.library.fallthrough_kernel, key)
                ours.impl("op", fallthrough_kernel, key)
        calls = (
            lambda: getattr(torch.ops, name).op(torch.ones(1)),
            lambda: operator(tensor()),
        )
        outcomes = []
        for call in calls:
            ran.clear()
            try:
                call()
            except NotImplementedError:
                ran.append("missing")
            outcomes.append(list(ran))
        assert outcomes[0] == outcomes[1]


def test_the_backends_of_every_autograd_key_are_pytorchs(require: Require) -> None:
    torch = require("torch")
    for key in AUTOGRAD_KEYS:
        theirs = torch._C._dispatch_get_backend_keyset_from_autograd(getattr(torch._C.DispatchKey, key.name))
        assert repr(theirs) == repr(DispatchKeySet(key_set_of(*backends_of(key)))), key.name
    assert not backends_of(DispatchKey.AutogradHIP)  # one of three that PyTorch's list forgets
