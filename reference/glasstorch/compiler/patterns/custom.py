"""What of a graph do functions of a program change, which it sets in `torch._inductor.config`?

Mirrors: torch/_inductor/custom_graph_pass.py, torch/_inductor/fx_passes/post_grad.py (post_grad_custom_pre_pass)
"""

from __future__ import annotations

from typing import Any

from glasstorch._subclasses.fake_tensor import FakeTensorMode
from glasstorch.compiler.loops.settings import settings
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.passes.fake_tensor_prop import FakeTensorProp


def custom(name: str, module: Any, *, is_traced: bool = True) -> Any:
    """The module after the function of this name has changed its graph; of a traced one new nodes get fake tensors."""
    change = settings.value(name)
    if change is None or not isinstance(module, GraphModule):
        return module
    change(module.graph)
    module.graph.lint()
    module.recompile()
    if is_traced:
        inputs = [node.meta.get("val") for node in module.graph.find_nodes(op="placeholder")]
        FakeTensorProp(module, FakeTensorMode(allow_non_fake_inputs=True)).propagate_dont_convert_inputs(*inputs)
    return module
