"""Are the helpers of layers, and what programs take from PyTorch's paths, there and alike?"""

from __future__ import annotations

import importlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import assert_same


def without_prefix(torch: Any, names: Any, prefix: str, metadata: Any = None) -> Any:
    values = OrderedDict(names)
    if metadata is not None:
        values._metadata = OrderedDict(metadata)  # type: ignore[attr-defined]
    torch.nn.modules.utils.consume_prefix_in_state_dict_if_present(values, prefix)
    return list(values.items()), list(getattr(values, "_metadata", {}).items())


VALUES: list[Any] = [1, [1, 2], (1,), "ab", None, range(3), 1.5]
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "tuples": lambda torch: [
        (parse.__name__, parse(value))
        for utils in [torch.nn.modules.utils]
        for parse in (utils._single, utils._pair, utils._triple, utils._quadruple, utils._ntuple(5))
        for value in VALUES
    ],
    "reversed": lambda torch: [
        torch.nn.modules.utils._reverse_repeat_tuple(*args) for args in (((1, 2, 3), 2), ([1], 0))
    ],
    "defaults": lambda torch: [
        torch.nn.modules.utils._list_with_default(size, [5, 6, 7]) for size in ([None, 2], 3, [4, None])
    ],
    "too few defaults": lambda torch: torch.nn.modules.utils._list_with_default([1, 2], [5, 6]),
    "prefix": lambda torch: without_prefix(torch, {"module.a": 1, "b": 2, "module.module.c": 3}, "module."),
    "prefix of metadata": lambda torch: without_prefix(
        torch, {"module.a": 1}, "module.", {"": 0, "module": 1, "module.x": 2, "y": 3}
    ),
    "no prefix": lambda torch: without_prefix(torch, {"a": 1}, ""),
    "prefix of a wrapped module": lambda torch: sorted(
        without_prefix(torch, torch.nn.DataParallel(torch.nn.Linear(1, 1)).state_dict(), "module.")[0][0][0]
    ),
    "common types": lambda torch: [
        (name, str(getattr(torch.nn.common_types, name)))
        for name in sorted(vars(torch.nn.common_types))
        if name.startswith(("_s", "_r"))
    ],
    "reductions": lambda torch: [torch.nn._reduction.get_enum(name) for name in ("none", "mean", "sum")],
    "a deprecated reduction": lambda torch: torch.nn._reduction.get_enum("elementwise_mean"),
    "an unknown reduction": lambda torch: torch.nn._reduction.get_enum("all"),
    "flags of reductions": lambda torch: [
        (torch.nn._reduction.legacy_get_string(one, other), torch.nn._reduction.legacy_get_enum(one, other, False))
        for one in (None, True, False)
        for other in (None, True, False)
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_helpers_are_pytorchs(name: str) -> None:
    torch = pytest.importorskip("torch")
    assert_same(PROGRAMS[name], torch)


def revived(torch: Any, name: str, missing: list[str], *args: Any) -> Any:
    """A layer restored from what an old version saved, which lacks some attributes."""
    made = getattr(torch.nn, name)(*args)
    saved = {key: value for key, value in vars(made).items() if key not in missing}
    again = type(made).__new__(type(made))
    again.__setstate__(saved)
    return [repr(again), [getattr(again, attribute) for attribute in missing]]


@pytest.mark.parametrize(
    ("name", "missing", "args"),
    [
        ("Softmax", ["dim"], ()),
        ("Softmin", ["dim"], (2,)),
        ("LogSoftmax", ["dim"], ()),
        ("Conv2d", ["padding_mode"], (1, 1, 1)),
        ("AvgPool3d", ["padding", "ceil_mode", "count_include_pad"], (2,)),
    ],
)
def test_layers_of_old_versions_are_restored(name: str, missing: list[str], args: Any) -> None:
    torch = pytest.importorskip("torch")
    assert_same(lambda torch: revived(torch, name, missing, *args), torch)


PATHS = {
    "activation": "MultiheadAttention Softmax",
    "batchnorm": "_NormBase _BatchNorm _LazyNormBase SyncBatchNorm",
    "conv": "_ConvNd _ConvTransposeNd _LazyConvXdMixin _pair _single _triple _reverse_repeat_tuple",
    "dropout": "_DropoutNd",
    "instancenorm": "_InstanceNorm",
    "lazy": "LazyModuleMixin",
    "loss": "_Loss _WeightedLoss",
    "padding": "_CircularPadNd _ConstantPadNd _ReflectionPadNd _ReplicationPadNd _ntuple _pair _quadruple",
    "pooling": "_AdaptiveAvgPoolNd _AdaptiveMaxPoolNd _AvgPoolNd _LPPoolNd _MaxPoolNd _MaxUnpoolNd _pair",
    "rnn": "GRUCell LSTMCell RNNBase RNNCell RNNCellBase",
    "transformer": "TransformerDecoderLayer TransformerEncoderLayer",
}


@pytest.mark.parametrize("module", PATHS)
def test_names_are_at_pytorchs_paths(module: str) -> None:
    torch = pytest.importorskip("torch")
    for library in (torch.__name__, "glasstorch"):
        found = importlib.import_module(f"{library}.nn.modules.{module}")
        assert [name for name in PATHS[module].split() if not hasattr(found, name)] == []


BASES = ["_ReflectionPadNd", "_ReplicationPadNd", "_ConstantPadNd", "ConstantPad2d", "_CircularPadNd"]


@pytest.mark.parametrize("name", ["ZeroPad2d", "ReflectionPad2d", "ReplicationPad2d", "CircularPad2d"])
def test_layers_that_pad_have_pytorchs_bases(name: str) -> None:
    torch = pytest.importorskip("torch")
    assert_same(
        lambda torch: (
            [issubclass(getattr(torch.nn, name), getattr(torch.nn.modules.padding, base)) for base in BASES]
            + [repr(getattr(torch.nn, name)(1))]
        ),
        torch,
    )
