"""Which class of modules in several processes has this public path?

Mirrors: torch/nn/parallel/distributed.py
Differs: re-exports of glasstorch/nn/parallel/distributed_data_parallel.py.
"""

from glasstorch.nn.parallel.distributed_data_parallel import DistributedDataParallel as DistributedDataParallel

__all__ = ["DistributedDataParallel"]
