"""How is a tensor pickled for another process?

Mirrors: torch/multiprocessing/reductions.py
Differs: re-exports of data/reductions.py.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.data.reductions import StorageWeakRef as StorageWeakRef
from glasstorch.data.reductions import reduce_storage as reduce_storage
from glasstorch.data.reductions import reduce_tensor as reduce_tensor

__all__ = ["StorageWeakRef", "reduce_storage", "reduce_tensor"]

__getattr__ = refuse_unknown_names("glasstorch.multiprocessing.reductions")
