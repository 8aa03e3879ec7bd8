"""How is a part of a graph found, and can it be taken out?

Reading order: `fuser_utils`, `matcher_utils`, `matcher_with_name_node_map_utils`, `source_matcher_utils`, `common`.

Mirrors: torch/fx/passes/utils/__init__.py
"""

from glasstorch.fx.passes.utils.common import HolderModule as HolderModule
from glasstorch.fx.passes.utils.common import compare_graphs as compare_graphs
from glasstorch.fx.passes.utils.common import lift_subgraph_as_module as lift_subgraph_as_module
