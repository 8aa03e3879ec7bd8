"""Does every distribution say, draw and compute what PyTorch's does?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.distributions.compare import assert_alike, both, outcome
from tests.distributions.table import ROWS, Distribution, Library, Row, made, tensors, values_of

Fact = Callable[[Library, Row, Distribution], Any]
TOLERANCE = {"float64": 1e-9, "float32": 2e-5}
SHAPES: list[tuple[int, ...]] = [(), (3,), (2, 4)]


def texts(library: Library, row: Row, d: Distribution) -> list[str]:
    constraints = {name: repr(constraint) for name, constraint in d.arg_constraints.items()}
    return [repr(d), repr(d.support), repr(constraints), repr(type(d).__name__)]


def sizes(library: Library, row: Row, d: Distribution) -> list[Any]:
    return [
        d.batch_shape,
        d.event_shape,
        d.has_rsample,
        d.has_enumerate_support,
        d.support.is_discrete,
        d.support.event_dim,
    ]


def expanded(library: Library, row: Row, d: Distribution) -> list[Any]:
    new = d.expand((2, *d.batch_shape))
    library.manual_seed(1)
    drawn = [new.sample(), library.rand(1)]
    again = new.expand((3, 2, *d.batch_shape))
    facts = [type(new).__name__, new.batch_shape, again.batch_shape, repr(again), d._validate_args, new._validate_args]
    return [*facts, *drawn, again.log_prob(values_of(library, row)), moment("mean")(library, row, again)]


def moment(name: str) -> Fact:
    return lambda library, row, d: outcome(lambda: getattr(d, name))


def drawn(library: Library, row: Row, d: Distribution) -> list[Any]:
    results = []
    for shape in SHAPES:
        library.manual_seed(2)
        results += [d.sample(shape), library.rand(1)]
    return results


def of_values(name: str) -> Fact:
    return lambda library, row, d: getattr(d, name)(values_of(library, row))


def inverse(library: Library, row: Row, d: Distribution) -> Any:
    return d.icdf(library.tensor([[0.05], [0.5], [0.9]], dtype=getattr(library, row.dtype)))


def listed(library: Library, row: Row, d: Distribution) -> list[Any]:
    return [d.enumerate_support(), d.enumerate_support(expand=False)]


def by_bregman(library: Library, row: Row, d: Distribution) -> Any:
    return library.distributions.ExponentialFamily.entropy(d)


FACTS: dict[str, Fact] = {
    "texts": texts,
    "sizes": sizes,
    "mean": moment("mean"),
    "mode": moment("mode"),
    "variance": moment("variance"),
    "stddev": moment("stddev"),
    "draws": drawn,
    "log_prob": of_values("log_prob"),
    "cdf": of_values("cdf"),
    "icdf": inverse,
    "entropy": lambda library, row, d: d.entropy(),
    "perplexity": lambda library, row, d: d.perplexity(),
    "entropy of the exponential family": by_bregman,
    "all values": listed,
    "expanded": expanded,
}


@pytest.mark.parametrize("fact", FACTS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_facts_are_pytorchs(row: Row, fact: str) -> None:
    ours, theirs = both(lambda library: outcome(lambda: FACTS[fact](library, row, made(library, row))))
    assert_alike(ours, theirs, TOLERANCE[row.dtype])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_draws_of_single_precision_are_pytorchs(row: Row) -> None:
    ours, theirs = both(lambda library: drawn(library, row, made(library, row, "float32")))
    assert_alike(ours, theirs, 0 if row.is_discrete else 2e-5)


# PyTorch changes in place what its gradient of a Wishart matrix needs; ours is looked at in test_wishart.py.
@pytest.mark.parametrize("row", [row for row in ROWS if not row.name.startswith("Wishart")], ids=lambda row: row.name)
def test_gradients_of_draws_are_pytorchs(row: Row) -> None:
    def gradients(library: Library) -> Any:
        parameters = tensors(library, row, row.dtype, requires_grad=True)
        d = row.make(library, *parameters)
        library.manual_seed(3)
        drawn = d.rsample((4,))
        weights = library.linspace(0.5, 2, drawn.numel(), dtype=drawn.dtype).reshape(drawn.shape)
        return library.autograd.grad((drawn * weights).sum(), parameters, allow_unused=True)

    ours, theirs = both(lambda library: outcome(lambda: gradients(library)))
    assert_alike(ours, theirs, 10 * TOLERANCE[row.dtype])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_gradients_of_log_prob_are_pytorchs(row: Row) -> None:
    def gradients(library: Library) -> Any:
        parameters = tensors(library, row, row.dtype, requires_grad=True)
        d = row.make(library, *parameters)
        return library.autograd.grad(d.log_prob(values_of(library, row)).sum(), parameters, allow_unused=True)

    ours, theirs = both(gradients)
    assert_alike(ours, theirs, 10 * TOLERANCE[row.dtype])
