"""How is it chosen what a compilation prints, at PyTorch's own path?

Reading order: this file is all there is.

Mirrors: torch/_logging/__init__.py (set_logs)
Differs: the code is in compiler/logs.py.
"""

from glasstorch.compiler.logs import set_logs as set_logs
