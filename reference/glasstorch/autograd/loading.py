"""How are all of autograd's kernels imported, so that they register themselves?

Mirrors: the static initialisers of TORCH_LIBRARY_IMPL blocks in torch/csrc/autograd/generated/VariableType_*.cpp,
    ADInplaceOrViewType_*.cpp and torch/csrc/autograd/VariableTypeManual.cpp
Differs: importing a module registers its kernels.
"""

from __future__ import annotations

from importlib import import_module

from glasstorch.autograd import records_nothing, unregistered
from glasstorch.dispatch.fast import PLAIN


def register_autograd_kernels() -> None:
    """Import the generated kernels, those written by hand, and the shortcuts; each registers itself.

    With GLASSTORCH_PLAIN=1 there are no shortcuts: Note [Plain and fast] (dispatch/fast.py).
    """
    import_module("glasstorch.autograd.generated.autograd_kernels")
    import_module("glasstorch.autograd.generated.inplace_or_view_kernels")
    import_module("glasstorch.autograd.generated.forward_rules")
    import_module("glasstorch.autograd.forward")
    import_module("glasstorch.autograd.manual")
    import_module("glasstorch.autograd.not_implemented")
    unregistered.register_fallback()
    records_nothing.register_rest()
    if not PLAIN:
        import_module("glasstorch.autograd.shortcuts")
