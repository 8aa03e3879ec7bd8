"""Does a trace record every kernel of its own context, and nothing else?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import glasstorch.dispatch
from glasstorch.core.keys import (
    ALL_BACKENDS,
    CPU_KEYS,
    FUNCTIONALITY_BIT,
    META_KEYS,
    DispatchKey,
    below,
    key_set_of,
)
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.active_keys import compute_keys
from glasstorch.dispatch.guards import AutoDispatchBelowADInplaceOrView
from glasstorch.dispatch.library import Library
from glasstorch.dispatch.operator import Operator, fallthrough_kernel, registry
from glasstorch.dispatch.resolve import resolve
from glasstorch.dispatch.trace import trace

Make = Callable[..., TensorImpl]


@pytest.fixture
def outer(library: Library) -> Operator:
    """An operator whose CPU kernel calls another, below an autograd kernel."""
    inner = library.define("inner(Tensor x) -> Tensor")
    library.impl("inner", leaf, "CPU")
    operator = library.define("outer(Tensor x) -> Tensor")
    library.impl("outer", lambda x: inner(inner(x)), "CPU")

    def below_autograd(keys: int, x: TensorImpl) -> object:
        with AutoDispatchBelowADInplaceOrView():
            return operator.redispatch(keys & below("AutogradOther"), x)

    library.impl("outer", below_autograd, "Autograd", with_keyset=True)
    return operator


def leaf(x: TensorImpl) -> TensorImpl:
    return x


def test_the_package_offers_it_beside_the_module_of_that_name(outer: Operator, tensor: Make) -> None:
    with glasstorch.dispatch.trace() as recorded:
        outer(tensor())
    assert recorded[0].operator == "sample::outer"
    assert glasstorch.dispatch.trace is trace


def test_every_kernel_is_recorded_in_the_order_in_which_it_began(outer: Operator, tensor: Make) -> None:
    with trace() as recorded:
        outer(tensor())
    assert [(hop.depth, hop.operator, hop.key.name, hop.rule) for hop in recorded] == [
        (0, "sample::outer", "AutogradCPU", "autograd kernel"),
        (1, "sample::outer", "CPU", "kernel"),
        (2, "sample::inner", "CPU", "kernel"),
        (2, "sample::inner", "CPU", "kernel"),
    ]


def test_a_hop_says_which_function_ran_and_where_it_stands(outer: Operator, tensor: Make) -> None:
    with trace() as recorded:
        outer(tensor())
    hop = recorded[2]
    assert hop.kernel == "leaf"
    assert hop.where == f"{Path(__file__)}:{leaf.__code__.co_firstlineno}"
    assert str(recorded).splitlines()[2] == f"    sample::inner  [CPU]  leaf  {hop.where}"
    # The kernel below autograd runs with autograd excluded: the keys of the inner call show it.
    assert repr(recorded.key_set(2)) == "DispatchKeySet(CPU, BackendSelect)"
    assert [key.name for key in hop.skipped] == ["BackendSelect"]


def test_a_builtin_kernel_is_located_by_its_registration(library: Library, operator: Operator, tensor: Make) -> None:
    library.impl("op", id, "CPU")
    with trace() as recorded:
        operator(tensor())
    assert (recorded[0].kernel, recorded[0].where.rpartition(":")[0]) == ("id", __file__)


def test_no_table_keeps_a_recording_entry(outer: Operator, tensor: Make) -> None:
    outer(tensor())
    plain = outer.table[compute_keys(CPU_KEYS)]
    with trace() as recorded:
        outer(tensor())
        assert outer.table[compute_keys(CPU_KEYS)] is not plain
    assert registry.wrap is None
    assert not outer.table
    count = len(recorded)
    outer(tensor())
    assert len(recorded) == count


def test_a_trace_inside_a_trace_takes_over_and_gives_back(outer: Operator, tensor: Make) -> None:
    with trace() as first:
        outer(tensor())
        with trace() as second:
            outer(tensor())
        outer(tensor())
    assert (len(first), len(second)) == (8, 4)
    assert {hop.depth for hop in second} == {0, 1, 2}


def test_a_call_that_raises_ends_its_hops(library: Library, operator: Operator, tensor: Make) -> None:
    def fail(x: object) -> None:
        raise ValueError

    library.impl("op", fail, "CPU")
    with trace() as recorded:
        for _ in range(2):
            with pytest.raises(ValueError):
                operator(tensor())
    assert [hop.depth for hop in recorded] == [0, 0]
    with pytest.raises(ValueError), trace():
        operator(tensor())
    assert registry.wrap is None


def test_a_call_in_another_thread_is_not_recorded_and_runs_as_ever(outer: Operator, tensor: Make) -> None:
    x = tensor()
    results: list[object] = []

    def work() -> None:
        results.extend(outer(x) for _ in range(50))

    with trace() as recorded:
        thread = threading.Thread(target=work)
        thread.start()
        outer(x)
        thread.join()
    assert len(recorded) == 4
    assert results == [x] * 50


def test_traces_in_two_threads_record_their_own_calls(outer: Operator, tensor: Make) -> None:
    barrier = threading.Barrier(2)
    counts: dict[int, int] = {}

    def work(calls: int) -> None:
        with trace() as recorded:
            barrier.wait()
            for _ in range(calls):
                outer(tensor())
            barrier.wait()
        counts[calls] = len(recorded)

    threads = [threading.Thread(target=work, args=(calls,)) for calls in (5, 11)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == {5: 20, 11: 44}
    assert registry.wrap is None


def test_a_registration_while_tracing_is_recorded_too(library: Library, operator: Operator, tensor: Make) -> None:
    library.impl("op", lambda x: "one", "CPU")
    with trace() as recorded:
        operator(tensor())
        library.impl("op", lambda x: "two", "AutogradCPU")
        assert operator(tensor()) == "two"
    assert [hop.key for hop in recorded] == [DispatchKey.CPU, DispatchKey.AutogradCPU]


# What passed by ---------------------------------------------------------------------------------------------------


BELOW = key_set_of("CPU", "BackendSelect")


def names(keys: tuple[DispatchKey, ...]) -> list[str]:
    return [key.name for key in keys]


def test_the_keys_that_passed_by_in_a_call_are_those_of_all_its_hops(outer: Operator, tensor: Make) -> None:
    with trace() as recorded:
        outer(tensor())
    assert [names(hop.skipped) for hop in recorded] == [
        [], ["ADInplaceOrView", "BackendSelect"], ["BackendSelect"], ["BackendSelect"],
    ]  # fmt: skip
    assert [names(recorded.passed_by(index)) for index in range(3)] == [
        ["ADInplaceOrView", "BackendSelect"], ["ADInplaceOrView", "BackendSelect"], ["BackendSelect"],
    ]  # fmt: skip


def test_what_passed_by_is_what_the_resolver_skipped() -> None:
    with trace() as recorded:
        x = glasstorch.ones(2, 3, requires_grad=True)
        (x.t() * 2).sum().backward()
        glasstorch.empty(2, device="meta").add_(1).reshape(1, 2)
        glasstorch.ones(2, dtype=glasstorch.complex64).conj() + 1
    assert len(recorded) > 30
    assert sum(len(hop.skipped) for hop in recorded) > 20
    for hop in recorded:
        assert hop.skipped == resolve(registry.find(hop.operator), hop.keys).skipped


def test_a_functionality_passes_by_once_for_all_its_backends(
    library: Library, operator: Operator, tensor: Make
) -> None:
    library.impl("op", lambda x: x, "Meta")
    with trace() as recorded:
        operator(tensor(CPU_KEYS | META_KEYS))
    assert names(recorded.passed_by()) == ["AutogradMeta", "ADInplaceOrView", "BackendSelect"]


def test_an_operator_that_its_own_kernel_calls_from_the_top_is_another_call(
    library: Library, operator: Operator, tensor: Make
) -> None:
    begun, meta = iter((True, False)), tensor(META_KEYS | key_set_of("Tracer"))

    def again(x: TensorImpl) -> object:
        return [operator.redispatch(BELOW, x), operator(meta)] if next(begun) else x

    library.impl("op", again, "CPU")
    library.impl("op", lambda x: x, "Meta")
    library.impl("op", fallthrough_kernel, "Tracer")

    def below_autograd(keys: int, x: TensorImpl) -> object:
        with AutoDispatchBelowADInplaceOrView():
            return operator.redispatch(keys & ALL_BACKENDS | FUNCTIONALITY_BIT["Dense"], x)

    library.impl("op", below_autograd, "Autograd", with_keyset=True)
    with trace() as recorded:
        operator(tensor())
    assert [(hop.depth, hop.key.name) for hop in recorded] == [
        (0, "AutogradCPU"), (1, "CPU"), (2, "CPU"), (2, "Meta"),
    ]  # fmt: skip
    assert recorded.passed_by() == ()
    assert [names(recorded.passed_by(index)) for index in (2, 3)] == [["BackendSelect"], ["Tracer", "BackendSelect"]]


def test_what_a_kernel_calls_is_another_call_and_so_is_its_own_operator_below_that(
    library: Library, operator: Operator, tensor: Make
) -> None:
    between = library.define("between(Tensor x) -> Tensor")
    library.impl("op", lambda x: between(x), "AutogradCPU")
    library.impl(
        "between", lambda keys, x: between.redispatch(keys & below("AutogradOther"), x), "AutogradCPU", with_keyset=True
    )
    library.impl("between", lambda x: operator.redispatch(BELOW, x), "CPU")
    library.impl("op", lambda x: x, "CPU")
    with trace() as recorded:
        operator(tensor())
    assert [(hop.operator, names(hop.skipped)) for hop in recorded] == [
        ("sample::op", []),
        ("sample::between", []),
        ("sample::between", ["ADInplaceOrView", "BackendSelect"]),
        ("sample::op", ["BackendSelect"]),
    ]
    assert recorded.passed_by() == ()


def test_what_a_kernel_takes_out_of_the_set_does_not_pass_by(
    library: Library, operator: Operator, tensor: Make
) -> None:
    library.impl("op", lambda x: x, "CPU")
    library.impl(
        "op", lambda keys, x: operator.redispatch(keys & below("ADInplaceOrView"), x), "Autograd", with_keyset=True
    )
    with trace() as recorded:
        operator(tensor())
        operator(tensor())
    assert names(recorded.passed_by()) == ["BackendSelect"]
    assert names(recorded.passed_by(2)) == ["BackendSelect"]


def test_a_key_that_passes_by_twice_in_a_call_is_told_once(library: Library, operator: Operator, tensor: Make) -> None:
    def twice(keys: int, x: TensorImpl) -> object:
        return [operator.redispatch(keys & below(key), x) for key in ("ADInplaceOrView", "AutogradOther")]

    library.impl("op", lambda x: x, "CPU")
    library.impl("op", twice, "Autograd", with_keyset=True)
    with trace() as recorded:
        operator(tensor())
    assert names(recorded.passed_by()) == ["BackendSelect", "ADInplaceOrView"]


def test_nothing_passes_by_a_slot_that_a_kernel_runs() -> None:
    with trace(as_run=True) as recorded:
        glasstorch.ones(3, 4).cumsum(1)
    slot = next(index for index, hop in enumerate(recorded) if hop.rule == "slot")
    assert recorded.passed_by(slot) == recorded[slot].skipped == ()


def test_the_name_of_an_operator_is_a_plain_text() -> None:
    with trace() as hops:
        glasstorch.ones(2).neg()
    assert {type(hop.operator) for hop in hops} == {str}
