"""What do the operators of the family copies compute?"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.agreement.rows.shared import ONE
from tests.agreement.samples import Device, Dtype, Row, always, call, row, t

Array = np.ndarray[Any, Any]


ROWS: tuple[Row, ...] = (
    # Copies and conversions
    row("clone", lambda x: x, *ONE),
    row("contiguous", lambda x: x, *ONE),
    row("copy_", lambda x, y: np.broadcast_to(y, x.shape), call(t(2, 3), t(2, 3)), call(t(2, 3), t(3)),
        call(t(3, 2, layout="transposed"), t(3, 2)), call(t(2, 3), t(2, 3, dtype="int64"))),
    row("_to_copy", lambda x, **_: x, call(t(2, 3), dtype=Dtype("float64")),
        call(t(3, 2, layout="transposed"), dtype=Dtype("float64")), result=always("float64")),
    row("to.dtype", lambda x, *_: x, call(t(2, 3), Dtype("float64")), result=always("float64")),
    row("to.device", lambda x, *_: x, call(t(2, 3), Device("cpu"), Dtype("float64")), result=always("float64"),
        meta=False),
    row("to.other", lambda x, *_: x, call(t(2, 3), t(1, dtype="float64", grad=False)), result=always("float64")),
    row("to.dtype_layout", lambda x, **_: x, call(t(2, 3), dtype=Dtype("float64")), result=always("float64")),
    row("type_as", lambda x, y: x, call(t(2, 3), t(1, dtype="float64", grad=False)), result=always("float64")),
    row("copy", lambda x, y: np.broadcast_to(y, x.shape).astype(x.dtype), call(t(2, 3), t(3)),
        call(t(3, 2, layout="transposed"), t(3, 2, dtype="int64")), differentiable=False),
    row("zero", np.zeros_like, *ONE),
    row("fill.Scalar", np.full_like, call(t(2, 3), 1), call(t(3, 2, layout="transposed"), 1)),
    row("fill.Tensor", lambda x, y: np.full_like(x, y), call(t(2, 3), t())),
    row("fill_.Scalar", np.full_like, call(t(2, 3), 1), call(t(2, 3, layout="stepped"), 0)),
    row("fill_.Tensor", lambda x, y: np.full_like(x, y), call(t(2, 3), t())),
    row("zero_", np.zeros_like, *ONE),
    row("item", lambda x: x.item(), call(t()), call(t(1, 1)), differentiable=False, meta=False),
    row("is_distributed", lambda x: False, call(t(2, 3)), differentiable=False, meta=False),
    row("_local_scalar_dense", lambda x: x.item(), call(t()), differentiable=False, meta=False),
)  # fmt: skip
