"""Which classes hold a tensor's bytes?

Mirrors: torch/storage.py
Differs: re-exports of core/storage.py and core/typed_storage.py; and what PyTorch's plain pickles of storages call.
"""

from __future__ import annotations

import io
from typing import Any

from glasstorch.core.storage import UntypedStorage as UntypedStorage
from glasstorch.core.storage import _StorageBase as _StorageBase
from glasstorch.core.typed_storage import TypedStorage as TypedStorage
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.serialization.loading import load

__all__ = ["TypedStorage", "UntypedStorage"]


def _load_from_bytes(b: bytes) -> Any:
    """The storage in a plain pickle of PyTorch's. As every pickle, it can run any code."""
    return load(io.BytesIO(b), weights_only=False)


__getattr__ = refuse_unknown_names("glasstorch.storage")
