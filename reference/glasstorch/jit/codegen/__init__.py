"""How does a fused group of pointwise operators become one loop?

Reading order: `program` (the steps of a loop), `formulas` (which operators can be fused, and their steps), `lower`
(from a graph to a program), `walk` (the order of elements), `numpy_loop` and `cpp_loop` (the text of the loop),
`fused_group` (compiles and runs it).

Mirrors: torch/csrc/jit/codegen/fuser/, torch/csrc/jit/tensorexpr/
Differs: NumPy runs the loop in blocks that fit into the cache; if there is a C++ compiler, it may compile the loop.
"""

from glasstorch.jit.codegen.fused_group import FusedGroup as FusedGroup
from glasstorch.jit.codegen.fused_group import compile as compile
