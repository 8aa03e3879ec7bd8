"""In which order are samples drawn?

Mirrors: torch/utils/data/sampler.py
Differs: re-exports of the folder `data`.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.data.sampler import BatchSampler as BatchSampler
from glasstorch.data.sampler import RandomSampler as RandomSampler
from glasstorch.data.sampler import Sampler as Sampler
from glasstorch.data.sampler import SequentialSampler as SequentialSampler
from glasstorch.data.sampler import SubsetRandomSampler as SubsetRandomSampler
from glasstorch.data.sampler import WeightedRandomSampler as WeightedRandomSampler

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

__getattr__ = _refuse_unknown_names(__name__)
