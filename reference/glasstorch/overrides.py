"""How does an object that is no tensor answer for a call, as `torch.overrides` lets it?

Mirrors: torch/overrides.py
Differs: re-exports of calls/overloaded.py. What lists functions (`get_overridable_functions` and its like) is missing.
"""

from glasstorch.calls.overloaded import handle_torch_function as handle_torch_function
from glasstorch.calls.overloaded import has_torch_function as has_torch_function
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names

__all__ = ["handle_torch_function", "has_torch_function"]

__getattr__ = _refuse_unknown_names(__name__)
