"""Does what programs on sparse tensors once found to differ give what it gives in PyTorch?

Each program is run on both libraries; it gave something else, or was refused, when it was first run on this one.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import assert_same
from tests.sparse.told import outcomes, told

Program = Callable[[Any], Any]


def coo(t: Any, dtype: Any = None, **options: Any) -> Any:
    """A matrix whose elements are in order, which it does not know."""
    return t.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3, 4, 5], (2, 3), dtype=dtype or t.float64, **options)


def twice(t: Any, dtype: Any = None) -> Any:
    """A matrix with a place that occurs twice, not in order."""
    return t.sparse_coo_tensor([[0, 1, 1, 0], [2, 0, 0, 2]], [3, 4, 5, -3], (2, 3), dtype=dtype or t.float64)


def rows(t: Any) -> Any:
    """A matrix of rows, of which one occurs twice."""
    return t.sparse_coo_tensor([[0, 2, 0]], t.arange(6.0).view(3, 2), (3, 2))


def number(t: Any) -> Any:
    return t.sparse_coo_tensor(t.zeros(0, 1, dtype=t.int64), [2.0], ())


def matrix(t: Any) -> Any:
    return t.tensor([[1.0, 0, 2, 0], [0, 0, 3, 4], [5, 0, 0, 6]])


def compressed(t: Any) -> list[Any]:
    x = matrix(t)
    return [x.to_sparse_csr(), x.to_sparse_csc(), x.to_sparse_bsr((1, 2)), x.to_sparse_bsc((1, 2))]


def gradient(t: Any, call: Callable[[Any], Any], of: Any) -> Any:
    leaf = of.detach().requires_grad_()
    result = call(leaf)
    (result if result.layout is t.strided else result.to_dense()).sum().backward()
    return told(t, leaf.grad)


def accumulated(t: Any) -> Any:
    leaf = coo(t, requires_grad=True)
    for _ in range(3):
        t.sparse.sum(leaf * leaf).backward()
    return told(t, leaf.grad)


def momentum(t: Any) -> Any:
    embedding = t.nn.Embedding(6, 2, sparse=True)
    with t.no_grad():
        embedding.weight.copy_(t.arange(12.0).view(6, 2) / 10)
    optimizer = t.optim.SGD(embedding.parameters(), lr=0.125, momentum=0.5)
    for step in range(3):
        optimizer.zero_grad()
        (embedding(t.tensor([1, 3, 1, step])) * 2).sum().backward()
        optimizer.step()
    return told(t, [embedding.weight, *(s["momentum_buffer"] for s in optimizer.state.values())])


def assert_close(t: Any, one: Any, other: Any, **options: Any) -> Any:
    return outcomes(t, [lambda: t.testing.assert_close(one, other, **options)])


def retained(t: Any) -> Any:
    leaf = coo(t, requires_grad=True)
    between = leaf * 2
    between.retain_grad()
    between.to_dense().sum().backward()
    return told(t, [between.grad, leaf.grad])


def loaded(t: Any, tensor: Any) -> Any:
    memory = io.BytesIO()
    t.save(tensor, memory)
    memory.seek(0)
    return told(t, t.load(memory))


def checked(t: Any, masked: bool) -> list[Any]:
    """What gradcheck says of functions of tensors of several layouts."""
    check = t.autograd.gradcheck
    x, wide = coo(t).coalesce(), t.ones(3, 2).double().requires_grad_()
    some = [rows(t).coalesce().double(), twice(t), x, x.to_sparse_csr(), x.to_sparse_bsr((1, 3))]
    leaves = [one.detach().clone().requires_grad_() for one in some]
    calls = [
        lambda leaf=leaf: check(lambda a: a.to_dense(masked_grad=masked), (leaf,), masked=masked) for leaf in leaves
    ]
    calls += [
        lambda: check(lambda a: a.to_dense(masked_grad=not masked), (leaves[2],), masked=masked, raise_exception=False),
        lambda: check(t.sparse.sum, (leaves[2],), masked=masked, raise_exception=False),
        lambda: check(t.sparse.mm, (leaves[2], wide), masked=masked, raise_exception=False),
        lambda: check(lambda a: a * 2, (leaves[2],), masked=masked),
        lambda: check(lambda a: a.to_sparse(), (wide,), masked=masked),
    ]
    return outcomes(t, calls)


FOUND: dict[str, Program] = {
    "sums read both lists of elements from their heads": lambda t: told(
        t, [one + other for make in (coo, twice) for one in [make(t)] for other in (coo(t), twice(t))]
    ),
    "differences with a factor": lambda t: told(t, [t.sub(coo(t), twice(t), alpha=3), coo(t, t.int32) + coo(t)]),
    "sums of rows": lambda t: told(t, [rows(t) + rows(t), t.add(rows(t), rows(t), alpha=2)]),
    "sums in place": lambda t: told(t, [coo(t).add_(twice(t), alpha=2), coo(t).sub_(coo(t))]),
    "values that do not follow each other are joined": lambda t: told(
        t, t.sparse_coo_tensor([[0, 1]], t.ones(3, 2).t(), (2, 3)) + t.sparse_coo_tensor([[0, 1]], t.ones(2, 3), (2, 3))
    ),
    "a strided sum is row-major": lambda t: list((t.ones(3, 2).double().t() + coo(t)).stride()),
    "products keep the places of the shorter one": lambda t: told(
        t, [twice(t) * coo(t), coo(t) * twice(t), twice(t) * twice(t), coo(t).coalesce() * twice(t)]
    ),
    "products of bools": lambda t: outcomes(
        t, [lambda: coo(t, t.bool) * twice(t, t.bool), lambda: coo(t, t.bool).coalesce() * coo(t, t.bool).coalesce()]
    ),
    "products with a sparse number": lambda t: told(t, [coo(t) * number(t), number(t) * coo(t), number(t) * number(t)]),
    "sums over dimensions keep integers": lambda t: told(
        t, [t.sparse.sum(coo(t, d), 0) for d in (t.int32, t.bool, t.uint8)] + [coo(t, t.int32).sum(0)]
    ),
    "which slices are known to be coalesced": lambda t: told(
        t, [coo(t)[0], coo(t)[1], twice(t)[0], coo(t).coalesce()[1], rows(t).select(1, 0)]
    ),
    "slices of compressed tensors": lambda t: told(t, [s.select(0, 1) for s in compressed(t)[:2]]),
    "which indexed tensors are known to be coalesced": lambda t: told(
        t, [coo(t).coalesce().index_select(d, t.tensor(i)) for d in (0, 1) for i in ([1], [1, 0], [0])]
    ),
    "indices that are none": lambda t: outcomes(
        t,
        [
            lambda: coo(t).index_select(0, t.tensor(1)),
            lambda: coo(t).index_select(0, t.tensor([0], dtype=t.int32)),
            lambda: coo(t).index_select(0, t.tensor([[0]])),
        ],
    ),
    "a transposed tensor of one element": lambda t: [
        t.sparse_coo_tensor([[0], [1]], [1.0], (2, 3)).t().is_coalesced(),
        coo(t).coalesce().t().is_coalesced(),
    ],
    "blocks as elements": lambda t: [
        getattr(matrix(t), f"to_sparse_{layout}")(size).to_sparse().is_coalesced()
        for layout in ("bsr", "bsc")
        for size in ((1, 2), (3, 2), (1, 1), (3, 4), (1, 4))
    ],
    "columns as elements": lambda t: [
        x.to_sparse_csc().to_sparse().is_coalesced() for x in (matrix(t), matrix(t)[:1, :1], matrix(t)[:, :0])
    ],
    "gradients that a leaf takes over": lambda t: [
        gradient(t, call, coo(t))
        for call in (
            lambda x: x.to_dense(),
            lambda x: x * 2,
            lambda x: x.t(),
            lambda x: x @ t.ones(3, 2).double(),
            lambda x: t.sparse.softmax(x, 1),
            lambda x: x.relu(),
        )
    ],
    "gradients that are asked for": lambda t: told(
        t, [t.autograd.grad(x.to_dense().sum(), x) for x in [coo(t, requires_grad=True)]]
    ),
    "gradients that are added up": accumulated,
    "momentum of sparse gradients": momentum,
    "hspmm": lambda t: told(t, [t.hspmm(coo(t), t.ones(3, 2).double()), t.hspmm(twice(t), t.ones(3, 2).double())]),
    "products of batches written to a tensor": lambda t: told(
        t, t.bmm(t.stack([coo(t), twice(t)]), t.ones(2, 3, 2).double(), out=t.empty(0).double())
    ),
    "zeros of another layout": lambda t: told(
        t, [t.zeros_like(coo(t), layout=t.sparse_csr), t.zeros_like(coo(t), layout=t.strided)]
    ),
    "how many bytes": lambda t: [s.nbytes for s in compressed(t)] + outcomes(t, [lambda: coo(t).nbytes]),
    "pinned memory": lambda t: [s.is_pinned() for s in (coo(t), *compressed(t))],
    "a text in place of the elements": lambda t: coo(t).__repr__(tensor_contents="...").replace("glasstorch", "torch"),
    "assert_close of COO": lambda t: [
        assert_close(t, coo(t), coo(t)),
        assert_close(t, coo(t), coo(t) * 2),
        assert_close(t, coo(t), coo(t).coalesce()),
        assert_close(t, coo(t), coo(t).to_dense()),
        assert_close(t, coo(t), coo(t).to_dense(), check_layout=False),
        assert_close(t, coo(t), twice(t)),
        assert_close(t, coo(t), twice(t).coalesce().index_select(0, t.tensor([0, 1]))),
        assert_close(t, rows(t), rows(t).to_dense().to_sparse()),
        assert_close(t, coo(t), coo(t, t.float32)),
    ],
    "assert_close of compressed layouts": lambda t: [
        assert_close(t, one, other)
        for one in compressed(t)
        for other in (*compressed(t), one * 2, one.to_sparse_bsr((3, 1)), matrix(t).t().contiguous().to_sparse_csr())
        if one.shape == other.shape
    ],
    "assert_close of jagged tensors": lambda t: [
        assert_close(t, x, x * k)
        for x in [t.nested.nested_tensor([t.ones(2, 3), t.ones(1, 3)], layout=t.jagged)]
        for k in (1, 2)
    ],
    "what is empty": lambda t: told(
        t,
        [
            t.cat([t.sparse_coo_tensor((2, 0)), t.sparse_coo_tensor((2, 0))]),
            t.stack([t.sparse_coo_tensor((0,)), t.sparse_coo_tensor((0,))]),
            t.sparse_coo_tensor((0, 2)).unsqueeze(0),
            t.sparse_coo_tensor([[0], [1]], [1.0], (2, 3)).unsqueeze(0),
            t.sparse.sampled_addmm(matrix(t).to_sparse_csr(), t.empty(3, 0), t.empty(0, 4)),
            t.sparse.spdiags(t.empty(0, 3), t.tensor([], dtype=t.int64), (3, 3)),
        ],
    ),
    "differences of unsigned numbers": lambda t: told(t, coo(t, t.uint8) - twice(t, t.uint8)),
    "the two parts of complex numbers": lambda t: told(
        t, [part for x in [coo(t, t.complex64) * (1 + 2j)] for part in (x.real, x.imag, t.view_as_real(x), t.real(x))]
    ),
    "gradients that are retained": retained,
    "gradients under a transform": lambda t: told(
        t,
        [
            t.func.grad(lambda x: x.to_dense().sum())(coo(t)),
            t.func.vjp(lambda x: coo(t) @ x, t.ones(3, 2).double())[1](t.ones(2, 2).double()),
            t.func.vmap(lambda x: x.to_dense())(t.stack([coo(t), twice(t)])),
        ],
    ),
    "gradients of values that are checked": lambda t: checked(t, True),
    "gradients of all elements that are checked": lambda t: checked(t, False),
    "the name of what checks them": lambda t: t.sparse.as_sparse_gradcheck(t.autograd.gradcheck).__name__,
    "a file with indices that are out of range": lambda t: [
        loaded(t, t.sparse_coo_tensor([[7]], [1.0], (2,), check_invariants=False)),
        loaded(t, t.sparse_csr_tensor([0, 1, 2], [0, 9], [1.0, 2.0], (2, 2), check_invariants=False)),
    ],
    "types of the old kind": lambda t: told(
        t,
        [
            t.sparse.FloatTensor(t.tensor([[0, 1]]), t.tensor([1.0, 2.0]), t.Size([3])),
            t.sparse.DoubleTensor(t.tensor([[0, 1]]), t.tensor([1.0, 2.0], dtype=t.float64)),
            t.sparse.IntTensor(2, 3),
            t.sparse.FloatTensor(),
            isinstance(coo(t), t.sparse.DoubleTensor),
            isinstance(coo(t), t.DoubleTensor),
            t.sparse.FloatTensor.is_sparse,
            str(t.sparse.HalfTensor.dtype),
            repr(t.sparse.ShortTensor),
            coo(t).type("torch.sparse.FloatTensor"),
            coo(t).type(t.sparse.IntTensor),
        ],
    ),
    "filled as operators": lambda t: told(
        t,
        [
            t.ops.aten.zero(coo(t)),
            t.ops.aten.zero(coo(t).to_sparse_csr()),
            t.ops.aten.fill.Scalar(coo(t).to_sparse_csr(), 2),
            t.full_like(coo(t).to_sparse_csr(), 2.0),
        ],
    ),
    "filled where there is no kernel": lambda t: [
        (kind, words.partition(". ")[0])  # without the backends that have one
        for kind, words in outcomes(t, [lambda: t.ops.aten.fill.Scalar(coo(t), 1), lambda: t.full_like(coo(t), 2.0)])
    ],
    "what the old kind refuses": lambda t: outcomes(
        t, [lambda: t.sparse.FloatTensor([1, 2]), lambda: t.sparse.FloatTensor(coo(t)), lambda: coo(t).new([1, 2])]
    ),
    "new": lambda t: told(
        t, [coo(t).new(), coo(t).new(2, 3), coo(t).new(t.tensor([[0]]), t.tensor([1.0]), (3,)), coo(t).new(t.Size([2]))]
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_is_as_in_pytorch(name: str, require: Callable[[str], Any]) -> None:
    def quietly(t: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return FOUND[name](t)

    assert_same(quietly, require("torch"))
