"""Is a pointwise operator of the CPU, of CUDA and of fused loops one expression and three rows?

The library and these tests are copied, a made-up operator is added to the copy by rows alone, the generator runs, and
its oracles do. The row of its expression says that it is for CUDA too and that it may be fused.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.agreement.test_adding import PACKAGE, ROOT, append, run

NAME = "swollen"
FORMULA = f"""\
    "{NAME}": Formula(
        "a + a * exp(-(a * a))", FLOATING_OR_COMPLEX, "{NAME}_cpu", float_result_type,
        cuda=Cuda("{NAME}_cuda"), fused=True,
    ),
"""
DECLARATION = f"""
- func: {NAME}(Tensor self) -> Tensor
  variants: function, method
  autogen: {NAME}_, {NAME}.out
  shape: pointwise.broadcast.unary_float
  tags: pointwise
  doc: "Each element, and more of it near 0."
"""
DERIVATIVE = f"""
- op: {NAME}
  self: grad * (1 + (1 - 2 * self * self) * (-self * self).exp())
"""
SAMPLE = f'    row("{NAME}", lambda x: x + x * np.exp(-x * x), *ONE, result=FLOAT, in_torch=False),\n'

ORACLES = ("test_numpy", "test_gradients", "test_meta", "test_forms", "test_cuda")
FUSED = f"""
import glasstorch
from glasstorch.jit import fuser
from glasstorch.jit.codegen.cpp_loop import CppLoop
from glasstorch.jit.codegen.numpy_loop import NumpyLoop
from tests.jit.codegen.groups import group_of

x = glasstorch.randn(1000)
for name, kind in (("numpy", NumpyLoop), ("cpp", CppLoop)):
    with fuser(name):
        group = group_of(lambda x: glasstorch.{NAME}(x) * 2, x)
    assert [type(loop.run) for loop in group.plan(x).loops] == [kind]
    assert [step.formula for step in group.plan(x).program.loops[0].steps] == ["mul", "neg", "exp", "mul", "add", "mul"]
    assert glasstorch.allclose(group(x)[0], glasstorch.{NAME}(x) * 2)
print("fused")
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the library and its tests, with the made-up operator."""
    home = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / PACKAGE, home / PACKAGE)
    shutil.copytree(ROOT / "tests", home / "tests")
    shutil.copytree(ROOT / "benchmarks", home / "benchmarks")  # which say what is compiled for a card
    shutil.copy(ROOT / "pyproject.toml", home / "pyproject.toml")
    append(home / PACKAGE / "kernels" / "pointwise" / "formulas.py", FORMULA, before='    "exp": calculus(')
    append(home / PACKAGE / "operators" / "native_functions.yaml", DECLARATION)
    append(home / PACKAGE / "operators" / "derivatives.yaml", DERIVATIVE)
    append(home / "tests" / "agreement" / "rows" / "pointwise.py", SAMPLE, before='    row("relu"')
    generated = run(home / "reference", "-m", "glasstorch.operators.gen")
    assert "written" in generated, generated
    return home


def test_four_rows_are_an_operator_of_every_backend(home: Path) -> None:
    files = [f"tests/agreement/{oracle}.py" for oracle in ORACLES]
    said = run(home, "-m", "pytest", *files, "-k", NAME, "-rA", "-q", "-p", "no:cacheprovider")
    passed = re.findall(rf"^PASSED tests/agreement/(\w+)\.py::\w+\[(?:check-)?{NAME}[\w-]*\]", said, re.MULTILINE)
    assert set(passed) == set(ORACLES), said
    assert not re.findall(r"^(?:FAILED|ERROR) .*", said, re.MULTILINE), said


def test_it_is_fused_by_numpy_and_by_cpp(home: Path) -> None:
    assert run(home, "-c", f"import sys; sys.path.insert(0, '.')\n{FUSED}").endswith("fused\n")
