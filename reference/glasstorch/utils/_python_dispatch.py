"""Which dispatch modes are in torch.utils?

Mirrors: torch/utils/_python_dispatch.py
Differs: re-exports of glasstorch/_python_dispatch.py.
"""

from glasstorch._python_dispatch import TorchDispatchMode as TorchDispatchMode

__all__ = ["TorchDispatchMode"]
