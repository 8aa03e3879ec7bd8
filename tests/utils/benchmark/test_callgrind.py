"""Are counts of instructions combined and printed as PyTorch does?"""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import glasstorch
from glasstorch.utils import benchmark
from tests.utils.benchmark.test_measurements import without_address

LONG = "/there/build/aten/src/ATen/core/boxing/impl/boxing.h:void at::native::very_long_name<float, 4>(int, int)"


def counts(library: Any, seed: int, inclusive: bool = False) -> Any:
    names = [f"/a/Python/ceval.c:function_{n} [/usr/lib/python{n}]" for n in range(20)]
    names += [LONG, "/x/Objects/dictobject.c:lookdict_unicode [libpython]", "???:_start"]
    rows = [library.FunctionCount((seed * 7919 * n * n) % 100_003, name) for n, name in enumerate(names)]
    return library.FunctionCounts(tuple(sorted(rows, reverse=True)), inclusive, _linewidth=100)


def stats(library: Any, seed: int, symbols: bool) -> Any:
    spec = library.TaskSpec("x + 1", "x = 1", description="adding", num_threads=seed)
    parts = [counts(library, seed + n, n % 2 == 0) for n in range(4)]
    return library.CallgrindStats(spec, 100, symbols, *parts, "text")


def plain(of: Any) -> Any:
    return [tuple(row) for row in of], of.inclusive


@pytest.mark.parametrize(
    "use",
    [
        lambda c: c(1) + c(2),
        lambda c: c(1) - c(2),
        lambda c: c(2) * 3,
        lambda c: c(2) * 0.5,
        lambda c: c(3).denoise(),
        lambda c: c(3)[2:6],
        lambda c: c(3).filter(lambda name: "1" in name),
        lambda c: c(3).transform(lambda name: name.partition(":")[0]),
        lambda c: c(1, True) + c(2, True),
        lambda c: c(1) - c(1),
    ],
)
def test_counts_are_those_of_torch(use: Any) -> None:
    pytest.importorskip("torch")
    import torch.utils.benchmark as oracle

    ours, theirs = (use(lambda *given, of=library: counts(of, *given)) for library in (benchmark, oracle))
    assert plain(ours) == plain(theirs)
    assert (len(ours), ours.sum()) == (len(theirs), theirs.sum())
    assert without_address(repr(ours)) == without_address(repr(theirs))
    assert [tuple(ours[0]), tuple(theirs[0])] == [tuple(theirs[0])] * 2 if len(ours) else True


@pytest.mark.parametrize("symbols", [True, False])
def test_stats_are_those_of_torch(symbols: bool) -> None:
    pytest.importorskip("torch")
    import torch.utils.benchmark as oracle

    results = []
    for library in (benchmark, oracle):
        one, two = (stats(library, seed, symbols) for seed in (1, 2))
        clean = one.as_standardized()
        results.append(
            (
                without_address(repr(one)),
                without_address(repr(two)),
                plain(one.delta(two)),
                plain(one.delta(two, inclusive=True)),
                [plain(clean.stats(inclusive)) for inclusive in (True, False)],
                one.counts(),
                one.counts(denoise=True),
                clean.stmt_callgrind_out,
            )
        )
    assert results[0] == results[1]


def test_counts_of_different_kinds_are_not_added() -> None:
    with pytest.raises(AssertionError, match="Cannot merge inclusive and exclusive counts"):
        counts(benchmark, 1, True) + counts(benchmark, 1)


def test_stats_survive_pickling() -> None:
    made = stats(benchmark, 1, True)
    again = pickle.loads(pickle.dumps(made))
    assert plain(again.stats()) == plain(made.stats())


def test_only_what_can_be_copied_is_marked_as_a_copy() -> None:
    module = glasstorch.nn.Linear(1, 1)
    traced = glasstorch.jit.trace(lambda x: x + 1, glasstorch.ones(1))
    marks = [benchmark.CopyIfCallgrind(value, setup="import x") for value in (1, "text", module, traced)]
    assert [mark.serialization.name for mark in marks] == ["PICKLE", "PICKLE", "TORCH", "TORCH_JIT"]
    assert [mark.setup for mark in marks] == ["import x"] * 4
    assert benchmark.CopyIfCallgrind.unwrap_all({"a": marks[2], "b": 3}) == {"a": module, "b": 3}
    with pytest.raises(ValueError, match=r"Unsupported type: <class 'glasstorch.*Tensor'>"):
        benchmark.CopyIfCallgrind(glasstorch.ones(1))
