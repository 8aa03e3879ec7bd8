"""How does a user declare operators and register kernels?

Mirrors: torch/library.py
Differs: re-exports of dispatch/library.py.
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.dispatch.library import Library as Library
from glasstorch.dispatch.library import Library as _scoped_library  # noqa: F401  (a Library is a `with` block itself)
from glasstorch.dispatch.operator import fallthrough_kernel as fallthrough_kernel

__getattr__ = _refuse_unknown_names(__name__)
