"""What does a compilation print of its work, and how is that chosen?

Mirrors: torch/_logging/_internal.py, torch/_logging/_registrations.py
Differs: the variable is GLASSTORCH_LOGS; what is chosen is printed to stderr, each line with its artifact's name, and
    there are no levels.

`GLASSTORCH_LOGS="graph_breaks,recompiles"` in the environment, or `torch._logging.set_logs(graph_breaks=True)`.
"""

from __future__ import annotations

import os
import sys
from typing import Final

ARTIFACTS: Final = {
    "graph_breaks": "why a graph ended early, and at which line",
    "guards": "what a graph depends on",
    "recompiles": "which guard did not hold, where a function is compiled again",
    "graph_code": "the Python code of each graph",
    "aot_joint_graph": "the graph of a forward and a backward pass",
    "patterns": "which parts of a graph were replaced by others, and which were not, and why",
    "fusion": "which loops are joined",
    "output_code": "the code that runs a graph",
}
VARIABLE: Final = "GLASSTORCH_LOGS"
_on: set[str] = set()


def set_logs(**chosen: bool) -> None:
    """Print what is chosen, and nothing else."""
    unknown = [name for name in chosen if name not in ARTIFACTS]
    if unknown:
        raise ValueError(f"Unrecognized log artifact name {unknown[0]!r}; there are {', '.join(ARTIFACTS)}")
    _on.clear()
    _on.update(name for name, is_on in chosen.items() if is_on)


def is_on(artifact: str) -> bool:
    """Whether something is printed."""
    return artifact in _on


def tell(artifact: str, text: str) -> None:
    """Print a text if it is chosen."""
    if artifact in _on:
        print("\n".join(f"[{artifact}] {line}" for line in text.splitlines()), file=sys.stderr)


def _from_the_environment(text: str) -> None:
    names = [name.strip().lstrip("+") for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in ARTIFACTS]
    if unknown:
        raise ValueError(f"{VARIABLE}={text!r}: {unknown[0]!r} is none of {', '.join(ARTIFACTS)}")
    _on.update(names)


_from_the_environment(os.environ.get(VARIABLE, ""))
