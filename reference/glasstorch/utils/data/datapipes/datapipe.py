"""What are data pipes?

Mirrors: torch/utils/data/datapipes/datapipe.py
Differs: re-exports of data/datapipes.py.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.data.datapipes import DataChunk as DataChunk
from glasstorch.data.datapipes import DFIterDataPipe as DFIterDataPipe
from glasstorch.data.datapipes import IterDataPipe as IterDataPipe
from glasstorch.data.datapipes import MapDataPipe as MapDataPipe

__all__ = ["DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe"]

__getattr__ = _refuse_unknown_names(__name__)
