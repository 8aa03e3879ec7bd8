"""How does the learning rate change from step to step?

Reading order: `scheduler` (what all share), `factors` (multiples of a rate), `cosine`, `cycles`, `plateau` (falls
when the loss does not), `chains` (schedulers of schedulers).

Mirrors: torch/optim/lr_scheduler.py
Differs: a folder, with a file for each kind.
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.optim.lr_scheduler.chains import ChainedScheduler, SequentialLR
from glasstorch.optim.lr_scheduler.cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from glasstorch.optim.lr_scheduler.cycles import CyclicLR, OneCycleLR
from glasstorch.optim.lr_scheduler.factors import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from glasstorch.optim.lr_scheduler.plateau import ReduceLROnPlateau
from glasstorch.optim.lr_scheduler.scheduler import LRScheduler
from glasstorch.optim.lr_scheduler.scheduler import _LRScheduler as _LRScheduler

__all__ = [
    "LambdaLR",
    "MultiplicativeLR",
    "StepLR",
    "MultiStepLR",
    "ConstantLR",
    "LinearLR",
    "ExponentialLR",
    "SequentialLR",
    "CosineAnnealingLR",
    "ChainedScheduler",
    "ReduceLROnPlateau",
    "CyclicLR",
    "CosineAnnealingWarmRestarts",
    "OneCycleLR",
    "PolynomialLR",
    "LRScheduler",
]


__getattr__ = _refuse_unknown_names(__name__)
