"""Are measurements computed, merged and printed as PyTorch does for the same times?"""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.utils import benchmark

SPECS: list[dict[str, Any]] = [
    {"stmt": "x.exp()", "setup": "pass"},
    {"stmt": "x.exp()", "setup": "x = 1", "sub_label": "float", "description": "n=1"},
    {"stmt": "a\nb", "setup": "import a\nimport b", "sub_label": "two lines", "num_threads": 2},
    {"stmt": "a\nb", "setup": "", "label": "both", "env": "here", "description": "long\ntext"},
]


def times(seed: int, scale: float, spread: float, count: int) -> list[float]:
    return [float(t) for t in scale * np.exp(spread * np.random.default_rng(seed).standard_normal(count))]


RAW = [
    (1, [2e-3]),
    (10, [1e-5, 1.5e-5, 1.2e-5]),
    *((10**n, times(n, 10.0 ** (n - 8), 0.02, 4 + n)) for n in range(9)),
    *((100, times(n, 1e-4 * 3**n, 0.06 * n, 40)) for n in range(1, 8)),
    (7, [3.0, 3.0, 3.0, 3.0, 3.0]),
]


def without_address(text: str) -> str:
    return re.sub(r"<\S+ object at 0x[0-9a-f]+>", "<>", text)


def both(number: int, raw: list[float], spec: dict[str, Any]) -> tuple[Any, Any]:
    pytest.importorskip("torch")
    import torch.utils.benchmark as oracle

    return benchmark.Measurement(number, raw, benchmark.TaskSpec(**spec)), oracle.Measurement(
        number, raw, oracle.TaskSpec(**spec)
    )


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize(("number", "raw"), RAW)
def test_statistics_and_text_are_those_of_torch(number: int, raw: list[float], spec: dict[str, Any]) -> None:
    ours, theirs = both(number, raw, spec)
    assert ours.mean == pytest.approx(theirs.mean, rel=1e-15)  # terms may be added in another order
    for name in ("times", "median", "iqr", "significant_figures", "has_warnings", "title", "as_row_name"):
        assert getattr(ours, name) == getattr(theirs, name), name
    for name in ("stmt", "setup", "label", "sub_label", "description", "env", "num_threads"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert [ours.meets_confidence(share) for share in (0.01, 0.1, 0.5)] == [
        theirs.meets_confidence(share) for share in (0.01, 0.1, 0.5)
    ]
    assert ours.task_spec.summarize() == theirs.task_spec.summarize()
    assert without_address(repr(ours)) == without_address(repr(theirs))


def test_replicates_are_merged_as_in_torch() -> None:
    pairs = [both(*raw, SPECS[n % 3]) for n, raw in enumerate(RAW)]
    ours = benchmark.Measurement.merge(pair[0] for pair in pairs)
    theirs = type(pairs[0][1]).merge([pair[1] for pair in pairs])
    assert [(m.raw_times, m.number_per_run, m.stmt, m.metadata) for m in ours] == [
        (m.raw_times, m.number_per_run, m.stmt, m.metadata) for m in theirs
    ]


def test_units_and_digits_are_those_of_torch() -> None:
    pytest.importorskip("torch")
    import torch.utils.benchmark as oracle

    numbers = [digit * 10.0**power for power in range(-10, 4) for digit in (1, 1.0000001, 1.5, 9.99, 9.9999999)]
    for number in numbers:
        assert benchmark.select_unit(number) == oracle.select_unit(number), number
        for figures in range(1, 5):
            assert benchmark.trim_sigfig(number, figures) == oracle.trim_sigfig(number, figures), (number, figures)
    assert benchmark.trim_sigfig(-3.14159, 2) == pytest.approx(-3.1)
    assert [benchmark.unit_to_english(unit) for unit in ("ns", "us", "ms", "s")] == [
        oracle.unit_to_english(unit) for unit in ("ns", "us", "ms", "s")
    ]
    assert benchmark.ordered_unique("banana") == oracle.ordered_unique("banana") == ["b", "a", "n"]
    with pytest.raises(AssertionError, match=r"must be an integer, got 1\.5"):
        benchmark.trim_sigfig(1.0, 1.5)  # type: ignore[arg-type]


def test_a_measurement_survives_pickling_and_copying() -> None:
    measured = benchmark.Measurement(2, [1.0, 2.0], benchmark.TaskSpec(**SPECS[1]), {"card": "none"})
    assert measured.median == 0.75
    for again in (pickle.loads(pickle.dumps(measured)), copy.deepcopy(measured)):
        assert again == measured
        assert again.stmt == "x.exp()"
        assert again.metadata == {"card": "none"}
        assert without_address(repr(again)) == without_address(repr(measured))


def test_a_measurement_without_times_can_be_printed() -> None:
    nothing = benchmark.Measurement(1, [], benchmark.TaskSpec("x", "pass"))
    assert nothing.median == -1
    assert not nothing.has_warnings
    assert repr(nothing).endswith("\nx\n  0 measurement, 1 runs , 1 thread")


def test_an_unknown_attribute_is_refused() -> None:
    with pytest.raises(AttributeError, match="'Measurement' object has no attribute 'medain'"):
        _ = benchmark.Measurement(1, [1.0], benchmark.TaskSpec("x", "pass")).medain


def test_threads_are_set_and_set_back() -> None:
    before = glasstorch.get_num_threads()
    with pytest.raises(ZeroDivisionError), benchmark.set_torch_threads(before + 1):
        _ = 1 / (glasstorch.get_num_threads() - before - 1)
    assert glasstorch.get_num_threads() == before
