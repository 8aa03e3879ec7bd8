"""Does the house stand? One sample of everything, in two minutes at most, without torch.

The rows, the oracles and the helpers are those of the tests that look closer; each test here names one thing on which
all others stand.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import FrameType

import pytest

import glasstorch
from glasstorch.core import inference
from tests.agreement.oracles import check_forms, check_meta, check_numpy, check_one_gradient, check_trace, first_run
from tests.agreement.samples import Row
from tests.agreement.table import ROWS
from tests.architecture.layers import violations
from tests.devices.devices import Devices
from tests.devices.devices import cuda as cuda
from tests.devices.devices import cuda_of_module as cuda_of_module
from tests.examples.test_digits import train
from workbook.book.notebook_checks import read_notebook
from workbook.book.render import render
from workbook.exercises.catalogue import find
from workbook.exercises.report import PASSED, REFUSED
from workbook.exercises.rungs import run_check
from workbook.exercises.wrong import refused_by, written_out

ROOT = Path(__file__).parents[1]
LIMIT = 600.0  # seconds; a rung takes two
SECTION = ROOT / "chapters" / "00-start" / "one-addition.md"

every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.op)


# The library ----------------------------------------------------------------------------------------------------------


def test_a_fresh_process_imports_it_and_adds() -> None:
    program = "import glasstorch as torch; print((torch.ones(2) + 1).tolist())"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT / "reference", capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[2.0, 2.0]\n", "")


def test_an_addition_is_two_frames_in_two_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "entered", False)  # once inference mode was entered, another one asks for it
    a, b = glasstorch.ones(2), glasstorch.ones(2)
    a + b  # the first call of all fills the operator's table
    files: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            files.append(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        a + b
    finally:
        sys.setprofile(None)
    assert (len(files), len(set(files))) == (2, 2), files


@every_row
def test_an_operator_computes(row: Row) -> None:
    check_numpy(first_run(row))
    check_forms(first_run(row))
    check_trace(row)
    if row.meta:
        check_meta(first_run(row))


@pytest.mark.parametrize("row", [row for row in ROWS if row.differentiable], ids=lambda row: row.op)
def test_an_operator_is_differentiated(row: Row) -> None:
    check_one_gradient(row)


def test_views_share_the_storage_of_their_base_and_its_version() -> None:
    base = glasstorch.arange(24).reshape(2, 3, 4)
    view = base.transpose(0, 2)[1:, :, 1].unsqueeze(0)
    assert (view.shape, view.stride(), view.storage_offset()) == ((1, 3, 3), (3, 1, 4), 13)
    assert view._base is not None
    assert view.tolist() == [[[13, 17, 21], [14, 18, 22], [15, 19, 23]]]
    before = base._version
    view.add_(100)
    assert (base._version, view._version) == (before + 1, before + 1)
    assert base[1].tolist() == [[12, 113, 114, 115], [16, 117, 118, 119], [20, 121, 122, 123]]


def test_a_tensor_changed_in_place_that_backward_needs_is_refused() -> None:
    x = glasstorch.ones(2, requires_grad=True)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_key_sets_are_those_of_pytorch() -> None:
    x = glasstorch.ones(2)
    shown = "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)"
    assert repr(glasstorch._C._dispatch_keys(x)) == shown
    assert repr(glasstorch._C._dispatch_keys(x.to("meta"))) == "DispatchKeySet(Meta, ADInplaceOrView, AutogradMeta)"


def test_a_traced_program_is_fused_and_gives_the_same_numbers() -> None:
    def program(x: glasstorch.Tensor, y: glasstorch.Tensor) -> glasstorch.Tensor:
        return (x * y + 1).tanh() - y

    glasstorch.manual_seed(0)
    x, y = glasstorch.randn(3, 4), glasstorch.randn(4)
    traced = glasstorch.jit.trace(program, (x, y))
    assert "prim::FusionGroup" in str(traced.graph_for(x, y))
    for _ in range(2):
        assert glasstorch.allclose(traced(x, y), program(x, y))


def test_digits_are_learnt(tmp_path: Path) -> None:
    losses = train(tmp_path, "--epochs", "2")["losses"]
    assert losses[-1] < losses[0] / 2


@pytest.mark.parametrize("cuda_of_module", ["forward"], indirect=True)
def test_a_kernel_runs_on_the_simulated_device(cuda: Devices) -> None:
    x = glasstorch.arange(6, dtype=glasstorch.float32, device=cuda.device).reshape(2, 3)
    assert (x * 2 + x.sum()).tolist() == [[15, 17, 19], [21, 23, 25]]


# The house around it --------------------------------------------------------------------------------------------------


def test_generated_code_is_fresh() -> None:
    command = [sys.executable, "-m", "glasstorch.operators.gen", "--check"]
    done = subprocess.run(command, cwd=ROOT / "reference", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_import_points_to_an_earlier_row() -> None:
    assert violations(ROOT / "reference" / "glasstorch") == []


def test_an_exercise_accepts_its_solution_and_refuses_a_wrong_answer() -> None:
    exercise = find(ROOT, "02.1")
    with written_out(exercise) as answers:
        wrong = next(path for path in answers if refused_by(path) == "check")
        outcomes = [
            run_check(ROOT, exercise, answer, rungs=("check",), limit=LIMIT).rungs[0].outcome
            for answer in (exercise.solution, wrong)
        ]
    assert outcomes == [PASSED, REFUSED]


def test_a_section_becomes_a_page() -> None:
    page = render(read_notebook(SECTION), name="one-addition", figures="../figures")
    assert page.markdown.startswith("# ")
    assert ".cell-input" in page.markdown
