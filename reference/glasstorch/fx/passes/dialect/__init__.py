"""Which passes ask little of the operators that a graph consists of?

Reading order: `common/`.

Mirrors: torch/fx/passes/dialect/__init__.py
"""
