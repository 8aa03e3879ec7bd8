"""What is compiled ahead of time, at PyTorch's own paths?

Reading order: `aot_autograd`, `partitioners`, `compilers`, `config`, and `fx_minifier` for a graph that fails.

Mirrors: torch/_functorch/__init__.py
Differs: the code is in compiler/.
"""

from glasstorch._functorch import config as config
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names

__getattr__ = _refuse_unknown_names(__name__)
