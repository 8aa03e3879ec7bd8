"""Do the functions of losses and distances have PyTorch's signatures, warnings and refusals?"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from glasstorch.nn import functional
from glasstorch.nn.functions import class_loss, distance, linear, linear_cross_entropy, loss, pair_loss
from tests.nn.side_by_side import Program, assert_same
from tests.refusals import same_refusal

Require = Callable[[str], Any]
FILES = (class_loss, distance, linear, linear_cross_entropy, loss, pair_loss)
OPERATORS = {"bilinear", "cosine_similarity", "linear", "pairwise_distance", "pdist"}  # built in there


@pytest.mark.parametrize("name", [name for file in FILES for name in file.__all__])
def test_signatures_are_pytorchs(name: str, require: Require) -> None:
    torch = require("torch")
    wanted = getattr(torch.nn.functional, name)
    if name in OPERATORS:
        with pytest.raises(ValueError, match="no signature"):
            inspect.signature(wanted)
        return
    found = getattr(functional, name)
    both = ([(p.name, p.kind, p.default) for p in inspect.signature(f).parameters.values()] for f in (found, wanted))
    assert next(both) == next(both)


def sizes_that_differ(torch: Any) -> Any:
    x, y = torch.ones(2, 3), torch.zeros(3)
    named = torch.nn.functional
    return [f(x, y).item() for f in (named.l1_loss, named.mse_loss, named.smooth_l1_loss, named.huber_loss)]


def weighted(torch: Any) -> Any:
    x, y, w = torch.tensor([1.0, 3.0]), torch.tensor([0.0, 1.0]), torch.tensor([1.0, 3.0])
    named = torch.nn.functional
    functions = (named.l1_loss, named.mse_loss, named.huber_loss)
    return [f(x, y, reduction=r, weight=w).tolist() for f in functions for r in ("none", "sum", "mean")]


def weights_of_other_sizes(torch: Any) -> Any:
    return torch.nn.functional.mse_loss(torch.ones(2), torch.ones(2), weight=torch.ones(1))


def mean_of_divergences(torch: Any) -> Any:
    x, y = torch.tensor([[0.5, 0.5]]).log(), torch.tensor([[0.25, 0.75]])
    return [round(torch.nn.functional.kl_div(x, y, reduction=r).item(), 6) for r in ("mean", "batchmean", "sum")]


def variances(torch: Any) -> Any:
    x, y = torch.tensor([[1.0, 2.0], [0.0, 1.0]]), torch.zeros(2, 2)
    f = torch.nn.functional.gaussian_nll_loss
    sizes = (torch.ones(2, 2), torch.ones(2), torch.ones(2, 1), 2.0)
    return [round(f(x, y, var, full=full).item(), 5) for var in sizes for full in (True, False)]


def a_negative_variance(torch: Any) -> Any:
    return torch.nn.functional.gaussian_nll_loss(torch.ones(2), torch.ones(2), torch.tensor([1.0, -1.0]))


def variances_of_other_sizes(torch: Any) -> Any:
    return torch.nn.functional.gaussian_nll_loss(torch.ones(2, 3), torch.ones(2, 3), torch.ones(3))


def logits_of_other_sizes(torch: Any) -> Any:
    return torch.nn.functional.binary_cross_entropy_with_logits(torch.ones(2), torch.ones(3))


def shares_of_other_sizes(torch: Any) -> Any:
    return torch.nn.functional.binary_cross_entropy(torch.ones(2), torch.ones(3))


def ranks_of_other_dimensions(torch: Any) -> Any:
    return torch.nn.functional.margin_ranking_loss(torch.ones(2), torch.ones(2), torch.ones(2, 1))


def triplets_of_other_dimensions(torch: Any) -> Any:
    f = torch.nn.functional.triplet_margin_with_distance_loss
    return f(torch.ones(2), torch.ones(1, 2), torch.ones(2))


def a_third_power(torch: Any) -> Any:
    return torch.nn.functional.multi_margin_loss(torch.ones(1, 2), torch.tensor([0]), p=3)


def unit_vectors(torch: Any) -> Any:
    x = torch.tensor([[3.0, 4.0], [0.0, 0.0]])
    out = torch.empty(2, 2)
    torch.nn.functional.normalize(x, out=out)
    return out.tolist(), torch.nn.functional.normalize(x, 1.0, 0, 1.0).tolist()


def chunks(torch: Any) -> Any:
    torch.manual_seed(0)
    x, w, b = torch.rand(7, 3, requires_grad=True), torch.rand(5, 3, requires_grad=True), torch.rand(5)
    y = torch.tensor([0, 4, 2, -100, 1, 1, 3])
    found = []
    for options in (None, torch.nn.LinearCrossEntropyOptions(chunking_method=None, batch_chunk_size=2)):
        for reduction in ("mean", "sum", "none"):
            loss = torch.nn.functional.linear_cross_entropy(
                x, w, y, linear_bias=b, weight=torch.arange(1.0, 6), reduction=reduction, options=options
            )
            slopes = torch.autograd.grad(loss.sum(), [x, w])
            found.append([[round(n, 4) for n in t.flatten().tolist()] for t in (loss, *slopes)])
    assert found[:3] == found[3:]
    return found


def a_second_backward_pass(torch: Any) -> Any:
    x, w, y = torch.ones(2, 3, requires_grad=True), torch.ones(4, 3), torch.tensor([0, 1])
    for keep in (True, False):
        options = torch.nn.LinearCrossEntropyOptions(allow_retain_graph=keep)
        loss = torch.nn.functional.linear_cross_entropy(x, w, y, options=options)
        loss.backward(retain_graph=True)
        loss.backward()
    return x.grad.tolist()


def options_without_effect(torch: Any) -> Any:
    x, w, y = torch.ones(2, 3), torch.ones(4, 3), torch.tensor([0, 1])
    options = torch.nn.LinearCrossEntropyOptions()
    loss = torch.nn.functional.linear_cross_entropy(x, w, y, label_smoothing=0.5, options=options)
    return round(loss.item(), 5)


def an_unknown_policy(torch: Any) -> Any:
    return torch.nn.LinearCrossEntropyOptions(acc_policy="best")


def an_unknown_method(torch: Any) -> Any:
    return torch.nn.LinearCrossEntropyOptions(chunking_method="aspect_ratio:0")


def chunks_of_no_rows(torch: Any) -> Any:
    return torch.nn.LinearCrossEntropyOptions(batch_chunk_size=0)


def two_sizes_of_chunks(torch: Any) -> Any:
    options = torch.nn.LinearCrossEntropyOptions(chunking_method="aspect_ratio", batch_chunk_size=1)
    x, w = torch.ones(64, 3), torch.ones(4, 3)
    return torch.nn.functional.linear_cross_entropy(x, w, torch.zeros(64).long(), options=options)


def features_that_differ(torch: Any) -> Any:
    return torch.nn.functional.linear_cross_entropy(torch.ones(2, 3), torch.ones(4, 2), torch.tensor([0, 1]))


PROGRAMS = [
    sizes_that_differ, weighted, weights_of_other_sizes, mean_of_divergences, variances, a_negative_variance,
    variances_of_other_sizes, logits_of_other_sizes, shares_of_other_sizes, ranks_of_other_dimensions,
    triplets_of_other_dimensions, a_third_power, unit_vectors, chunks, a_second_backward_pass,
    options_without_effect, an_unknown_policy, an_unknown_method, chunks_of_no_rows, two_sizes_of_chunks,
    features_that_differ,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_does_as_pytorchs(program: Program, require: Require) -> None:
    assert_same(program, require("torch"))


def test_an_unknown_reduction_is_refused(torch: Any) -> None:
    f = torch.nn.functional.triplet_margin_with_distance_loss
    with pytest.raises(ValueError, match="median is not a valid value for reduction"):
        f(torch.ones(2), torch.ones(2), torch.ones(2), reduction="median")


REFUSED: list[Callable[[Any], Any]] = [
    lambda torch: torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.tensor([0, 1]), label_smoothing=2.0),
    lambda torch: torch.nn.functional.mse_loss(torch.ones(2), torch.ones(2), reduction="most"),
    lambda torch: torch.nn.functional.cosine_embedding_loss(torch.ones(2, 2), torch.ones(2, 2), torch.ones(2, 1)),
    lambda torch: torch.nn.functional.multi_margin_loss(torch.ones(2, 3), torch.tensor([0, 3])),
    lambda torch: torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.ones(2)),
    lambda torch: torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.tensor(1)),
    lambda torch: torch.nn.functional.nll_loss(torch.ones(2, 3, 4, 4), torch.ones(2, 4)),
    lambda torch: torch.nn.functional.nll_loss(torch.ones(2, 3, 4, 4), torch.ones(2, 4, 4)),
    lambda torch: torch.nn.functional.nll_loss(torch.ones(2, 3, 4, 4), torch.ones(2, 4, 4).byte()),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refuses_in_pytorchs_words(number: int, require: Callable[[str], Any]) -> None:
    same_refusal(require("torch"), REFUSED[number])


def test_probabilities_for_other_classes_are_refused_by_their_sizes(require: Callable[[str], Any]) -> None:
    scores_and_shares = (2, 3), (2, 2)
    same_refusal(
        require("torch"),
        lambda torch: torch.nn.functional.cross_entropy(*(torch.ones(sizes) for sizes in scores_and_shares)),
        more=True,
    )
