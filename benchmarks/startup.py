"""What does `import glasstorch` cost, and how soon do the commands answer?

Each import and each command runs in a fresh process; the figure is the median of several.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

# The kernel's own record of this process, where it keeps one: what `getrusage` says on Linux may be the parent's peak.
PROGRAM = """
import pathlib, resource, time
start = time.perf_counter()
import {module}
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
status = pathlib.Path("/proc/self/status")
if status.exists():
    peak = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM"))
print(seconds, peak)
"""


def import_cost(module: str, times: int = 7) -> tuple[float, float]:
    """Seconds for the import, and the process's peak memory in MB after it; medians."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    results = []
    for _ in range(times):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM.format(module=module)],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        seconds, kilobytes = map(float, done.stdout.split())
        results.append((seconds, kilobytes / 1024))
    return statistics.median(s for s, _ in results), statistics.median(m for _, m in results)


COMMANDS = (("progress",), ("next",), ("predict", "04"), ("review",))


def command_seconds(root: Path, *arguments: str, times: int = 7) -> float:
    """Seconds from the start of a `workbook` command to its end; the median.

    It is given no input: `predict` ends at its first question, and `review` refuses once it has chosen its questions.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    results = []
    for _ in range(times):
        start = time.perf_counter()
        command = [sys.executable, "-m", "workbook", *arguments]
        done = subprocess.run(
            command, cwd=root, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        results.append(time.perf_counter() - start)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"`workbook {' '.join(arguments)}` ended with {done.returncode}: {done.stderr.strip()}")
    return statistics.median(results)
