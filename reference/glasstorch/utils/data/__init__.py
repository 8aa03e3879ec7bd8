"""Which datasets, samplers and loaders does torch.utils.data offer?

Reading order: `dataset`, `sampler`, `distributed`, `dataloader`, `_utils`, `datapipes`.

Mirrors: torch/utils/data/__init__.py
Differs: re-exports of the folder `data`.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.data.datapipe_checks import argument_validation as argument_validation
from glasstorch.data.datapipe_checks import guaranteed_datapipes_determinism as guaranteed_datapipes_determinism
from glasstorch.data.datapipe_checks import non_deterministic as non_deterministic
from glasstorch.data.datapipe_checks import runtime_validation as runtime_validation
from glasstorch.data.datapipe_checks import runtime_validation_disabled as runtime_validation_disabled
from glasstorch.data.datapipes import functional_datapipe as functional_datapipe
from glasstorch.utils.data import _utils as _utils
from glasstorch.utils.data import dataloader as dataloader
from glasstorch.utils.data import datapipes as datapipes
from glasstorch.utils.data import dataset as dataset
from glasstorch.utils.data import distributed as distributed
from glasstorch.utils.data import sampler as sampler
from glasstorch.utils.data.dataloader import DataLoader as DataLoader
from glasstorch.utils.data.dataloader import _DatasetKind as _DatasetKind
from glasstorch.utils.data.dataloader import default_collate as default_collate
from glasstorch.utils.data.dataloader import default_convert as default_convert
from glasstorch.utils.data.dataloader import get_worker_info as get_worker_info
from glasstorch.utils.data.datapipes.datapipe import DataChunk as DataChunk
from glasstorch.utils.data.datapipes.datapipe import DFIterDataPipe as DFIterDataPipe
from glasstorch.utils.data.datapipes.datapipe import IterDataPipe as IterDataPipe
from glasstorch.utils.data.datapipes.datapipe import MapDataPipe as MapDataPipe
from glasstorch.utils.data.dataset import ChainDataset as ChainDataset
from glasstorch.utils.data.dataset import ConcatDataset as ConcatDataset
from glasstorch.utils.data.dataset import Dataset as Dataset
from glasstorch.utils.data.dataset import IterableDataset as IterableDataset
from glasstorch.utils.data.dataset import StackDataset as StackDataset
from glasstorch.utils.data.dataset import Subset as Subset
from glasstorch.utils.data.dataset import TensorDataset as TensorDataset
from glasstorch.utils.data.dataset import random_split as random_split
from glasstorch.utils.data.distributed import DistributedSampler as DistributedSampler
from glasstorch.utils.data.sampler import BatchSampler as BatchSampler
from glasstorch.utils.data.sampler import RandomSampler as RandomSampler
from glasstorch.utils.data.sampler import Sampler as Sampler
from glasstorch.utils.data.sampler import SequentialSampler as SequentialSampler
from glasstorch.utils.data.sampler import SubsetRandomSampler as SubsetRandomSampler
from glasstorch.utils.data.sampler import WeightedRandomSampler as WeightedRandomSampler

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DFIterDataPipe",
    "DataChunk",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterDataPipe",
    "IterableDataset",
    "MapDataPipe",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "_DatasetKind",
    "argument_validation",
    "default_collate",
    "default_convert",
    "functional_datapipe",
    "get_worker_info",
    "guaranteed_datapipes_determinism",
    "non_deterministic",
    "random_split",
    "runtime_validation",
    "runtime_validation_disabled",
]

__getattr__ = _refuse_unknown_names(__name__)
