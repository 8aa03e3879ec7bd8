"""Which settings does the capture of programs have, at PyTorch's own path?

Mirrors: torch/_dynamo/config.py
Differs: the values are in compiler/settings.py.
"""

import sys

from glasstorch.compiler.setting_table import module_of
from glasstorch.compiler.settings import settings

sys.modules[__name__].__class__ = module_of(settings)
