"""Do equal seeds give PyTorch's weights?"""

import math
from typing import Any

import pytest

import glasstorch as torch
from glasstorch import nn
from glasstorch.nn import init

INITIALISERS: list[tuple[str, dict[str, Any]]] = [
    ("uniform_", {}),
    ("uniform_", {"a": -0.3, "b": 0.7}),
    ("normal_", {}),
    ("normal_", {"mean": 1.0, "std": 0.02}),
    ("xavier_uniform_", {}),
    ("xavier_uniform_", {"gain": 5 / 3}),
    ("xavier_normal_", {}),
    ("kaiming_uniform_", {}),
    ("kaiming_uniform_", {"a": math.sqrt(5)}),
    ("kaiming_uniform_", {"mode": "fan_out", "nonlinearity": "relu"}),
    ("kaiming_normal_", {"nonlinearity": "relu"}),
    ("constant_", {"val": 0.3}),
    ("ones_", {}),
    ("zeros_", {}),
]


def flat(tensor: Any) -> list[float]:
    return tensor.reshape(-1).tolist()


def test_linear_starts_with_the_recorded_weights() -> None:
    torch.manual_seed(0)
    layer = nn.Linear(3, 2)
    assert layer.weight.tolist() == [
        [-0.004322517663240433, 0.3097158372402191, -0.4751853346824646],
        [-0.4248946011066437, -0.2223689705133438, 0.15482072532176971],
    ]
    assert layer.bias.tolist() == [-0.011439144611358643, 0.45777493715286255]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize(("name", "options"), INITIALISERS)
@pytest.mark.parametrize("size", [(3, 2), (8, 4, 3, 3), (5, 9)])
def test_equal_seeds_give_equal_weights(name: str, options: dict[str, Any], size: tuple[int, ...], dtype: str) -> None:
    oracle = pytest.importorskip("torch")
    torch.manual_seed(3)
    ours = getattr(init, name)(torch.empty(size, dtype=getattr(torch, dtype)), **options)
    oracle.manual_seed(3)
    theirs = getattr(oracle.nn.init, name)(oracle.empty(size, dtype=getattr(oracle, dtype)), **options)
    if dtype == "float64" and "normal" in name:
        # The last bits of logarithm and sine differ.
        assert flat(ours) == pytest.approx(flat(theirs), rel=1e-14, abs=1e-14)
    else:
        assert flat(ours) == flat(theirs)


def test_layers_made_one_after_the_other_use_the_same_stream() -> None:
    oracle = pytest.importorskip("torch")
    torch.manual_seed(1)
    ours = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10), nn.Linear(4, 4, bias=False))
    oracle.manual_seed(1)
    theirs = oracle.nn.Sequential(
        oracle.nn.Linear(64, 128),
        oracle.nn.ReLU(),
        oracle.nn.Linear(128, 10),
        oracle.nn.Linear(4, 4, bias=False),
    )
    for (name, mine), (their_name, parameter) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        assert name == their_name
        assert mine.tolist() == parameter.tolist()


def test_initialisers_change_their_argument_and_record_nothing() -> None:
    weight = nn.Parameter(torch.empty(3, 3))
    assert init.xavier_uniform_(weight) is weight
    assert weight.is_leaf
    assert weight.requires_grad


def test_a_generator_can_be_given() -> None:
    first = init.uniform_(torch.empty(4), generator=torch.Generator().manual_seed(5))
    second = init.uniform_(torch.empty(4), generator=torch.Generator().manual_seed(5))
    assert first.tolist() == second.tolist()


def test_gains() -> None:
    assert init.calculate_gain("linear") == 1
    assert init.calculate_gain("tanh") == 5 / 3
    assert init.calculate_gain("relu") == math.sqrt(2)
    assert init.calculate_gain("leaky_relu") == math.sqrt(2 / (1 + 0.01**2))
    assert init.calculate_gain("leaky_relu", 1) == 1
    with pytest.raises(ValueError, match="Unsupported nonlinearity swish"):
        init.calculate_gain("swish")
    with pytest.raises(ValueError, match="negative_slope True not a valid number"):
        init.calculate_gain("leaky_relu", True)


def test_what_has_no_fan_is_refused() -> None:
    with pytest.raises(ValueError, match="can not be computed for tensor with fewer than 2 dimensions"):
        init.xavier_uniform_(torch.empty(3))
    with pytest.raises(ValueError, match="Mode sideways not supported"):
        init.kaiming_uniform_(torch.empty(3, 3), mode="sideways")
    with pytest.warns(UserWarning, match="zero-element tensors is a no-op"):
        init.kaiming_uniform_(torch.empty(0, 3))
