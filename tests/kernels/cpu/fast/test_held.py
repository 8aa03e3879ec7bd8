"""Does every fast function give what the plain one gives, within what its row says?"""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest

import glasstorch
from glasstorch.dispatch.fast import FAST
from tests.agreement.oracles import about, operator, runs
from tests.agreement.samples import Row, arrays, in_library
from tests.agreement.table import OWN
from tests.kernels.cpu.fast.calls import CALLS
from tests.kernels.cpu.fast.held import Call, check

FEW, MANY = 20, 200  # random calls of each, by `make test` and by `make test-all`


def test_each_has_random_calls() -> None:
    assert {one.over for one in FAST} == set(CALLS)


@pytest.mark.parametrize("calls", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("over", sorted(one.over for one in FAST))
def test_random_calls(over: str, calls: int) -> None:
    rng = np.random.default_rng(crc32(over.encode()))
    reached = [over in check(CALLS[over](rng), f"{over}, random call {i}") for i in range(calls)]
    assert any(reached), f"no call reached what is fast over {over}"


@pytest.mark.parametrize("row", OWN, ids=lambda row: row.op)
def test_samples(row: Row) -> None:
    """An operator that is made of others may round more than once: it is held to what the table allows."""
    for sample, run in runs(row):
        args, kwargs = in_library(glasstorch, sample, arrays(row, sample, run))
        glasstorch.manual_seed(0)
        check(Call(operator(row.op), tuple(args), kwargs), about(row, sample, run), 8 * row.tolerance)
