"""How do samples become a batch?

Mirrors: torch/utils/data/_utils/collate.py
Differs: re-exports of the folder `data`.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.data.collate import collate as collate
from glasstorch.data.collate import collate_float_fn as collate_float_fn
from glasstorch.data.collate import collate_int_fn as collate_int_fn
from glasstorch.data.collate import collate_numpy_array_fn as collate_numpy_array_fn
from glasstorch.data.collate import collate_numpy_scalar_fn as collate_numpy_scalar_fn
from glasstorch.data.collate import collate_str_fn as collate_str_fn
from glasstorch.data.collate import collate_tensor_fn as collate_tensor_fn
from glasstorch.data.collate import default_collate as default_collate
from glasstorch.data.collate import default_collate_err_msg_format as default_collate_err_msg_format
from glasstorch.data.collate import default_collate_fn_map as default_collate_fn_map
from glasstorch.data.collate import default_convert as default_convert

__getattr__ = _refuse_unknown_names(__name__)
