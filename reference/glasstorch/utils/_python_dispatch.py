"""Where does PyTorch keep the modes that see every operator?

Mirrors: torch/utils/_python_dispatch.py
Differs: a thin re-export of `glasstorch/_python_dispatch.py`.
"""

from glasstorch._python_dispatch import TorchDispatchMode as TorchDispatchMode

__all__ = ["TorchDispatchMode"]
