"""Which few operators of a graph make it fail, at PyTorch's own path?

Mirrors: torch/_functorch/fx_minifier.py
Differs: the code is in compiler/minifier.py.
"""

from glasstorch.compiler.minifier import ReproState as ReproState
from glasstorch.compiler.minifier import dump_state as dump_state
from glasstorch.compiler.minifier import is_power_of_two as is_power_of_two
from glasstorch.compiler.minifier import minifier as minifier
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names

__getattr__ = _refuse_unknown_names(__name__)
