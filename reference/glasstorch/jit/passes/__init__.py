"""Which changes to a graph keep what it computes?

Reading order: `normalize_ops`, `dead_code`, `common_subexpression`, `constant_propagation`, `peephole`, `erase_shapes`,
`create_autodiff_subgraphs`, `decompose_ops`, `fuse_pointwise`, `pipeline`.

Mirrors: torch/csrc/jit/passes/
Differs: each pass says whether it changed the graph, and checks the graph before it returns.

A pass is a function: graph -> whether it changed. It edits the graph in place, asks alias_analysis.py what may be
touched, and ends with `graph.lint()`.
"""
