"""Which compilers only look at a graph?

Mirrors: torch/_functorch/compilers.py
Differs: the code is in compiler/graph_compilers.py.
"""

from glasstorch.compiler.graph_compilers import debug_nop as debug_nop
from glasstorch.compiler.graph_compilers import memory_efficient_fusion as memory_efficient_fusion
from glasstorch.compiler.graph_compilers import nop as nop
from glasstorch.compiler.graph_compilers import print_compile as print_compile
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names

__getattr__ = _refuse_unknown_names(__name__)
