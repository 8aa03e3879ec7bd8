"""Is new memory filled as PyTorch fills it, while deterministic algorithms are asked for, and only then?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest

import glasstorch
from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.operator import registry
from glasstorch.kernels.creation.known_memory import NEW
from tests.nn.side_by_side import assert_same

DTYPES = [
    *("float32", "float64", "float16", "bfloat16", "complex64", "uint8", "int8", "int16", "int32", "int64", "bool"),
    *("float8_e4m3fn", "float8_e5m2", "uint16", "uint64"),
]
MADE: dict[str, Callable[[Any], Any]] = {
    **{f"empty of {name}": lambda t, name=name: t.empty(2, 2, dtype=getattr(t, name)) for name in DTYPES},
    "empty_strided": lambda t: t.empty_strided((2, 2), (1, 3)),
    "empty_permuted": lambda t: t.empty_permuted((2, 2), (1, 0)),
    "empty_like": lambda t: t.empty_like(t.ones(2)),
    "new_empty": lambda t: t.ones(2).new_empty(3),
    "a legacy constructor": lambda t: t.Tensor(3),
    "no elements": lambda t: t.empty(0),
    "a larger tensor": lambda t: t.ones(2).resize_(4),
    "a larger tensor in a storage with room": lambda t: t.arange(6.0)[:2].resize_(2, 5),
    "a larger tensor with an offset": lambda t: t.arange(6)[1:3].resize_(9),
    "a smaller tensor": lambda t: t.arange(6.0).resize_(2),
    "resize_as_": lambda t: t.ones(2).resize_as_(t.ones(3)),
    "an out= that is made larger": lambda t: t.add(t.ones(2), 1, out=t.empty(0)),
    "zeros": lambda t: t.zeros(2),
    "a batch": lambda t: t.func.vmap(t.empty_like)(t.ones(2, 2)),
}


@contextmanager
def deterministic(t: Any, fills: bool = True) -> Iterator[None]:
    t.use_deterministic_algorithms(True)
    t.utils.deterministic.fill_uninitialized_memory = fills
    try:
        yield
    finally:
        t.use_deterministic_algorithms(False)
        t.utils.deterministic.fill_uninitialized_memory = True


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_new_memory_holds_what_it_holds_in_pytorch(require: Callable[[str], Any], make: Callable[[Any], Any]) -> None:
    def program(t: Any) -> Any:
        with deterministic(t):
            made = make(t)
            return str(made.tolist()), list(made.stride())

    assert_same(program, require("torch"))


def kernels() -> list[tuple[Any, ...]]:
    return [tuple(registry.find(f"aten::{name}").kernels[DispatchKey.CPU]) for name in (*NEW, "resize_")]


def test_nothing_stands_in_front_of_the_kernels_while_it_is_off() -> None:
    before = kernels()
    with deterministic(glasstorch):
        assert all(len(now) == len(then) + 1 for now, then in zip(kernels(), before, strict=True))
        glasstorch.use_deterministic_algorithms(True)  # a second time adds nothing
        glasstorch.utils.deterministic.fill_uninitialized_memory = False
        assert kernels() == before
        glasstorch.utils.deterministic.fill_uninitialized_memory = True
        assert glasstorch.empty(1).isnan().item()
    assert kernels() == before


def test_threads_may_switch_it_while_others_make_tensors() -> None:
    before = kernels()
    failed: list[Any] = []

    def switch() -> None:
        for _ in range(100):
            glasstorch.use_deterministic_algorithms(True)
            glasstorch.use_deterministic_algorithms(False)

    def make() -> None:
        failed.extend(made for _ in range(500) if (made := glasstorch.zeros(2).tolist()) != [0.0, 0.0])

    threads = [Thread(target=work) for work in (switch, switch, make, make)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert kernels() == before
