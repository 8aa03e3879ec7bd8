"""Do functions that resample refuse, warn and compute as in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nn.side_by_side import assert_same

Require = Callable[[str], Any]

MODES = ("nearest", "nearest-exact", "area", "linear", "bilinear", "bicubic", "trilinear", "lanczos", "other")
WAYS: tuple[dict[str, Any], ...] = (
    {"size": 3},
    {"size": (3,)},
    {"size": (3, 2)},
    {"size": (3, 2, 2)},
    {"size": 2.5},
    {"size": (2.5, 2)},
    {"scale_factor": 1.5},
    {"scale_factor": (1.5, 0.7)},
    {"scale_factor": 1.3, "recompute_scale_factor": True},
    {"scale_factor": 1.3, "recompute_scale_factor": False},
    {"size": 3, "recompute_scale_factor": True},
    {"size": 3, "scale_factor": 2},
    {"size": 0},
    {"scale_factor": 0.1},
    {"size": 3, "align_corners": True},
    {"size": 3, "align_corners": False},
    {"size": 3, "antialias": True},
    {"size": (3, 2), "antialias": True, "align_corners": True},
    {},
)


@pytest.mark.parametrize("mode", MODES)
def test_interpolate_is_as_in_pytorch(mode: str, require: Require) -> None:
    torch = require("torch")
    for dims in (2, 3, 4, 5):
        for way in WAYS:

            def program(lib: Any, dims: int = dims, way: dict[str, Any] = way) -> Any:
                x = lib.arange(2.0 * 2 * 4 ** (dims - 2)).view(2, 2, *[4] * (dims - 2))
                result = lib.nn.functional.interpolate(x, mode=mode, **way)
                return list(result.shape), result.flatten().tolist()

            parsed_in_c = isinstance(way.get("size"), float) or ("antialias" in way and dims == 4)
            assert_same(program, torch, words=not parsed_in_c, within=1e-5)


@pytest.mark.parametrize("name", ["upsample", "upsample_nearest", "upsample_bilinear"])
def test_old_names_warn(name: str, require: Require) -> None:
    def program(lib: Any) -> Any:
        x = lib.arange(16.0).view(1, 1, 4, 4)
        return getattr(lib.nn.functional, name)(x, scale_factor=2).flatten().tolist()

    assert_same(program, require("torch"), within=1e-5)


GRIDS: tuple[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]], ...] = (
    ((2, 3, 4, 5), (2, 3, 2, 2), {}),
    ((2, 3, 4, 5), (2, 3, 2, 2), {"mode": "cubic"}),
    ((2, 3, 4, 5), (2, 3, 2, 2), {"padding_mode": "wrap"}),
    ((2, 3, 4, 5), (2, 3, 2, 3), {"align_corners": True}),
    ((2, 3, 4, 5), (1, 3, 2, 2), {"align_corners": True}),
    ((2, 3, 4, 0), (2, 3, 2, 2), {"align_corners": True}),
    ((2, 3, 4, 5, 6), (2, 3, 2, 2, 3), {"align_corners": True, "mode": "bicubic"}),
    ((2, 3, 4, 5), (2, 3, 2, 2, 2), {"align_corners": True}),
    ((2, 3, 4), (2, 3, 1), {"align_corners": True}),
    ((2, 3, 4, 5), (2, 0, 2, 2), {"align_corners": True}),
    ((0, 3, 4, 5), (0, 3, 2, 2), {"align_corners": True}),
)


@pytest.mark.parametrize(("sizes", "places", "options"), GRIDS)
def test_grid_sample_is_as_in_pytorch(
    sizes: tuple[int, ...], places: tuple[int, ...], options: dict[str, Any], require: Require
) -> None:
    def program(lib: Any) -> Any:
        result = lib.nn.functional.grid_sample(lib.ones(sizes), lib.zeros(places), **options)
        return list(result.shape), result.flatten().tolist()

    assert_same(program, require("torch"), within=1e-5)


THETAS: tuple[tuple[tuple[int, ...], str, list[int], bool | None], ...] = (
    ((2, 2, 3), "float32", [2, 1, 3, 4], None),
    ((2, 2, 3), "int64", [2, 1, 3, 4], True),
    ((2, 3, 4), "float32", [2, 1, 3, 4], True),
    ((2, 2, 3), "float32", [2, 1, 3, 4, 5], True),
    ((2, 2, 3), "float32", [2, 3, 4], True),
    ((2, 2, 3), "float32", [2, 1, 1, 4], True),
    ((2, 2, 3), "float32", [2, 1, 0, 4], False),
    ((2, 2, 3), "float64", [2, 1, 1, 4], False),
)


@pytest.mark.parametrize(("sizes", "dtype", "size", "aligned"), THETAS)
def test_affine_grid_is_as_in_pytorch(
    sizes: tuple[int, ...], dtype: str, size: list[int], aligned: bool | None, require: Require
) -> None:
    def program(lib: Any) -> Any:
        theta = lib.ones(sizes, dtype=getattr(lib, dtype))
        grid = lib.nn.functional.affine_grid(theta, size, align_corners=aligned)
        return list(grid.shape), grid.flatten().tolist()

    assert_same(program, require("torch"), within=1e-5)


@pytest.mark.parametrize("name", ["upsample_bilinear2d", "upsample_bicubic2d", "_upsample_bicubic2d_aa"])
def test_bytes_are_rounded_as_in_pytorch(name: str, require: Require) -> None:
    torch = require("torch")
    for channels in (1, 5):
        for size in ((3, 2), (9, 13), (2, 11)):
            for aligned in (False, True):

                def program(lib: Any, how: Any = (channels, size, aligned)) -> Any:
                    channels, size, aligned = how
                    x = (lib.arange(channels * 42) * 37 % 256).to(lib.uint8).view(1, channels, 6, 7)
                    return getattr(lib.ops.aten, name)(x, size, aligned).flatten().tolist()

                assert_same(program, torch)


def test_the_gradient_is_the_derivative_where_a_scale_keeps_the_size() -> None:
    x = glasstorch.tensor([[[1.0, 2.0, 3.0]]], requires_grad=True)
    result = glasstorch.nn.functional.interpolate(x, scale_factor=1.2)
    assert result.tolist() == [[[1, 1, 2]]]
    result.sum().backward()
    assert x.grad.tolist() == [[[2, 1, 0]]]
