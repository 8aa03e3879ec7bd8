"""Which changes of a graph are so common that they need not be written again?

Reading order: `shape_prop` and `fake_tensor_prop` note what each node gives; `tools_common` orders nodes,
`graph_manipulation` and `annotate_getitem_nodes` look at each of them, `param_fetch` at layers; `_box_texts` and
`graph_drawer` draw a graph, and `graph_transform_observer` what a pass does to it; `utils/` finds a pattern in a graph,
and makes one node of several; `_global_state`, `_outer_module` and `split_module` make a chain of submodules,
`_boundary` and `split_utils` do so by tags; `operator_support` says which nodes a backend can compute; `_pass_list`,
`pass_manager` and `infra/` put passes in order; `dialect/` has a pass, and `_aliases` and `reinplace` another.

Mirrors: torch/fx/passes/__init__.py
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.fx.passes import graph_drawer as graph_drawer
from glasstorch.fx.passes import graph_manipulation as graph_manipulation
from glasstorch.fx.passes import operator_support as operator_support
from glasstorch.fx.passes import param_fetch as param_fetch
from glasstorch.fx.passes import reinplace as reinplace
from glasstorch.fx.passes import shape_prop as shape_prop
from glasstorch.fx.passes import split_module as split_module
from glasstorch.fx.passes import split_utils as split_utils
from glasstorch.fx.passes import tools_common as tools_common

__getattr__ = _refuse_unknown_names(__name__)
