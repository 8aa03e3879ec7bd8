"""Do the smoke file and all notebooks pass on every other Python of this machine, with both ends of NumPy's range?

CI runs the smoke file on the newest, and the tests of the capture of functions, which reads bytecode, on each;
`make test-all` runs the smoke file on all of them, and the notebooks as well.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from glasstorch.compiler.bytecode.vocabulary import SUPPORTED
from workbook.pythons import absent, environment_of, left_out, others, summary, try_on

ROOT = Path(__file__).parents[2]
SMOKE = "tests/test_smoke.py"
CAPTURE = (
    "tests/compiler/bytecode", "tests/compiler/test_breaks.py", "tests/compiler/test_breaks_generated.py",
    "tests/compiler/test_compile.py", "tests/compiler/test_shapes.py", "tests/compiler/test_kinds_of_arguments.py",
)  # fmt: skip
EACH = "test_a_captured_function_does_what_the_function_does"
IN_CI = os.environ.get("CI", "").lower() == "true"
FOUND = others() if IN_CI else []


PLACES = [pytest.param(place, id=one.series) for place, one in enumerate(FOUND)] or [pytest.param(0, id="none")]
NEWEST_IN_CI = [
    pytest.param(*place.values, id=place.id, marks=() if place is PLACES[-1] else pytest.mark.slow) for place in PLACES
]

in_ci = pytest.mark.skipif(not IN_CI, reason="other Pythons are tried in CI")


@in_ci
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("place", NEWEST_IN_CI)
def test_the_smoke_file_passes_on_another_python(place: int) -> None:
    assert_passes(place, SMOKE)


@in_ci
@pytest.mark.slow  # CI runs them on its own Python
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("place", PLACES)
def test_the_notebooks_pass_on_another_python(place: int) -> None:
    assert_passes(place, "chapters")


@in_ci
@pytest.mark.ci
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("place", PLACES)
def test_functions_are_captured_on_another_python(place: int) -> None:
    """All tests of the capture that need no torch, with a quarter of the random functions."""
    print(absent(FOUND, SUPPORTED))
    rest = [f"--deselect=tests/compiler/bytecode/test_generated.py::{EACH}[{first}]" for first in range(100, 400, 50)]
    assert_passes(place, *CAPTURE, *rest)


@in_ci
@pytest.mark.slow  # a minute on each
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("place", PLACES)
def test_random_functions_are_captured_on_another_python(place: int) -> None:
    random = ("tests/compiler/bytecode/test_generated.py", "tests/compiler/test_breaks_generated.py")
    assert_passes(place, *random, "-m", "slow or not slow")


def assert_passes(place: int, *paths: str) -> None:
    """Run tests or notebooks on a Python that was found; the oldest has the lowest NumPy."""
    print(summary(FOUND))
    for interpreter in FOUND[place : place + 1]:
        environment = environment_of(interpreter, ROOT, lowest=place == 0)
        code, output = try_on(environment.python, ROOT, [*paths, *left_out(ROOT, interpreter.series)])
        print(output)
        assert code == 0, f"it does not pass on Python {interpreter}: see what it printed"
