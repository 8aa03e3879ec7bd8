"""Does adding an operator take four rows, and does some oracle catch every fault in them?

The library and these tests are copied, made-up operators are added to the copy by rows alone, the generator runs, and
so do all oracles. One operator is right; each of the others has one planted fault, which named oracles must find.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = Path("reference", "glasstorch")
COUNTING = PACKAGE / "autograd" / "generated" / "inplace_or_view_kernels.py"


class MadeUp(NamedTuple):
    """The four rows of an operator that cubes."""

    name: str
    shape: str = "pointwise.broadcast.unary_float"
    derivative: str = "grad * (3 * self * self)"
    kernel: str = "lambda out, x: np.power(x, 3, out=out)"
    caught_by: frozenset[str] = frozenset()

    @property
    def declaration(self) -> str:
        return (
            f"\n- func: {self.name}(Tensor self) -> Tensor\n  variants: function, method\n"
            f'  autogen: {self.name}_, {self.name}.out\n  shape: {self.shape}\n  doc: "The cube of each element."\n'
        )

    @property
    def formula(self) -> str:
        return f"\n- op: {self.name}\n  self: {self.derivative}\n"

    @property
    def sample(self) -> str:
        return f'    row("{self.name}", lambda x: x**3, *ONE, result=FLOAT, in_torch=False),\n'


RIGHT = MadeUp("cubed")
WRONG = (
    MadeUp(
        "cubed_with_a_wrong_formula",
        derivative="grad * (2 * self * self)",
        caught_by=frozenset({"test_gradients"}),
    ),
    MadeUp(
        "cubed_with_a_wrong_second_derivative",
        derivative="grad * (3 * self * self).detach()",
        caught_by=frozenset({"test_gradients"}),
    ),
    MadeUp(
        "cubed_with_a_wrong_shape_function",
        shape="reductions.sums.sum",
        caught_by=frozenset({"test_numpy", "test_meta", "test_forms"}),
    ),
    MadeUp(
        "cubed_with_a_wrong_promotion",
        shape="pointwise.broadcast.unary",  # integers stay integers
        caught_by=frozenset({"test_numpy"}),
    ),
    MadeUp("cubed_with_a_wrong_kernel", kernel="np.square", caught_by=frozenset({"test_numpy", "test_gradients"})),
    MadeUp("cubed_without_counting", caught_by=frozenset({"test_forms"})),
)
OPERATORS = (RIGHT, *WRONG)
ORACLES = ("test_numpy", "test_gradients", "test_meta", "test_forms", "test_trace")


def append(path: Path, text: str, before: str = "") -> None:
    """Put text at the end of a file, or in front of a line of it."""
    whole = path.read_text(encoding="utf-8")
    assert before in whole
    path.write_text(whole.replace(before, text + before, 1) if before else whole + text, encoding="utf-8")


def run(home: Path, *command: str) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=home, capture_output=True, text=True, encoding="utf-8", check=False,
        env=environment
        | {"PYTHONPATH": str(home / "reference"), "PYTHONUTF8": "1"}
        | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "pytest_timeout"},
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], bool]:
    """Whether an operator passed an oracle, for all operators and oracles."""
    home = tmp_path_factory.mktemp("copy")
    # With what is compiled already: only the modules that change here are compiled again.
    shutil.copytree(ROOT / PACKAGE, home / PACKAGE)
    shutil.copytree(ROOT / "tests", home / "tests")
    shutil.copy(ROOT / "pyproject.toml", home / "pyproject.toml")
    operators = home / PACKAGE / "operators"
    for made_up in OPERATORS:
        append(operators / "native_functions.yaml", made_up.declaration)
        append(operators / "derivatives.yaml", made_up.formula)
        append(
            home / PACKAGE / "kernels" / "cpu" / "pointwise" / "elementary.py",
            f'    "{made_up.name}": {made_up.kernel},\n',
            before='    "tan": np.tan,\n',
        )
        append(home / "tests" / "agreement" / "rows" / "pointwise.py", made_up.sample, before='    row("relu"')
    generated = run(home / "reference", "-m", "glasstorch.operators.gen")
    assert "written" in generated, generated
    counting = home / COUNTING
    text = counting.read_text(encoding="utf-8")
    row = 'row("cubed_without_counting_", writes_first_of_one)\n'
    assert row in text
    counting.write_text(text.replace(row, ""), encoding="utf-8")
    files = [f"tests/agreement/{oracle}.py" for oracle in ORACLES]
    said = run(home, "-m", "pytest", *files, "-k", "cubed", "-rA", "-q", "-p", "no:cacheprovider")
    found = re.findall(r"^(PASSED|FAILED) tests/agreement/(\w+)\.py::\w+\[(\w+)\]", said, re.MULTILINE)
    assert found, said
    return {(operator, oracle): outcome == "PASSED" for outcome, oracle, operator in found}


def test_four_rows_are_an_operator_that_every_oracle_accepts(verdicts: dict[tuple[str, str], bool]) -> None:
    assert {oracle: verdicts[RIGHT.name, oracle] for oracle in ORACLES} == dict.fromkeys(ORACLES, True)


@pytest.mark.parametrize("made_up", WRONG, ids=lambda made_up: made_up.name)
def test_a_fault_is_caught(verdicts: dict[tuple[str, str], bool], made_up: MadeUp) -> None:
    refused = {oracle for oracle in ORACLES if not verdicts[made_up.name, oracle]}
    assert refused >= made_up.caught_by
    assert refused
