"""How does a group of pointwise operators become one loop?

Reading order: `program`, `formulas`, `lower`, `walk`, `numpy_loop`, `cpp_loop`, `fused_group`.

Mirrors: torch/csrc/jit/codegen/fuser/, torch/csrc/jit/tensorexpr/
Differs: NumPy runs the loop in blocks that fit into the cache; where a C++ compiler is there, it may make one of it.
"""

from glasstorch.jit.codegen.fused_group import FusedGroup as FusedGroup
from glasstorch.jit.codegen.fused_group import compile as compile
