"""Is a table of measurements the one that PyTorch prints for the same times?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from glasstorch.utils import benchmark

Choice = Callable[[Any], None]


def measurements(library: Any, seed: int, with_env: bool, complete: bool) -> list[Any]:
    """Rows, columns, numbers of threads and labels with times of all sizes; some cells twice, some not at all."""
    random = np.random.default_rng(seed)
    made = []
    for label in ("sum", None):
        for threads in (4, 1):
            for row in ("float", "double", None):
                for column in ("n=1", "n=1000", "a long description"):
                    for env in ("here", "at another place") if with_env else (None,):
                        scale = 10.0 ** random.integers(-7, -3)
                        spread = random.choice([0.01, 0.1, 0.4])
                        raw = [float(t) for t in scale * np.exp(spread * random.standard_normal(12))]
                        if not complete and random.random() < 0.3:
                            continue
                        spec = library.TaskSpec("x.sum()", "pass", "", label, row, column, env, threads)
                        made += [library.Measurement(3, part, spec) for part in (raw[:8], raw[8:])]
    return made


def plain(table: Any) -> None:
    pass


def all_of_it(table: Any) -> None:
    table.trim_significant_figures()
    table.highlight_warnings()
    table.colorize(rowwise=True)


CHOICES: list[Choice] = [
    plain,
    lambda table: table.trim_significant_figures(),
    lambda table: table.highlight_warnings(),
    lambda table: table.colorize(),
    lambda table: table.colorize(rowwise=True),
    all_of_it,
]


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize(("with_env", "complete"), [(False, True), (False, False), (True, True), (True, False)])
def test_a_table_is_that_of_torch(
    choice: Choice, with_env: bool, complete: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    import torch.utils.benchmark as oracle

    for seed in range(3):
        tables = []
        for library in (benchmark, oracle):
            results = measurements(library, seed, with_env, complete)
            table = library.Compare(results[:5])
            table.extend_results(results[5:])
            choice(table)
            table.print()
            tables.append(str(table))
            assert capsys.readouterr().out == tables[-1] + "\n"
        assert tables[0] == tables[1]


def test_a_measurement_without_description_is_shown() -> None:
    spec = benchmark.TaskSpec("x.sum()", "pass")
    other = benchmark.TaskSpec("x.sum()", "pass", env="there")
    text = str(benchmark.Compare([benchmark.Measurement(1, [2e-6], each) for each in (spec, other)]))
    assert text.splitlines()[3:] == [
        "  (Unspecified env)  x.sum()  |  2.0",
        "  (there)            x.sum()  |  2.0",
        "",
        "Times are in microseconds (us).",
    ]


def test_what_is_no_measurement_is_refused_and_nothing_is_added() -> None:
    table = benchmark.Compare([])
    good = benchmark.Measurement(1, [1.0], benchmark.TaskSpec("x", "pass"))
    with pytest.raises(ValueError, match="Expected an instance of `Measurement`, got <class 'float'> instead"):
        table.extend_results([good, 1.0])
    assert str(table) == ""
