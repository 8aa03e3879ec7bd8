"""Does a trace record every kernel of its own context, and nothing else?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import glasstorch.dispatch
from glasstorch.core.keys import CPU_KEYS, DispatchKey, below
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.active_keys import compute_keys
from glasstorch.dispatch.library import Library
from glasstorch.dispatch.operator import Operator, registry
from glasstorch.dispatch.trace import trace

Make = Callable[..., TensorImpl]


@pytest.fixture
def outer(library: Library) -> Operator:
    """An operator whose CPU kernel calls another, below an autograd kernel."""
    inner = library.define("inner(Tensor x) -> Tensor")
    library.impl("inner", leaf, "CPU")
    operator = library.define("outer(Tensor x) -> Tensor")
    library.impl("outer", lambda x: inner(inner(x)), "CPU")
    library.impl(
        "outer", lambda keys, x: operator.redispatch(keys & below("AutogradOther"), x), "Autograd", with_keyset=True
    )
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
