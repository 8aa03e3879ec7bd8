"""How does a program ask for batches?

Mirrors: torch/utils/data/dataloader.py
Differs: re-exports of the folder `data`.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.data.collate import default_collate as default_collate
from glasstorch.data.collate import default_convert as default_convert
from glasstorch.data.dataloader import DataLoader as DataLoader
from glasstorch.data.dataloader import _InfiniteConstantSampler as _InfiniteConstantSampler
from glasstorch.data.fetch import _DatasetKind as _DatasetKind
from glasstorch.data.iterators import _BaseDataLoaderIter as _BaseDataLoaderIter
from glasstorch.data.iterators import _SingleProcessDataLoaderIter as _SingleProcessDataLoaderIter
from glasstorch.data.worker_info import get_worker_info as get_worker_info
from glasstorch.data.workers import _MultiProcessingDataLoaderIter as _MultiProcessingDataLoaderIter

__all__ = [
    "DataLoader",
    "get_worker_info",
    "default_collate",
    "default_convert",
]

__getattr__ = _refuse_unknown_names(__name__)
