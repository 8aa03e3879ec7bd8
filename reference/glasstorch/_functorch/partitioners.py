"""How is a joint graph cut in two?

Mirrors: torch/_functorch/partitioners.py
Differs: the code is in compiler/partition.py and compiler/min_cut.py.
"""

from glasstorch.compiler.min_cut import (
    min_cut_rematerialization_partition as min_cut_rematerialization_partition,
)
from glasstorch.compiler.partition import _extract_fwd_bwd_modules as _extract_fwd_bwd_modules
from glasstorch.compiler.partition import default_partition as default_partition
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names

__getattr__ = _refuse_unknown_names(__name__)
