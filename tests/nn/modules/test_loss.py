"""Do the losses that PyTorch's database of modules leaves out do what PyTorch's do, and have all its signatures?"""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from glasstorch import nn
from glasstorch.nn.modules import loss as losses
from tests.nn.side_by_side import Program, assert_same

Require = Callable[[str], Any]
NAMES = sorted(
    name
    for name, value in vars(losses).items()
    if isinstance(value, type) and issubclass(value, losses._Loss) and not name.startswith("_")
)
ALSO = ["CosineSimilarity", "PairwiseDistance", "AdaptiveLogSoftmaxWithLoss", "LinearCrossEntropyOptions", "Bilinear"]


@pytest.mark.parametrize("name", [*NAMES, *ALSO])
def test_signatures_are_pytorchs(name: str, require: Require) -> None:
    torch = require("torch")
    for method in ("__init__", "forward"):
        found, wanted = (getattr(getattr(library, name), method, None) for library in (nn, torch.nn))
        if wanted is not None:
            assert parameters(found) == parameters(wanted)
    assert getattr(getattr(nn, name), "__constants__", None) == getattr(getattr(torch.nn, name), "__constants__", None)


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    """Names, kinds and default values."""
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


def test_every_loss_of_pytorch_is_there(require: Require) -> None:
    torch = require("torch")
    assert set(torch.nn.modules.loss.__all__) == set(NAMES)
    assert torch.nn.modules.loss._Loss.__mro__[1].__name__ == losses._Loss.__mro__[1].__name__ == "Module"


def triplets(torch: Any) -> Any:
    a, p, n = torch.tensor([[[1.0, 2], [0, 1]], [[1.5, 2], [0, 3]], [[0.0, 0], [0, 2]]], requires_grad=True).unbind()
    found = []
    for module in (
        torch.nn.TripletMarginLoss(margin=2.5, p=1, swap=True, reduction="none"),
        torch.nn.TripletMarginWithDistanceLoss(margin=2.5, reduction="sum"),
        torch.nn.TripletMarginWithDistanceLoss(distance_function=lambda x, y: (x - y).abs().amax(-1), swap=True),
    ):
        loss = module(a, p, n)
        (slopes,) = torch.autograd.grad(loss.sum(), [a], retain_graph=True)
        found.append((repr(module), loss.tolist(), slopes.tolist()))
    return found


def old_names(torch: Any) -> Any:
    x, y = torch.zeros(1, 2, 1, 1), torch.tensor([[[1]]])
    return [
        torch.nn.NLLLoss2d(weight=torch.ones(2))(x, y).item(),
        torch.nn.MSELoss(size_average=False).reduction,
        torch.nn.MSELoss(reduce=False).reduction,
        torch.nn.L1Loss(False, False).reduction,
        torch.nn.L1Loss(True).reduction,
    ]


def weights_are_buffers(torch: Any) -> Any:
    module = torch.nn.CrossEntropyLoss(weight=torch.ones(3)).double()
    copy = pickle.loads(pickle.dumps(module))
    both = torch.nn.BCEWithLogitsLoss(pos_weight=torch.ones(2))
    states = [[(name, t.tolist()) for name, t in m.state_dict().items()] for m in (copy, both, torch.nn.NLLLoss())]
    return states, str(copy.weight.dtype).split(".")[1], list(copy.parameters())


def refused_delta(torch: Any) -> Any:
    return torch.nn.HuberLoss(delta="1")


def refused_p(torch: Any) -> Any:
    return torch.nn.MultiMarginLoss(p=3)


def refused_weight(torch: Any) -> Any:
    return torch.nn.MultiMarginLoss(weight=torch.ones(2, 2))


def refused_margin(torch: Any) -> Any:
    return torch.nn.TripletMarginLoss(margin=0)


def refused_margin_of_distances(torch: Any) -> Any:
    return torch.nn.TripletMarginWithDistanceLoss(margin=-1)


def refused_weight_of_classes(torch: Any) -> Any:
    return torch.nn.LinearCrossEntropyLoss(3, 4, weight=torch.ones(3))


def refused_smoothing(torch: Any) -> Any:
    return torch.nn.LinearCrossEntropyLoss(3, 4, label_smoothing=1.5)


def refused_features(torch: Any) -> Any:
    return torch.nn.Bilinear(0, 2, 3)


def distances(torch: Any) -> Any:
    x, y = torch.tensor([[3.0, 4.0], [0.0, 0.0]]), torch.tensor([[0.0, 0.0], [0.0, 2.0]])
    modules = [
        torch.nn.PairwiseDistance(p=1, eps=0.0, keepdim=True),
        torch.nn.CosineSimilarity(dim=0, eps=1.0),
        torch.nn.CosineSimilarity(),
    ]
    return [(repr(module), module(x, y).tolist()) for module in modules]


PROGRAMS = [
    triplets, old_names, weights_are_buffers, refused_delta, refused_p, refused_weight, refused_margin,
    refused_margin_of_distances, refused_weight_of_classes, refused_smoothing, refused_features, distances,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_does_as_pytorchs(program: Program, require: Require) -> None:
    assert_same(program, require("torch"))


def test_an_unknown_reduction_is_refused_when_the_loss_is_computed(torch: Any) -> None:
    module = torch.nn.MSELoss(reduction="median")
    with pytest.raises(ValueError, match="median is not a valid value for reduction"):
        module(torch.ones(2), torch.ones(2))


def test_options_are_found_where_pytorch_has_them() -> None:
    from glasstorch.nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions

    assert LinearCrossEntropyOptions is nn.LinearCrossEntropyOptions
    assert pickle.loads(pickle.dumps(LinearCrossEntropyOptions())) == LinearCrossEntropyOptions()
