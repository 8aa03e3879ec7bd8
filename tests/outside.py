"""What do expressions give in a process of its own that has the device of examples/outside_device.py?

A device can be brought once in a process, so each group of tests has its process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
DEVICE = "from outside_device import NAME, backend_registration, fell_back, guard, hooks, library, torch, allocator\n"
BODY = """
import json, sys, warnings
sys.path.insert(0, sys.argv[1])
job = json.load(sys.stdin)
space = {}
exec(job["setup"], space)
found = {}
for label, text in job["expressions"].items():
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            value = repr(eval(text, space))
        except BaseException as error:
            value = f"{type(error).__name__}: {error}"
    found[label] = [value, *(str(one.message) for one in given)]
print(json.dumps(found))
"""
# The matrices are small: threads that wait for each other would take most of the time where tests run in parallel.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def evaluated(expressions: Mapping[str, str], setup: str = DEVICE) -> dict[str, list[str]]:
    """For each expression what it gives as text, or its error, and then the warnings that it gave."""
    done = subprocess.run(
        [sys.executable, "-c", BODY, str(ROOT / "examples")],
        check=False,
        input=json.dumps({"setup": setup, "expressions": dict(expressions)}),
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT / "reference"), **ONE_THREAD},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found
