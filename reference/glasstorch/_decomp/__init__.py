"""Where does a program find the table of decompositions?

Mirrors: torch/_decomp/__init__.py
Differs: the code is in compiler/decompositions/.
"""

from glasstorch.compiler.decompositions.table import (
    _core_aten_decompositions_post_autograd as _core_aten_decompositions_post_autograd,
)
from glasstorch.compiler.decompositions.table import core_aten_decompositions as core_aten_decompositions
from glasstorch.compiler.decompositions.table import decomposition_table as decomposition_table
from glasstorch.compiler.decompositions.table import get_decompositions as get_decompositions
from glasstorch.compiler.decompositions.table import global_decomposition_table as global_decomposition_table
from glasstorch.compiler.decompositions.table import meta_table as meta_table
from glasstorch.compiler.decompositions.table import (
    pre_autograd_decomposition_table as pre_autograd_decomposition_table,
)
from glasstorch.compiler.decompositions.table import register_decomposition as register_decomposition
from glasstorch.compiler.decompositions.table import remove_decompositions as remove_decompositions
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names

__getattr__ = _refuse_unknown_names(__name__)
