"""Are rows looked up, bagged and refused as PyTorch does it?"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import assert_same


def table(torch: Any) -> Any:
    return torch.arange(12, dtype=torch.float64).view(4, 3).sin().requires_grad_()


def rounded(tensor: Any) -> Any:
    return (tensor * 1e9).round().tolist()


def bags_with_an_index_left_out(torch: Any) -> Any:
    log = []
    for mode in ("sum", "mean", "max"):
        weight = table(torch)
        indices, offsets = torch.tensor([0, 1, 1, 3, 2, 1]), torch.tensor([0, 2, 2, 5])
        out = torch.nn.functional.embedding_bag(indices, weight, offsets, mode=mode, padding_idx=-3)
        (out * torch.arange(12, dtype=torch.float64).view(4, 3)).sum().backward()
        log.append([rounded(out), rounded(weight.grad)])
    return log


def bags_with_weights(torch: Any) -> Any:
    weight, by = table(torch), torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64, requires_grad=True)
    out = torch.nn.functional.embedding_bag(
        torch.tensor([0, 3, 3], dtype=torch.int32), weight, torch.tensor([0, 2, 3], dtype=torch.int32), mode="sum",
        per_sample_weights=by, include_last_offset=True, scale_grad_by_freq=True,
    )  # fmt: skip
    out.square().sum().backward()
    return rounded(out), rounded(weight.grad), rounded(by.grad)


def rows_that_are_too_long(torch: Any) -> Any:
    weight = table(torch)
    out = torch.nn.functional.embedding(torch.tensor([[0, 2], [2, 1]]), weight, max_norm=0.5, norm_type=1.0)
    return rounded(out), rounded(weight)


def gradients_by_frequency(torch: Any) -> Any:
    weight = table(torch)
    out = torch.nn.functional.embedding(torch.tensor([0, 2, 2]), weight, 0, scale_grad_by_freq=True)
    out.sum().backward()
    return weight.grad.tolist()


def an_index_that_is_out_of_range(torch: Any) -> Any:
    torch.nn.functional.embedding(torch.tensor([0, 4]), table(torch))


def indices_that_are_no_integers(torch: Any) -> Any:
    torch.nn.functional.embedding(torch.tensor([0.0]), table(torch))


def a_matrix_with_offsets(torch: Any) -> Any:
    torch.nn.functional.embedding_bag(torch.zeros(2, 2, dtype=torch.int64), table(torch), torch.tensor([0]))


def an_unknown_mode(torch: Any) -> Any:
    torch.nn.functional.embedding_bag(torch.zeros(2, 2, dtype=torch.int64), table(torch), mode="median")


def bags_with_an_index_that_no_row_has(torch: Any) -> Any:
    words = []
    for dtype, mode, padding in itertools.product((torch.float32, torch.float64), ("sum", "mean", "max"), (None, 0)):
        for index in (3, -4):
            with pytest.raises(RuntimeError) as error:
                torch.nn.functional.embedding_bag(
                    torch.tensor([[1, index]]), torch.ones(3, 2, dtype=dtype), mode=mode, padding_idx=padding
                )
            words.append(str(error.value))
    return words


def classes(torch: Any) -> Any:
    one_hot = torch.nn.functional.one_hot
    return one_hot(torch.tensor([2, 0])).tolist(), one_hot(torch.tensor([[1]]), 3).tolist()


def a_class_that_is_too_large(torch: Any) -> Any:
    torch.nn.functional.one_hot(torch.tensor([3]), 3)


def layers(torch: Any) -> Any:
    torch.manual_seed(1)
    kinds = [
        torch.nn.Embedding(4, 2, padding_idx=-1, max_norm=1.0),
        torch.nn.EmbeddingBag(3, 2, mode="max", padding_idx=0),
        torch.nn.Embedding.from_pretrained(torch.ones(2, 2)),
    ]
    return [[repr(layer), layer.weight.requires_grad, layer.weight.tolist()] for layer in kinds]


EXACT = [
    bags_with_an_index_left_out, bags_with_weights, rows_that_are_too_long, gradients_by_frequency,
    indices_that_are_no_integers, an_unknown_mode, classes, a_class_that_is_too_large, layers,
    bags_with_an_index_that_no_row_has, an_index_that_is_out_of_range,
]  # fmt: skip


@pytest.mark.parametrize("program", EXACT, ids=lambda program: program.__name__)
def test_as_in_torch(program: Callable[[Any], Any], require: Callable[[str], Any]) -> None:
    assert_same(program, require("torch"))


def test_refused_as_in_torch_with_what_clashes(require: Callable[[str], Any]) -> None:
    assert_same(a_matrix_with_offsets, require("torch"), words=False)


@pytest.mark.parametrize("name", ["embedding", "embedding_bag"])
def test_sparse_gradients_are_not_divided_by_how_often_an_index_occurs(torch: Any, name: str) -> None:
    weight = torch.ones(3, 2, requires_grad=True)
    rows = getattr(torch.nn.functional, name)(torch.tensor([[0, 1]]), weight, sparse=True, scale_grad_by_freq=True)
    with pytest.raises(RuntimeError, match="scale_grad_by_freq not supported with sparse gradients"):
        rows.sum().backward()


REFUSED_BAGS: list[dict[str, Any]] = [
    {"mode": "sum"}, {"mode": "mean"}, {"mode": "max"}, {"mode": "mean", "padding_idx": 2},
    {"mode": "sum", "dtype": "float64"}, {"mode": "sum", "dtype": "float16"},
]  # fmt: skip


@pytest.mark.parametrize("how", REFUSED_BAGS)
@pytest.mark.parametrize("index", [9, -1])
def test_a_bag_refuses_a_row_that_the_table_lacks_as_pytorch_does(
    how: dict[str, Any], index: int, require: Callable[[str], Any]
) -> None:
    options = dict(how)
    dtype = options.pop("dtype", "float32")

    def program(t: Any) -> Any:
        table = t.ones(6, 2, dtype=getattr(t, dtype))
        return t.nn.functional.embedding_bag(t.tensor([0, index, 1]), table, t.tensor([0]), **options).tolist()

    assert_same(program, require("torch"))
