"""How is a part of a graph found, and can it be taken out?

Reading order: `fuser_utils`, `matcher_utils`.

Mirrors: torch/fx/passes/utils/__init__.py
"""
