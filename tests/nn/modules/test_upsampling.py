"""Do layers that resample look and compute as in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import assert_same

Require = Callable[[str], Any]

LAYERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Upsample", {"scale_factor": 2}),
    ("Upsample", {"scale_factor": (2, 3), "mode": "bilinear"}),
    ("Upsample", {"size": (3, 5), "mode": "bicubic", "align_corners": True}),
    ("Upsample", {"scale_factor": 1.3, "mode": "nearest-exact", "recompute_scale_factor": True}),
    ("Upsample", {}),
    ("UpsamplingNearest2d", {"scale_factor": 2}),
    ("UpsamplingBilinear2d", {"size": (7, 3)}),
)


@pytest.mark.parametrize(("name", "options"), LAYERS)
def test_a_layer_is_as_in_pytorch(name: str, options: dict[str, Any], require: Require) -> None:
    def program(lib: Any) -> Any:
        layer = getattr(lib.nn, name)(**options)
        shown = repr(layer), layer.name, layer.scale_factor, layer.size, list(layer.__constants__)
        return shown, [round(float(each), 3) for each in layer(lib.arange(16.0).view(1, 1, 4, 4)).flatten()]

    assert_same(program, require("torch"))
