"""How do expressions stand for sizes that are not known yet?

Mirrors: torch/fx/experimental/symbolic_shapes.py, torch/fx/experimental/sym_node.py, torch/utils/_sympy

Reading order: `functions` (Python's arithmetic in sympy's words), `ranges`, `relations` (what follows from an equation
or an inequality), `printing`, `sources`, `contexts` (which sizes become symbols), `node` (the arithmetic of a SymInt),
`stacks`, `errors`, `state`, then `creation`, `deciding` and `checking` (the three parts of a ShapeEnv), `env`,
`questions` (what programs ask about symbols).
"""
