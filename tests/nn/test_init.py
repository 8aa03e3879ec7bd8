"""Do equal seeds give PyTorch's weights?"""

import math
from typing import Any

import pytest

import glasstorch as torch
from glasstorch import nn
from glasstorch.nn import init
from tests.nn.side_by_side import assert_same

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
    ("trunc_normal_", {}),
    ("trunc_normal_", {"mean": 0.5, "std": 0.3, "a": 0.0, "b": 1.0}),
    ("trunc_normal_", {"std": 0.02}),
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


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize(("a", "b"), [(1.0, 2.0), (-0.1, 0.1), (-4.0, -1.5)])
def test_bounds_that_leave_little_of_the_normal_numbers_give_torch_s_too(a: float, b: float, dtype: str) -> None:
    oracle = pytest.importorskip("torch")
    drawn = []
    for library in (torch, oracle):
        library.manual_seed(3)
        drawn.append(library.nn.init.trunc_normal_(library.empty(400, dtype=getattr(library, dtype)), a=a, b=b))
        drawn.append(library.rand(1))
    assert flat(drawn[0]) == flat(drawn[2])
    assert flat(drawn[1]) == flat(drawn[3])  # as many rounds were needed
    low, high = torch.tensor([a, b], dtype=getattr(torch, dtype)).tolist()  # the bounds as the dtype holds them
    assert low <= min(flat(drawn[0]))
    assert max(flat(drawn[0])) <= high


def test_a_mean_far_outside_the_bounds_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="mean is more than 2 std from"):
        init.trunc_normal_(torch.empty(3), mean=9.0)


@pytest.mark.parametrize("size", [(4, 4), (3, 7), (7, 3), (4, 2, 3), (2, 6, 2)])
def test_orthogonal_weights_are_torch_s_and_orthogonal(size: tuple[int, ...]) -> None:
    oracle = pytest.importorskip("torch")
    drawn = []
    for library in (torch, oracle):
        library.manual_seed(3)
        drawn.append(library.nn.init.orthogonal_(library.empty(size), gain=2.0))
    assert flat(drawn[0]) == pytest.approx(flat(drawn[1]), abs=1e-5)
    flattened = drawn[0].reshape(size[0], -1)
    square = flattened @ flattened.t() if size[0] <= flattened.shape[1] else flattened.t() @ flattened
    assert flat(square) == pytest.approx(flat(4 * torch.eye(len(square))), abs=1e-5)


@pytest.mark.parametrize(("size", "groups"), [((4, 4, 3), 1), ((6, 2, 3, 3), 3), ((2, 5, 1, 2, 3), 1)])
def test_a_dirac_weight_hands_channels_on(size: tuple[int, ...], groups: int) -> None:
    oracle = pytest.importorskip("torch")
    ours, theirs = (t.nn.init.dirac_(t.empty(size), groups) for t in (torch, oracle))
    assert flat(ours) == flat(theirs)


def test_a_sparse_weight_is_torch_s() -> None:
    oracle = pytest.importorskip("torch")
    drawn = []
    for library in (torch, oracle):
        library.manual_seed(3)
        drawn.append(library.nn.init.sparse_(library.empty(10, 4), 0.25, std=0.5))
    assert flat(drawn[0]) == flat(drawn[1])
    assert (drawn[0] == 0).sum(0).tolist() == [3, 3, 3, 3]


def test_an_identity_is_filled_in_place() -> None:
    weight = torch.empty(2, 3, requires_grad=True)
    assert init.eye_(weight) is weight
    assert weight.tolist() == [[1, 0, 0], [0, 1, 0]]
    assert weight.requires_grad


def test_meta_tensors_are_left_alone() -> None:
    for name, options in (("trunc_normal_", {}), ("dirac_", {}), ("orthogonal_", {})):
        weight = torch.empty(2, 3, 4, device="meta")
        assert getattr(init, name)(weight, **options) is weight
    weight = torch.empty(2, 3, device="meta")
    assert init.sparse_(weight, 0.5) is weight


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: init.eye_(torch.empty(3)), "Only tensors with 2 dimensions are supported"),
        (lambda: init.sparse_(torch.empty(3), 0.5), "Only tensors with 2 dimensions are supported"),
        (lambda: init.orthogonal_(torch.empty(3)), "Only tensors with 2 or more dimensions are supported"),
        (lambda: init.dirac_(torch.empty(3, 3)), "Only tensors with 3, 4, or 5 dimensions are supported"),
        (lambda: init.dirac_(torch.empty(3, 3, 3), 2), "dim 0 must be divisible by groups"),
    ],
)
def test_tensors_of_other_dimensions_are_refused(call: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


# Programs -----------------------------------------------------------------------------------------------------------

SIZES = [(3, 4), (2, 3, 4), (2, 3, 4, 5), (3,), (), (0, 3), (2, 0, 3)]
DRAWN = ["uniform", "normal", "xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal"]
DEPRECATED = [*DRAWN, "constant", "eye", "dirac", "orthogonal", "sparse"]


def filled(torch: Any, name: str, size: tuple[int, ...], *args: Any, **options: Any) -> list[Any]:
    """What an initialiser puts into a tensor, and the next random number."""
    if options.get("generator"):
        options["generator"] = torch.Generator().manual_seed(3)
    torch.manual_seed(5)
    weight = torch.zeros(size, requires_grad=True)
    returned = getattr(torch.nn.init, name)(weight, *args, **options)
    return [returned is weight, weight.tolist(), weight.requires_grad, torch.rand(1).item()]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", DEPRECATED)
@pytest.mark.parametrize("underscore", ["", "_"])
def test_every_name_fills_warns_and_refuses_as_pytorch_s(name: str, underscore: str, size: tuple[int, ...]) -> None:
    oracle = pytest.importorskip("torch")
    args = {"constant": (3.0,), "sparse": (0.5,)}.get(name, ())
    within = 1e-5 if name == "orthogonal" else 0.0  # another QR factorisation
    assert_same(lambda torch: filled(torch, name + underscore, size, *args), oracle, within=within)


@pytest.mark.parametrize("name", [*DRAWN, "trunc_normal_", "orthogonal"])
def test_a_generator_given_leaves_the_default_one_alone(name: str) -> None:
    oracle = pytest.importorskip("torch")
    within = 1e-5 if name == "orthogonal" else 0.0
    assert_same(lambda torch: filled(torch, name, (3, 4), generator=True), oracle, within=within)


@pytest.mark.parametrize("name", ["kaiming_uniform_", "kaiming_normal_"])
@pytest.mark.parametrize(
    "options",
    [
        {"mode": "FAN_OUT"},
        {"mode": "Side"},
        {"nonlinearity": "swish"},
        {"nonlinearity": "swish", "mode": "side"},
        {"a": True},
        {"a": 2},
        {"nonlinearity": "selu"},
    ],
)
def test_modes_and_nonlinearities_are_pytorch_s(name: str, options: dict[str, Any]) -> None:
    oracle = pytest.importorskip("torch")
    assert_same(lambda torch: filled(torch, name, (3, 4), **options), oracle)


@pytest.mark.parametrize("nonlinearity", ["linear", "conv_transpose3d", "tanh", "relu", "leaky_relu", "selu", "swish"])
@pytest.mark.parametrize("param", [None, 2, 0.5, True, "x"])
def test_gains_are_pytorch_s(nonlinearity: str, param: Any) -> None:
    oracle = pytest.importorskip("torch")
    assert_same(lambda torch: repr(torch.nn.init.calculate_gain(nonlinearity, param)), oracle)


@pytest.mark.parametrize(
    "options",
    [
        {"std": 0},
        {"std": 1e-3, "a": -1, "b": 1},
        {"mean": 5},
        {"mean": -5},
        {"a": 1, "b": 0},
        {"a": 3, "b": 4},
        {"a": 3, "b": 4, "generator": True},
        {"std": -1},
        {"a": 0, "b": 0},
        {"a": -math.inf, "b": math.inf},
        {"mean": 2.5, "a": 2, "b": 3},
    ],
)
def test_truncated_normal_numbers_are_pytorch_s_at_the_limits(options: dict[str, Any]) -> None:
    oracle = pytest.importorskip("torch")
    assert_same(lambda torch: filled(torch, "trunc_normal_", (3, 4), **options), oracle)


@pytest.mark.parametrize("sparsity", [0, 0.3, 1, 1.5, -1])
def test_sparse_weights_are_pytorch_s(sparsity: float) -> None:
    oracle = pytest.importorskip("torch")
    assert_same(lambda torch: filled(torch, "sparse_", (4, 3), sparsity, 1.0), oracle)


@pytest.mark.parametrize("groups", [1, 2, 3, 4, 0])
def test_dirac_weights_are_pytorch_s(groups: int) -> None:
    oracle = pytest.importorskip("torch")
    assert_same(lambda torch: filled(torch, "dirac_", (6, 2, 3, 1), groups), oracle)


def test_names_are_pytorch_s() -> None:
    oracle = pytest.importorskip("torch")
    assert_same(lambda torch: [(name, getattr(torch.nn.init, name).__name__) for name in torch.nn.init.__all__], oracle)
