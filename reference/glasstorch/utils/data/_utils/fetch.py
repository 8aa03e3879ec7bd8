"""How are the samples of a batch fetched?

Mirrors: torch/utils/data/_utils/fetch.py
Differs: re-exports of the folder `data`.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.data.fetch import _BaseDatasetFetcher as _BaseDatasetFetcher
from glasstorch.data.fetch import _IterableDatasetFetcher as _IterableDatasetFetcher
from glasstorch.data.fetch import _MapDatasetFetcher as _MapDatasetFetcher

__getattr__ = _refuse_unknown_names(__name__)
