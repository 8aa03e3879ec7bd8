"""Which function makes loops of a graph, at PyTorch's own path?

Mirrors: torch/_inductor/compile_fx.py (compile_fx, compile_fx_inner)
"""

from glasstorch.compiler.loops.backend import compile_fx as compile_fx
from glasstorch.compiler.loops.backend import compile_fx_inner as compile_fx_inner
