"""How is a program captured as a graph that other programs can read and change?

Reading order: what a graph is: `immutable_collections`, `_names`, `node`, `_side_effects`, `graph`, `_lint`; how it is
written as code: `_custom_builtins`, `_pytree`, `_operator_texts`, `tensor_type`, `_annotations`, `_codegen`,
`_pytree_codegen`; how a program is captured: `config`, `traceback`, `proxy`, `annotate`, `operator_schemas`,
`_patching`, `_symbolic_trace`; how a graph runs: `_readable`, `_saving`, `graph_module`, `interpreter`; how it is
changed: `subgraph_rewriter`, `passes/`; how it is captured in another way, and made cheaper: `experimental/`.

Mirrors: torch/fx/__init__.py
Differs: the decorator that marks names as backward compatible is missing.
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.fx._symbolic_trace import PH as PH
from glasstorch.fx._symbolic_trace import ProxyableClassMeta as ProxyableClassMeta
from glasstorch.fx._symbolic_trace import Tracer as Tracer
from glasstorch.fx._symbolic_trace import symbolic_trace as symbolic_trace
from glasstorch.fx._symbolic_trace import wrap as wrap
from glasstorch.fx.graph import CodeGen as CodeGen
from glasstorch.fx.graph import Graph as Graph
from glasstorch.fx.graph_module import GraphModule as GraphModule
from glasstorch.fx.interpreter import Interpreter as Interpreter
from glasstorch.fx.interpreter import Transformer as Transformer
from glasstorch.fx.node import Node as Node
from glasstorch.fx.node import has_side_effect as has_side_effect
from glasstorch.fx.node import map_arg as map_arg
from glasstorch.fx.proxy import Proxy as Proxy
from glasstorch.fx.subgraph_rewriter import replace_pattern as replace_pattern

__getattr__ = _refuse_unknown_names(__name__)
