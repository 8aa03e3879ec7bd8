"""What is a dataset?

Mirrors: torch/utils/data/dataset.py
Differs: re-exports of the folder `data`.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.data.dataset import ChainDataset as ChainDataset
from glasstorch.data.dataset import ConcatDataset as ConcatDataset
from glasstorch.data.dataset import Dataset as Dataset
from glasstorch.data.dataset import IterableDataset as IterableDataset
from glasstorch.data.dataset import StackDataset as StackDataset
from glasstorch.data.dataset import Subset as Subset
from glasstorch.data.dataset import TensorDataset as TensorDataset
from glasstorch.data.dataset import random_split as random_split

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

__getattr__ = _refuse_unknown_names(__name__)
