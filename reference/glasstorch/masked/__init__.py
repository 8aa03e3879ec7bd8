"""Which operators take a mask that excludes elements?

Reading order: `_sparse` (of sparse tensors), `_ops`.

Mirrors: torch/masked/__init__.py
Differs: a mask is an argument; there is no MaskedTensor, which is a prototype in PyTorch too.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.masked._ops import amax as amax
from glasstorch.masked._ops import amin as amin
from glasstorch.masked._ops import argmax as argmax
from glasstorch.masked._ops import argmin as argmin
from glasstorch.masked._ops import cumprod as cumprod
from glasstorch.masked._ops import cumsum as cumsum
from glasstorch.masked._ops import log_softmax as log_softmax
from glasstorch.masked._ops import logaddexp as logaddexp
from glasstorch.masked._ops import logsumexp as logsumexp
from glasstorch.masked._ops import mean as mean
from glasstorch.masked._ops import median as median
from glasstorch.masked._ops import norm as norm
from glasstorch.masked._ops import normalize as normalize
from glasstorch.masked._ops import prod as prod
from glasstorch.masked._ops import softmax as softmax
from glasstorch.masked._ops import softmin as softmin
from glasstorch.masked._ops import std as std
from glasstorch.masked._ops import sum as sum
from glasstorch.masked._ops import var as var

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]

__getattr__ = refuse_unknown_names(__name__)
