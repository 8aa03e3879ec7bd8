"""Where does a program set how forward and backward are compiled?

Mirrors: torch/_functorch/config.py
Differs: the values are in compiler/partition_settings.py.
"""

import sys

from glasstorch.compiler.partition_settings import settings
from glasstorch.compiler.setting_table import module_of

sys.modules[__name__].__class__ = module_of(settings)
