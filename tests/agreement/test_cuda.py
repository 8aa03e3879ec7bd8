"""Does every operator compute on a CUDA device what NumPy says, and the gradients that the CPU computes?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from glasstorch.core.errors import AcceleratorError
from glasstorch.operators.gen.model import load_functions
from tests.agreement.oracles import check_forms, check_gradients_on, check_numpy
from tests.agreement.samples import Row
from tests.agreement.table import ROWS as ALL_ROWS
from tests.devices.devices import GPU, Devices, made

ONE_SIMULATOR = pytest.mark.parametrize(
    "cuda_of_module", ["check", pytest.param(GPU, marks=pytest.mark.gpu)], indirect=True
)
ROWS = [row for row in ALL_ROWS if row.on_cuda]
MADE_OF_OTHERS = {f.name for f in load_functions() if f.composite is not None}
# Its samples name one place twice. Both threads write the same number there, which does no harm and is a race.
RACES = ("scatter.value",)


@pytest.mark.parametrize("row", [row for row in ROWS if row.op not in MADE_OF_OTHERS], ids=lambda row: row.op)
def test_values_sizes_and_dtype(row: Row, cuda: Devices) -> None:
    with races(row, cuda):
        check_numpy(row, str(cuda.device))


@ONE_SIMULATOR
@pytest.mark.parametrize("row", [row for row in ROWS if row.op in MADE_OF_OTHERS], ids=lambda row: row.op)
def test_values_of_what_others_compute(row: Row, cuda: Devices) -> None:
    """Its kernels are those of other rows, which meet every order of threads above."""
    check_numpy(row, str(cuda.device))


@ONE_SIMULATOR
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.op)
def test_forms(row: Row, cuda: Devices) -> None:
    with races(row, cuda):
        check_forms(row, str(cuda.device))


@ONE_SIMULATOR
@pytest.mark.parametrize("row", [row for row in ROWS if row.differentiable], ids=lambda row: row.op)
def test_gradients(row: Row, cuda: Devices) -> None:
    check_gradients_on(row, str(cuda.device))


@contextmanager
def races(row: Row, cuda: Devices) -> Iterator[None]:
    """Expect the checker to report a race where there is one; the device has failed then, and fresh ones are made."""
    if cuda.name != "check" or row.op not in RACES:
        yield
        return
    with pytest.raises(AcceleratorError, match="race on global memory: written here, and written"):
        yield
    cuda.driver = made(cuda.name)
