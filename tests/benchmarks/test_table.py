"""Does the README show the numbers that were kept, and no others?"""

from __future__ import annotations

import json
import re
from pathlib import Path

from benchmarks.__main__ import FILES, RESULTS, table
from benchmarks.harness import Row
from workbook.readme_table import BEGIN, END

ROOT = Path(__file__).parents[2]
LAST = max(RESULTS.glob("[0-9]*-cpu.json"))


def test_the_readme_shows_the_last_results_that_were_kept() -> None:
    kept = json.loads(LAST.read_text(encoding="utf-8"))
    rows = [
        Row(row["name"], row["seconds"], row["budget"], share=None if "torch" in row["seconds"] else row["ratio"])
        for row in kept["rows"]
    ]
    shown = (ROOT / "README.md").read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].strip()
    assert shown == table(rows, kept["facts"], kept["where"])


def test_every_file_that_measures_contests_is_run() -> None:
    files = {
        path.stem
        for path in (ROOT / "benchmarks").glob("*.py")
        if re.search(r"^def contests\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert set(FILES) == files
