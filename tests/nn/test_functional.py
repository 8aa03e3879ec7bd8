"""Do functions and layers compute what PyTorch's compute, gradients included?"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch as torch
from glasstorch import nn
from glasstorch.nn import functional as F

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
