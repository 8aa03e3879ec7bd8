"""Where do programs find the mode that compares calls with their schemas?

Mirrors: torch/_subclasses/schema_check_mode.py
Differs: re-exports of _library/schema_check.py.
"""

from __future__ import annotations

from glasstorch._library.schema_check import Aliasing as Aliasing
from glasstorch._library.schema_check import Mutation as Mutation
from glasstorch._library.schema_check import SchemaCheckMode as SchemaCheckMode
from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = ["Aliasing", "Mutation", "SchemaCheckMode"]

__getattr__ = refuse_unknown_names("glasstorch._subclasses.schema_check_mode")
