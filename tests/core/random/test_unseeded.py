"""Does a program that sets no seed draw other numbers in each run?

A file of its own, since it starts programs, which a test that an exercise carries may not.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from glasstorch.core.random.mersenne_stream import DEFAULT_SEED


def test_a_program_that_does_not_seed_draws_other_numbers_in_each_run(torch: Any) -> None:
    program = f"import {torch.__name__} as torch\nprint(torch.rand(2).tolist(), torch.initial_seed())"
    runs = [
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    ]
    assert runs[0] != runs[1]
    assert str(DEFAULT_SEED) not in "".join(runs)
