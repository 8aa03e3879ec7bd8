"""How else can a program be captured, and what can be made of it?

Reading order: `_tracked` (which node stands for a tensor), `proxy_tensor` (operators become nodes as they run);
`_symbols` (sizes that are not known yet), which `symbolic_shapes` and `sym_node` offer;
`optimization` and `const_fold` make a model cheaper, `merge_matmul` makes one product of several;
`schema_type_annotation` says of which types results are, `normalize` writes calls that mean the same in the same way.

Mirrors: torch/fx/experimental/__init__.py
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names

__getattr__ = _refuse_unknown_names(__name__)
