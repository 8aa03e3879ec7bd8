"""Do the smoke file and all notebooks pass on every other Python of this machine, with both ends of NumPy's range?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workbook.pythons import environment_of, others, summary, try_on

ROOT = Path(__file__).parents[2]
SMOKE = "tests/test_smoke.py"
IN_CI = os.environ.get("CI", "").lower() == "true"
FOUND = others() if IN_CI else []


@pytest.mark.skipif(not IN_CI, reason="other Pythons are tried in CI")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("place", range(max(len(FOUND), 1)), ids=[one.series for one in FOUND] or ["none"])
def test_it_passes_on_another_python(place: int) -> None:
    print(summary(FOUND))
    for interpreter in FOUND[place : place + 1]:
        environment = environment_of(interpreter, ROOT, lowest=place == 0)
        code, output = try_on(environment.python, ROOT, [SMOKE, "chapters"])
        print(output)
        assert code == 0, f"it does not pass on Python {interpreter}: see what it printed"
