"""Is a function of one example mapped over a batch, and is what cannot be mapped refused in PyTorch's words?"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.utils._python_dispatch import TorchDispatchMode

pytestmark = pytest.mark.usefixtures("quiet")

ITEM = "vmap: It looks like you're calling .item() on a Tensor."
BRANCH = "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow."


@pytest.fixture
def x(torch: Any) -> Any:
    return torch.arange(6.0).view(2, 3)


def test_the_dimension_of_the_examples_is_hidden(torch: Any, x: Any) -> None:
    seen = []
    torch.func.vmap(lambda one: (seen.append(tuple(one.shape)), one)[1])(x)
    torch.func.vmap(lambda one: (seen.append(tuple(one.shape)), one)[1], in_dims=1)(x)
    assert seen == [(3,), (2,)]
    assert torch.vmap is torch.func.vmap


def test_examples_are_where_in_dims_and_out_dims_say(torch: Any, x: Any) -> None:
    vmap = torch.func.vmap
    assert vmap(lambda a, b: a * b, in_dims=(0, None))(x, x[0]).tolist() == [[0, 1, 4], [0, 4, 10]]
    assert vmap(lambda d: {"s": d["a"].sum()}, in_dims=({"a": 1},))({"a": x})["s"].tolist() == [3, 5, 7]
    assert vmap(lambda one: (one, one.sum()), out_dims=(1, 0))(x)[0].tolist() == x.t().tolist()
    assert vmap(lambda one: torch.zeros(3))(x).shape == (2, 3)  # the same for all examples
    assert vmap(lambda one: (one, 3), out_dims=(0, None))(x)[1] == 3
    assert vmap(lambda one, k: one * k)(x, k=2).tolist() == (x * 2).tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"in_dims": 5}, "Got in_dim=5 for some input, but that input is a Tensor of dimensionality 2"),
        ({"in_dims": "a"}, "expected `in_dims` to be int or a"),
        ({"in_dims": (0, 1)}, "in_dims is not compatible with the structure of `inputs`"),
        ({"in_dims": (None,)}, "got in_dims="),
        ({"out_dims": "a"}, "`out_dims` must be an int, None or a python collection of ints"),
        ({"out_dims": (0, 1)}, "out_dims is not compatible with the structure of `outputs`"),
        ({"out_dims": None}, "can not return a BatchedTensor when out_dim is None"),
    ],
)
def test_wrong_dimensions_are_refused(
    torch: Any, x: Any, arguments: Any, message: str, refused: Callable[[Any], str]
) -> None:
    words = refused(lambda: torch.func.vmap(lambda one: one, **arguments)(x))
    assert message in words or (arguments == {"in_dims": (None,)} and "at least one Tensor" in words)


def test_arguments_and_results_that_cannot_be_mapped_are_refused(
    torch: Any, x: Any, refused: Callable[[Any], str]
) -> None:
    vmap = torch.func.vmap
    assert "to have the same size in the mapped dimension, got sizes [2, 3]" in refused(
        lambda: vmap(torch.add)(x, torch.ones(3))
    )
    assert "We cannot vmap over non-Tensor arguments" in refused(lambda: vmap(torch.add)(x, 1))
    assert "got no inputs" in refused(lambda: vmap(torch.add)())
    assert "must only return Tensors, got type <class 'int'>" in refused(lambda: vmap(lambda one: 3)(x))


def test_so_many_examples_at_a_time(torch: Any) -> None:
    x, sizes = torch.arange(20.0).view(5, 4), []

    def f(one: Any) -> Any:
        sizes.append(None)
        return one * 2, one.sum()

    doubled, sums = torch.func.vmap(f, chunk_size=2)(x)
    assert (doubled.tolist(), sums.tolist(), len(sizes)) == ((x * 2).tolist(), x.sum(1).tolist(), 3)
    assert torch.func.vmap(f, in_dims=1, out_dims=(1, 0), chunk_size=3)(x)[0].tolist() == (x * 2).tolist()
    with pytest.raises(ValueError, match="chunk_size should be None or greater than 0"):
        torch.func.vmap(f, chunk_size=0)


def test_chunks_draw_the_same_numbers_where_all_examples_do(torch: Any) -> None:
    f = torch.func.vmap(lambda one: one + torch.randn(()), chunk_size=2, randomness="same")
    assert len(set(f(torch.zeros(5)).tolist())) == 1


@pytest.mark.parametrize("name", ["item", "__float__", "__int__"])
def test_an_example_has_no_number(torch: Any, x: Any, name: str, refused: Callable[[Any], str]) -> None:
    assert refused(lambda: torch.func.vmap(lambda one: getattr(one.sum(), name)())(x)).startswith(ITEM)


def test_an_example_decides_no_branch(torch: Any, x: Any, refused: Callable[[Any], str]) -> None:
    assert refused(lambda: torch.func.vmap(lambda one: one if one.sum() > 1 else -one)(x)).startswith(BRANCH)
    assert refused(lambda: torch.func.vmap(lambda one: bool(one.sum() > 1))(x)).startswith(BRANCH)


@pytest.mark.parametrize("name", ["tolist", "numpy", "data_ptr"])
def test_an_example_has_no_memory(torch: Any, x: Any, name: str, refused: Callable[[Any], str]) -> None:
    words = refused(lambda: torch.func.vmap(lambda one: getattr(one, name)())(x))
    assert words == "Cannot access data pointer of Tensor that doesn't have storage"


def test_what_all_examples_share_cannot_be_changed_by_one(torch: Any, x: Any, refused: Callable[[Any], str]) -> None:
    words = refused(lambda: torch.func.vmap(lambda one: torch.zeros(3).copy_(one))(x))
    assert words.startswith("vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mul_", "vmap: inplace arithmetic(self, *extra_args) is not possible"),
        ("add_", "output with shape [] doesn't match the broadcast shape [2]"),
        ("eq_", "vmap: aten::eq_(self, *extra_args) is not possible"),
    ],
)
def test_the_operator_that_would_change_it_is_named(
    torch: Any, x: Any, name: str, words: str, refused: Callable[[Any], str]
) -> None:
    assert refused(lambda: torch.func.vmap(lambda one: getattr(torch.ones(()), name)(one))(x[:, 0])).startswith(words)


def test_an_example_is_changed_in_place(torch: Any, x: Any) -> None:
    def f(one: Any) -> Any:
        one.mul_(2)[0] = 7
        return one.sum()

    assert torch.func.vmap(f)(x).tolist() == [13, 25]
    assert x.tolist() == [[7, 2, 4], [7, 8, 10]]


@pytest.mark.parametrize("in_dims", [True, False, (True,)])
def test_a_bool_is_no_dimension(torch: Any, x: Any, in_dims: Any) -> None:
    with pytest.raises(TypeError, match="must be int, not bool"):
        torch.func.vmap(lambda one: one, in_dims=in_dims)(x)


def test_extrema_of_all_elements_keep_their_names(torch: Any, x: Any) -> None:
    vmap = torch.func.vmap
    found = vmap(torch.aminmax)(x)
    assert (found.min.tolist(), found.max.tolist()) == ([0, 3], [2, 5])
    assert vmap(lambda one: one.aminmax(keepdim=True))(x).max.tolist() == [[2], [5]]
    assert vmap(lambda one: one.aminmax(dim=0))(x[0]).min.tolist() == [0, 1, 2]  # of a number, along its dimension
    assert vmap(torch.func.grad(lambda one: one.aminmax()[1]))(x).tolist() == [[0, 0, 1]] * 2


def test_classes_of_each_example_are_counted_by_the_caller(torch: Any, refused: Callable[[Any], str]) -> None:
    one_hot, classes = torch.nn.functional.one_hot, torch.tensor([[1, 0], [2, 1]])
    found = torch.func.vmap(lambda one: one_hot(one, 3))(classes)
    assert found.tolist() == one_hot(classes, 3).tolist()
    assert found.dtype is torch.int64
    for count in (-1, 0):
        words = refused(lambda count=count: torch.func.vmap(lambda one: one_hot(one, count))(classes))
        assert "please provide an explicit positive num_classes argument" in words


def test_an_example_takes_other_sizes(torch: Any, x: Any, refused: Callable[[Any], str]) -> None:
    vmap = torch.func.vmap
    assert vmap(lambda one: one.clone().resize_(2))(x).tolist() == [[0, 1], [2, 3]]  # as the elements lie in memory
    assert vmap(lambda one: one.clone().resize_(3, 1))(x).shape == (2, 3, 1)
    assert "resize_" in refused(lambda: vmap(lambda one: one.resize_(2), in_dims=1)(x))


def test_no_example_is_written_to_an_out(torch: Any, x: Any, refused: Callable[[Any], str]) -> None:
    vmap, zeros = torch.func.vmap, torch.zeros(3)
    wanted = "Batching rule not implemented for aten::add.out; the fallback path doesn't work on out= or view ops."
    assert refused(lambda: vmap(lambda one: torch.add(one, one, out=torch.empty(3)))(x)) == wanted
    assert refused(lambda: vmap(lambda one: torch.add(zeros, 1, out=one))(x)) == wanted
    assert vmap(lambda one: torch.add(zeros, 1, out=torch.empty(3)) + one)(x).tolist() == (x + 1).tolist()


def test_an_example_has_no_data_and_is_not_detached_in_place(torch: Any, x: Any, refused: Callable[[Any], str]) -> None:
    vmap, grad = torch.func.vmap, torch.func.grad
    assert refused(lambda: vmap(lambda one: one.data)(x)) == "accessing `data` under vmap transform is not allowed"
    assert vmap(grad(lambda one: (one.data * one).sum()))(x).tolist() == x.tolist()

    def point(tensor: Any, value: Any) -> Any:
        tensor.data = value
        return tensor.sum()

    for call, where in ((vmap, "under vmap"), (grad, "inside functorch")):
        words = refused(lambda call=call: call(lambda one: point(one, one * 2))(x))
        assert words == f"mutating directly with `.data` {where} transform is not allowed."
    assert refused(lambda: vmap(lambda one: (one * 2).detach_())(x)).startswith("Can't detach views in-place.")
    assert vmap(grad(lambda one: (one * 2).detach_().sum()))(x).tolist() == torch.zeros(2, 3).tolist()


@pytest.mark.parametrize("more", [{}, {"right": True}, {"out_int32": True}])
def test_numbers_are_searched_without_a_loop(torch: Any, more: Any) -> None:
    vmap = torch.func.vmap
    rows, numbers = torch.tensor([[0.0, 2.0, 4.0], [1.0, 2.0, 3.0]]), torch.tensor([[1.0, 3.0], [0.0, 2.0]])

    def find(rows: Any, numbers: Any) -> Any:
        return torch.searchsorted(rows, numbers, **more)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        one_of_each = vmap(find)(rows, numbers)
        shared = vmap(find, in_dims=(None, 0))(rows[0], numbers)
        of_number = vmap(find)(rows, numbers[:, 1])
        buckets = vmap(lambda numbers, rows: torch.bucketize(numbers, rows, **more))(numbers, rows)
        vmap(torch.complex)(rows, rows)
    assert not [one for one in caught if "performance drop" in str(one.message)]
    wanted = torch.stack([find(*pair) for pair in zip(rows, numbers, strict=True)])
    assert one_of_each.tolist() == buckets.tolist() == wanted.tolist()
    assert one_of_each.dtype is wanted.dtype
    assert shared.tolist() == find(rows[0], numbers).tolist()
    assert of_number.tolist() == wanted[:, 1].tolist()


def test_each_example_has_lengths_of_its_own(torch: Any) -> None:
    log_probs = torch.linspace(0, 1, 80, dtype=torch.float64).reshape(2, 5, 2, 4).log_softmax(-1)
    targets, inputs, lengths = torch.tensor([[1, 2], [3, 1]]), torch.tensor([5, 5]), torch.tensor([[2, 2], [1, 2]])

    def loss(log_probs: Any, lengths: Any) -> Any:
        return torch.nn.functional.ctc_loss(log_probs, targets, inputs, lengths)

    found = torch.func.vmap(torch.func.grad(loss))(log_probs, lengths)
    for one, value, own in zip(found, log_probs, lengths, strict=True):
        assert torch.allclose(one, torch.func.grad(loss)(value, own))


@pytest.mark.parametrize("bias", [None, 0])
@pytest.mark.parametrize("weight", [None, 0])
@pytest.mark.parametrize("shape", [(5, 4), (3, 5, 4), (2, 3, 5, 4)])
def test_a_linear_layer_is_that_of_each_example(torch: Any, shape: Any, weight: int | None, bias: int | None) -> None:
    dims = (len(shape) - 2, weight, bias)
    x, w, b = (torch.arange(float(n)).cos() for n in (40 * 3, 120, 30))
    x = x[: torch.Size(shape).numel()].view(shape)
    w, b = (w.view(5, 6, 4) if weight == 0 else w[:24].view(6, 4)), (b.view(5, 6) if bias == 0 else b[:6])
    found = torch.func.vmap(torch.nn.functional.linear, in_dims=dims)(x, w, b)
    for example in range(5):
        own = [one if dim is None else one.select(dim, example) for one, dim in zip((x, w, b), dims, strict=True)]
        torch.testing.assert_close(found[example], torch.nn.functional.linear(*own))


def test_a_linear_layer_that_is_shared_is_called_once_for_all_examples() -> None:
    called: list[str] = []

    class Calls(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            called.append(function.name)
            return function(*args, **(kwargs or {}))

    x, w, b = glasstorch.ones(5, 4), glasstorch.ones(6, 4), glasstorch.ones(6)
    with Calls():
        glasstorch.func.vmap(glasstorch.nn.functional.linear, in_dims=(0, None, None))(x, w, b)
    assert called == ["aten::t", "aten::addmm"]


def test_a_tensor_that_has_left_its_map_is_refused(torch: Any, refused: Callable[[Any], str]) -> None:
    kept: list[Any] = []
    torch.func.vmap(lambda x: (kept.append(x), x)[1])(torch.ones(2, 3))
    for call in (lambda: kept[0] + 1, lambda: kept[0].sum(), lambda: kept[0].view(3)):
        assert refused(call).startswith("Either your tensor may have escaped from inside a function being vmapped")
    assert kept[0].shape == (3,)
