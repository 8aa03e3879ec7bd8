"""Which datasets, samplers and loaders does torch.utils.data offer?

Reading order: `dataset`, `sampler`, `distributed`, `dataloader`, `_utils`.

Mirrors: torch/utils/data/__init__.py
Differs: re-exports of the folder `data`.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.utils.data import _utils as _utils
from glasstorch.utils.data import dataloader as dataloader
from glasstorch.utils.data import dataset as dataset
from glasstorch.utils.data import distributed as distributed
from glasstorch.utils.data import sampler as sampler
from glasstorch.utils.data.dataloader import DataLoader as DataLoader
from glasstorch.utils.data.dataloader import _DatasetKind as _DatasetKind
from glasstorch.utils.data.dataloader import default_collate as default_collate
from glasstorch.utils.data.dataloader import default_convert as default_convert
from glasstorch.utils.data.dataloader import get_worker_info as get_worker_info
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

__getattr__ = _refuse_unknown_names(__name__)
