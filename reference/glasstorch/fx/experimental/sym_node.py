"""What is behind a symbol, at PyTorch's own path?

Mirrors: torch/fx/experimental/sym_node.py
Differs: the code is in _symbols/node.py.
"""

from glasstorch.core.symbols import SYMBOLS as SymTypes
from glasstorch.fx.experimental._symbols.node import SymNode as SymNode

__all__ = ["SymNode", "SymTypes"]
