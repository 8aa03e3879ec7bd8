"""Which classes hold a tensor's bytes?

Mirrors: torch/storage.py
Differs: nothing in substance; the classes live in core/.
"""

from __future__ import annotations

from glasstorch.core.storage import UntypedStorage as UntypedStorage
from glasstorch.core.typed_storage import TypedStorage as TypedStorage
from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = ["TypedStorage", "UntypedStorage"]

__getattr__ = refuse_unknown_names("glasstorch.storage")
