"""Which samples does one of several processes train on?

Mirrors: torch/utils/data/distributed.py
Differs: there are no groups of processes, so `num_replicas` and `rank` must be given.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sized
from typing import Any, cast

from glasstorch.core.random.generator import Generator
from glasstorch.data.dataset import Dataset
from glasstorch.data.sampler import Sampler
from glasstorch.operators.generated import functions as f

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[Any]):
    """The indices of one process, the `rank`-th of `num_replicas`; each process gets as many.

    All processes draw the same order, by `seed` and the epoch, and each takes every `num_replicas`-th index. Indices
    from the front are repeated at the end to make the counts equal, or with `drop_last` some are left out there. Call
    `set_epoch` before each epoch; otherwise all epochs have the same order.
    """

    def __init__(
        self,
        dataset: Dataset[Any],
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            raise RuntimeError("Requires distributed package to be available; or give num_replicas= and rank=")
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset: Any = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        size = len(cast(Sized, dataset))
        self.num_samples = size // num_replicas if drop_last else math.ceil(size / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[int]:
        size = len(self.dataset)
        indices: Any = range(size)
        if self.shuffle:
            indices = f.randperm(size, generator=Generator().manual_seed(self.seed + self.epoch)).tolist()
        repeated = itertools.islice(itertools.cycle(indices), self.total_size)
        return iter(list(itertools.islice(repeated, self.rank, None, self.num_replicas)))

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Draw another order at the next iteration: the one of this epoch."""
        self.epoch = epoch
