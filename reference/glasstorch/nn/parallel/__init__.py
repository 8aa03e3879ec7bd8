"""How does one module run on several devices of a machine?

Without a CUDA device DataParallel runs its module as it is. DistributedDataParallel, which several processes share, can
be imported and not be made.

Reading order: `devices`, `comm`, `scatter_gather`, `replicate`, `parallel_apply`, `data_parallel`,
`distributed_data_parallel`, `distributed`.

Mirrors: torch/nn/parallel/__init__.py
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.nn.parallel.data_parallel import DataParallel, data_parallel
from glasstorch.nn.parallel.distributed_data_parallel import DistributedDataParallel
from glasstorch.nn.parallel.parallel_apply import parallel_apply
from glasstorch.nn.parallel.replicate import replicate
from glasstorch.nn.parallel.scatter_gather import gather, scatter

__all__ = [
    "replicate",
    "scatter",
    "parallel_apply",
    "gather",
    "data_parallel",
    "DataParallel",
    "DistributedDataParallel",
]

__getattr__ = _refuse_unknown_names(__name__)
