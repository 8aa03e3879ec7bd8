"""What has happened while programs were compiled, and how often?

Mirrors: torch/_dynamo/utils.py (counters)
"""

from __future__ import annotations

from collections import Counter, defaultdict

# By topic: "frames", "stats", "graph_break", "unimplemented", "recompiles".
counters: defaultdict[str, Counter[str]] = defaultdict(Counter)
