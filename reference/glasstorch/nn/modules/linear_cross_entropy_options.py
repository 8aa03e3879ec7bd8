"""Where does PyTorch keep the options of `LinearCrossEntropyLoss`?

Mirrors: torch/nn/modules/linear_cross_entropy_options.py
Differs: they are written beside the function, which modules import and which imports no module.
"""

from glasstorch.nn.functions.linear_cross_entropy import LinearCrossEntropyOptions

__all__ = ["LinearCrossEntropyOptions"]
