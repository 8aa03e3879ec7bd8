"""Which classes hold a tensor's bytes?

Mirrors: torch/storage.py
Differs: re-exports of core/storage.py and core/typed_storage.py.
"""

from __future__ import annotations

from glasstorch.core.storage import UntypedStorage as UntypedStorage
from glasstorch.core.typed_storage import TypedStorage as TypedStorage
from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = ["TypedStorage", "UntypedStorage"]

__getattr__ = refuse_unknown_names("glasstorch.storage")
