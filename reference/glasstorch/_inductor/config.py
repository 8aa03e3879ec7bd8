"""Which settings does the library's own compiler have, at PyTorch's own path?

Mirrors: torch/_inductor/config.py
Differs: the values are in compiler/loops/settings.py.
"""

import sys

from glasstorch.compiler.loops.settings import settings
from glasstorch.compiler.setting_table import module_of

sys.modules[__name__].__class__ = module_of(settings)
