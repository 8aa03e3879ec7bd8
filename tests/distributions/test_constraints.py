"""Which values satisfy which constraint, and which transform leads to them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.distributions.compare import assert_alike, both, outcome
from tests.distributions.table import ROWS, Row, made

Library = Any
NUMBERS = [-1.0, 0.0, 0.5, 1.0, 2.0, float("nan"), float("inf")]
VECTORS = [[0.2, 0.3, 0.5], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [-0.5, 0.5, 1.0], [2.0, 1.0, float("nan")]]
MATRICES = [
    [[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.5], [0.5, 1.0]], [[1.0, 2.0], [2.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]],
    [[1.0, 0.0], [0.0, -1.0]], [[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]],
]  # fmt: skip
SYMMETRIC = [MATRICES[1], MATRICES[2], MATRICES[4]]

# A constraint and values that it is asked about.
ASKED: dict[str, tuple[Callable[[Any], Any], Any]] = {
    **{name: (lambda c, name=name: getattr(c, name), NUMBERS) for name in (
        "boolean", "nonnegative_integer", "positive_integer", "real", "positive", "nonnegative", "unit_interval",
    )},
    **{name: (lambda c, name=name: getattr(c, name)(0.5), NUMBERS) for name in (
        "greater_than", "greater_than_eq", "less_than",
    )},
    **{name: (lambda c, name=name: getattr(c, name)(0, 1), NUMBERS) for name in (
        "integer_interval", "interval", "half_open_interval",
    )},
    **{name: (lambda c, name=name: getattr(c, name), VECTORS) for name in ("one_hot", "simplex", "real_vector")},
    "multinomial": (lambda c: c.multinomial(2), VECTORS),
    "independent": (lambda c: c.independent(c.positive, 1), VECTORS),
    "independent of nothing": (lambda c: c.independent(c.positive, 0), VECTORS),
    "mixture": (lambda c: c.MixtureSameFamilyConstraint(c.unit_interval), NUMBERS),
    "mixture of vectors": (lambda c: c.MixtureSameFamilyConstraint(c.simplex), VECTORS),
    **{name: (lambda c, name=name: getattr(c, name), MATRICES) for name in (
        "lower_triangular", "lower_cholesky", "corr_cholesky", "square", "symmetric", "positive_definite",
    )},
    "square of oblongs": (lambda c: c.square, [VECTORS[:2]]),
    "symmetric, all": (lambda c: c.symmetric, SYMMETRIC),
    "positive_semidefinite": (lambda c: c.positive_semidefinite, SYMMETRIC),
    "cat": (lambda c: c.cat([c.positive, c.unit_interval], 0, [3, 4]), NUMBERS),
    "cat of vectors": (lambda c: c.cat([c.positive, c.unit_interval], -1, [1, 2]), VECTORS),
    "stack": (lambda c: c.stack([c.positive, c.unit_interval, c.real], -1), VECTORS),
}  # fmt: skip


def constraint(library: Library, name: str) -> Any:
    return ASKED[name][0](library.distributions.constraints)


@pytest.mark.parametrize("name", ASKED)
def test_answers_and_facts_are_pytorchs(name: str) -> None:
    def told(library: Library) -> Any:
        c = constraint(library, name)
        values = library.tensor(ASKED[name][1], dtype=library.float64)
        shown = "" if name.startswith(("cat", "stack")) else repr(c)
        return [c.check(values), shown, c.is_discrete, c.event_dim]

    assert_alike(*both(told), 0)


@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
@pytest.mark.parametrize("name", ASKED)
def test_transforms_to_a_constraint_are_pytorchs(name: str, registry: str) -> None:
    def reached(library: Library) -> Any:
        c = constraint(library, name)
        transform = getattr(library.distributions, registry)(c)
        shape = {0: (7,), 1: (2, 3), 2: (2, 2, 2)}[c.event_dim]
        if name in ("cat of vectors", "stack"):
            shape = (2, 3)
        if "corr" in name:
            shape = (2, 3)
        x = library.linspace(-1, 1, int(library.Size(shape).numel()), dtype=library.float64).reshape(shape)
        y = transform(x)
        assert c.check(y).all()
        return [repr(transform), y, transform.inv(y)]

    ours, theirs = both(lambda library: outcome(lambda: reached(library)))
    assert_alike(ours, theirs, 1e-9)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_draws_satisfy_the_support(row: Row) -> None:
    d = made(glasstorch, row)
    glasstorch.manual_seed(9)
    assert d.support.check(d.sample((200,))).all()


def test_a_registry_serves_constraints_of_users(torch: Any) -> None:
    d = torch.distributions

    class Even(d.constraints.Constraint):  # type: ignore[misc, name-defined]
        pass

    registry = d.constraint_registry.ConstraintRegistry()
    with pytest.raises(NotImplementedError, match="Cannot transform Even constraints"):
        registry(Even())

    @registry.register(Even)
    def to_even(constraint: Any) -> Any:
        return d.AffineTransform(0, 2)

    assert registry(Even()).scale == 2
    registry.register(Even(), lambda constraint: d.ExpTransform())
    assert isinstance(registry(Even()), d.ExpTransform)
    with pytest.raises(TypeError, match="Expected constraint to be either a Constraint subclass or instance"):
        registry.register(int, to_even)
    assert repr(Even()) == "ven()" or torch is glasstorch  # PyTorch drops the first letter, for its own begin with _


def test_a_dependent_constraint_is_known_of_instances_alone(torch: Any) -> None:
    d = torch.distributions
    constraints = d.constraints
    assert constraints.is_dependent(d.Uniform.support)
    assert not constraints.is_dependent(d.Uniform(0.0, 1.0).support)
    assert (d.Uniform.support.is_discrete, d.Uniform.support.event_dim) == (False, 0)
    assert constraints.dependent(is_discrete=True).is_discrete
    assert constraints.dependent(is_discrete=True)(event_dim=2).event_dim == 2
    for fact in ("is_discrete", "event_dim"):
        with pytest.raises(NotImplementedError, match="cannot be determined statically"):
            getattr(constraints.dependent, fact)
    with pytest.raises(ValueError, match="Cannot determine validity of dependent constraint"):
        constraints.dependent.check(torch.ones(1))


REFUSED: list[tuple[Callable[[Any, Any], Any], type[Exception], str]] = [
    (lambda c, t: c.independent(int, 1), AssertionError, "base_constraint must be a Constraint"),
    (lambda c, t: c.independent(c.real, -1), AssertionError, "reinterpreted_batch_ndims must be"),
    (lambda c, t: c.MixtureSameFamilyConstraint(3), AssertionError, "base_constraint must be a Constraint"),
    (lambda c, t: c.real_vector.check(t.tensor(1.0)), ValueError, "Expected value.dim() >= 1 but got 0"),
    (lambda c, t: c.cat([c.real, 1]), AssertionError, "All elements of cseq must be Constraint instances"),
    (lambda c, t: c.cat([c.real], lengths=[1, 2]), AssertionError, "lengths (2) must match cseq (1)"),
    (lambda c, t: c.stack([c.real], 2).check(t.ones(2)), AssertionError, "dim 2 out of range for value with 1 dim"),
    (lambda c, t: c.Constraint().check(t.ones(2)), NotImplementedError, ""),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_no_constraint_is_refused(
    torch: Any, call: Callable[[Any, Any], Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as refusal:
        call(torch.distributions.constraints, torch)
    assert words in str(refusal.value)
