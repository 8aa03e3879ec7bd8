"""Where does a program set how forward and backward are compiled?

Mirrors: torch/_functorch/config.py
Differs: it is the module compiler/partition_settings.py under PyTorch's name.
"""

import sys as _sys

from glasstorch.compiler import partition_settings as _settings

_sys.modules[__name__] = _settings
