"""Do functions and layers compute what PyTorch's compute, gradients included?"""

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch as torch
from glasstorch import nn
from glasstorch.nn import functional as F
from tests.nn.side_by_side import assert_same

random = np.random.default_rng(0)
SCORES = random.standard_normal((5, 4)).astype("float32")
CLASSES = np.array([0, 3, 1, 2, 3])
IMAGES = random.standard_normal((2, 4, 3, 3)).astype("float32")
LABELS = random.integers(0, 4, (2, 3, 3))
WEIGHT = np.array([0.5, 1.0, 2.0, 0.0], "float32")
PROBABILITIES = np.full((5, 4), 0.25, "float32")

# inputs (the first one gets a gradient), and what to do with them given the library's functional or nn
CASES: dict[str, tuple[list[Any], Callable[..., Any]]] = {
    "linear": ([SCORES, IMAGES[0, 0, :, :1] @ np.ones((1, 4), "float32")], lambda n, x, w: n.functional.linear(x, w)),
    "relu": ([SCORES], lambda n, x: n.ReLU()(x)),
    "tanh": ([SCORES], lambda n, x: n.Tanh()(x)),
    "sigmoid": ([SCORES], lambda n, x: n.Sigmoid()(x)),
    "softmax": ([SCORES], lambda n, x: n.Softmax(dim=1)(x)),
    "log_softmax": ([IMAGES], lambda n, x: n.LogSoftmax(dim=1)(x)),
    "flatten": ([IMAGES], lambda n, x: n.Flatten()(x)),
    "identity": ([SCORES], lambda n, x: n.Identity(54, unused=1)(x)),
    "cross_entropy": ([SCORES, CLASSES], lambda n, x, y: n.CrossEntropyLoss()(x, y)),
    "cross_entropy sum": ([SCORES, CLASSES], lambda n, x, y: n.CrossEntropyLoss(reduction="sum")(x, y)),
    "cross_entropy none": ([SCORES, CLASSES], lambda n, x, y: n.functional.cross_entropy(x, y, reduction="none")),
    "cross_entropy weight": ([SCORES, CLASSES, WEIGHT], lambda n, x, y, w: n.CrossEntropyLoss(w)(x, y)),
    "cross_entropy ignore": ([SCORES, CLASSES], lambda n, x, y: n.CrossEntropyLoss(ignore_index=3)(x, y)),
    "cross_entropy smoothed": ([SCORES, CLASSES], lambda n, x, y: n.CrossEntropyLoss(label_smoothing=0.1)(x, y)),
    "cross_entropy shares": ([SCORES, PROBABILITIES], lambda n, x, y: n.functional.cross_entropy(x, y)),
    "cross_entropy images": ([IMAGES, LABELS], lambda n, x, y: n.CrossEntropyLoss()(x, y)),
    "nll": ([SCORES, CLASSES, WEIGHT], lambda n, x, y, w: n.NLLLoss(w, reduction="sum")(x, y)),
    "mse": ([SCORES, PROBABILITIES], lambda n, x, y: n.MSELoss()(x, y)),
    "mse none": ([SCORES, PROBABILITIES], lambda n, x, y: n.MSELoss(reduction="none")(x, y)),
}  # fmt: skip


def run(library: Any, arrays: list[Any], use: Callable[..., Any]) -> tuple[Any, Any]:
    inputs = [library.from_numpy(np.array(a)) for a in arrays]
    inputs[0].requires_grad_()
    result = use(library.nn, *inputs)
    result.sum().backward()
    return result.detach().numpy(), inputs[0].grad.numpy()


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_torch(name: str) -> None:
    oracle = pytest.importorskip("torch")
    for ours, theirs in zip(run(torch, *CASES[name]), run(oracle, *CASES[name]), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_cross_entropy_of_two_scores_is_known() -> None:
    loss = F.cross_entropy(torch.tensor([[1.0, 2.0]]), torch.tensor([1]))
    assert loss.item() == pytest.approx(0.31326165795326233, rel=1e-6)


def test_linear_computes_input_times_weight_transposed_plus_bias() -> None:
    layer = nn.Linear(4, 3)
    x = torch.rand(2, 4)
    expected = x.numpy() @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
    np.testing.assert_allclose(layer(x).detach().numpy(), expected, rtol=1e-5, atol=1e-7)
    assert nn.Linear(4, 3, bias=False).bias is None
    assert repr(nn.Linear(4, 3, bias=False)) == "Linear(in_features=4, out_features=3, bias=False)"


def test_relu_in_place_changes_its_input() -> None:
    x = torch.tensor([-1.0, 2.0])
    assert nn.ReLU(inplace=True)(x) is x
    assert x.tolist() == [0, 2]
    assert repr(nn.ReLU(inplace=True)) == "ReLU(inplace=True)"


def test_layers_say_their_options() -> None:
    assert repr(nn.Softmax(dim=1)) == "Softmax(dim=1)"
    assert repr(nn.Flatten()) == "Flatten(start_dim=1, end_dim=-1)"
    assert repr(nn.CrossEntropyLoss()) == "CrossEntropyLoss()"


def test_the_weight_of_a_loss_is_a_buffer_and_part_of_its_state() -> None:
    loss = nn.CrossEntropyLoss(torch.ones(3))
    assert list(loss.state_dict()) == ["weight"]
    assert list(loss.parameters()) == []


def test_a_softmax_without_a_dimension_warns_and_guesses() -> None:
    for sizes, guessed in (((4,), 0), ((2, 4), 1), ((2, 3, 4), 0)):
        x = torch.rand(*sizes)
        with pytest.warns(UserWarning, match="Implicit dimension choice for softmax has been deprecated"):
            result = F.softmax(x)
        assert result.tolist() == F.softmax(x, dim=guessed).tolist()


def test_a_target_of_another_size_warns() -> None:
    with pytest.warns(UserWarning, match=r"target size \(torch.Size\(\[1\]\)\) that is different to the input size"):
        F.mse_loss(torch.zeros(3), torch.ones(1))


def test_reductions_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="average is not a valid value for reduction"):
        F.cross_entropy(torch.rand(2, 3), torch.tensor([0, 1]), reduction="average")


def test_the_old_flags_of_a_loss_still_mean_what_they_meant() -> None:
    x, y = torch.rand(2, 3), torch.tensor([0, 1])
    for flags, reduction in (((True, None), "mean"), ((False, None), "sum"), ((None, False), "none")):
        with pytest.warns(UserWarning, match=f"please use reduction='{reduction}' instead"):
            old = F.cross_entropy(x, y, size_average=flags[0], reduce=flags[1])
        assert old.tolist() == F.cross_entropy(x, y, reduction=reduction).tolist()


def test_an_unknown_layer_is_named_with_the_nearest() -> None:
    with pytest.raises(AttributeError, match=r"torch.nn.Liner is not in glasstorch; the nearest name is 'Linear'"):
        _ = nn.Liner


# Names and signatures -------------------------------------------------------------------------------------------------

CHOOSING = [
    *(f"max_pool{d}d" for d in (1, 2, 3)),
    *(f"adaptive_max_pool{d}d" for d in (1, 2, 3)),
    "fractional_max_pool2d",
    "fractional_max_pool3d",
]


def kinds_of(function: Any) -> list[Any]:
    """A function's parameters: names, defaults and kinds."""
    parameters = inspect.signature(function).parameters.values()
    return [(p.name, "none" if p.default is p.empty else p.default, p.kind.name) for p in parameters]


def pooled(torch: Any, name: str, *args: Any, **options: Any) -> Any:
    """The sizes that a pooling function gives, or those of both of its results."""
    dims = int(name[-2])
    torch.manual_seed(0)
    found = getattr(torch.nn.functional, name)(torch.ones((1, *(4,) * (dims + 1))), *args, **options)
    return [tuple(one.shape) for one in found] if isinstance(found, tuple) else tuple(found.shape)


@pytest.mark.parametrize("name", CHOOSING)
def test_functions_that_may_return_places_choose_as_pytorchs(name: str) -> None:
    oracle = pytest.importorskip("torch")

    def signatures(torch: Any) -> Any:
        functions = [getattr(torch.nn.functional, one) for one in (name, f"_{name}", f"{name}_with_indices")]
        return [functions[0].__name__, *map(kinds_of, functions)]

    assert_same(signatures, oracle)
    place = {"m": (2, 2, 0, 1, False), "a": (2,), "f": (2, 2, None)}[name[0]]
    size: dict[str, Any] = {"output_size": 2} if name[0] == "f" else {}
    for flag in (True, False, 1):
        assert_same(lambda torch, flag=flag: pooled(torch, name, *place, flag), oracle)
        assert_same(lambda torch, flag=flag: pooled(torch, name, 2, return_indices=flag, **size), oracle)
    for args, options in (((), {}), ((2,), {"other": 1}), ((2,) * 9, {})):
        assert_same(lambda torch, args=args, options=options: pooled(torch, name, *args, **options), oracle)


def dispatched(torch: Any) -> Any:
    def both(*args: Any, **options: Any) -> Any:
        return "true", args, options

    def neither(*args: Any, **options: Any) -> Any:
        return "false", args, options

    chosen = torch.nn.functional.boolean_dispatch("flag", 1, False, both, neither, "module", "name")
    calls = [chosen(1), chosen(1, True), chosen(1, flag=True), chosen(1, 0, flag=3)]
    return [calls, chosen.__name__, chosen.__module__, chosen.__doc__]


UNPOOLED = [[-1, 4], [3], [1, 1, 4, 4], [4, 4], [40, 4], [1, 1, 1, 4, 4], None]
HELPERS: dict[str, Callable[[Any], Any]] = {
    "boolean_dispatch": dispatched,
    "assert_int_or_pair": lambda n: [
        n.nn.functional.assert_int_or_pair(one, "size", "no {}") for one in (1, [1, 2], (3, 4))
    ],
    "assert_int_or_pair, refused": lambda n: n.nn.functional.assert_int_or_pair([1, 2, 3], "size", "no {}"),
    "broadcasting lists": lambda n: [getattr(n.nn.functional, f"BroadcastingList{i}")[int] for i in (1, 2, 3)],
    "softmax dims": lambda n: [n.nn.functional._get_softmax_dim("softmax", dims, 3) for dims in range(5)],
    "_verify_batch_size": lambda n: n.nn.functional._verify_batch_size([1, 3]),
    "_verify_spatial_size": lambda n: n.nn.functional._verify_spatial_size([1, 3, 1]),
    "_is_integer": lambda n: [
        n.nn.functional._is_integer(one) for one in (1, 1.0, True, np.int64(3), n.tensor(1), n.tensor(1.0), "x")
    ],
    "modules": lambda n: [
        n.nn.functional.math is math,
        n.nn.functional.np is np,
        n.nn.functional.grad is n.nn.grad,
        n.nn.functional.Tensor is n.Tensor,
        n.nn.functional._Reduction.get_enum("sum"),
    ],
    "sizes by a number": lambda n: n.nn.functional.fractional_max_pool2d(n.ones(1, 4, 4), 2, output_ratio=0.5),
    "sizes by a number, 3d": lambda n: n.nn.functional.fractional_max_pool3d(
        n.ones(1, 4, 4, 4), 2, output_ratio=0.5
    ).tolist(),
    "sizes by three numbers": lambda n: n.nn.functional.fractional_max_pool2d(
        n.ones(1, 4, 4), 2, output_ratio=(0.5, 0.5, 0.5)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HELPERS)
def test_helpers_of_functional_are_pytorchs(name: str) -> None:
    assert_same(HELPERS[name], pytest.importorskip("torch"))


@pytest.mark.parametrize("size", UNPOOLED, ids=str)
@pytest.mark.parametrize("padding", [0, 2])
def test_sizes_before_pooling_are_pytorchs(size: Any, padding: int) -> None:
    oracle = pytest.importorskip("torch")
    for stride in (1, 2):
        assert_same(
            lambda torch, stride=stride: torch.nn.functional._unpool_output_size(
                torch.ones(1, 1, 2, 2), [2, 2], [stride] * 2, [padding] * 2, size
            ),
            oracle,
        )


@pytest.mark.parametrize("name", ["grouped_mm", "scaled_mm", "scaled_grouped_mm", "ScalingType", "SwizzleType"])
def test_products_of_scaled_and_grouped_matrices_are_left_out_by_name(name: str) -> None:
    with pytest.raises(AttributeError, match=f"{name} is left out of glasstorch, because there are no products"):
        getattr(F, name)
