"""Do transforms invert, are their Jacobians those of autograd, and is all that they say PyTorch's?"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import glasstorch
from tests.distributions.compare import assert_alike, both, outcome

Library = Any
Transform = Any

NUMBERS = [-1.3, 0.2, 2.1]
POSITIVE = [0.3, 1.0, 2.1]
VECTORS = [[-1.3, 0.2, 2.1], [0.5, -0.5, 0.0]]
MATRICES = [[[0.5, 0.1], [-0.3, 0.2]], [[1.0, 0.0], [2.0, -1.0]]]


def numbers(d: Any, *values: float) -> Any:
    """A tensor of the library that has these distributions."""
    library = import_module(d.__name__.partition(".")[0])
    return library.tensor(values, dtype=library.float64)


def parts(d: Any) -> list[Transform]:
    return [d.ExpTransform(), d.AffineTransform(1.0, 2.0), d.SigmoidTransform()]


# What makes a transform, given the package of distributions, and an input of it.
MADE: dict[str, tuple[Callable[[Any], Transform], Any]] = {
    "Exp": (lambda d: d.ExpTransform(), NUMBERS),
    "Power": (lambda d: d.PowerTransform(numbers(d, 0.5, 2.0, -1.5)), POSITIVE),
    "Sigmoid": (lambda d: d.SigmoidTransform(), NUMBERS),
    "Softplus": (lambda d: d.SoftplusTransform(), NUMBERS),
    "Tanh": (lambda d: d.TanhTransform(), NUMBERS),
    "Abs": (lambda d: d.AbsTransform(), POSITIVE),
    "Affine": (lambda d: d.AffineTransform(0.5, -2.0), NUMBERS),
    "Affine of tensors": (lambda d: d.AffineTransform(numbers(d, 0, 1, 2), numbers(d, 1, 2, -3)), VECTORS),
    "Affine of events": (lambda d: d.AffineTransform(0.5, numbers(d, 1, 2, -3), event_dim=1), VECTORS),
    "CumulativeDistribution": (
        lambda d: d.CumulativeDistributionTransform(d.Normal(0.5, 2.0)), NUMBERS,
    ),
    "Compose": (lambda d: d.ComposeTransform(parts(d)), NUMBERS),
    "Compose of vectors": (
        lambda d: d.ComposeTransform(
            [d.AffineTransform(0.5, 2.0), d.StickBreakingTransform()]
        ),
        VECTORS,
    ),
    "nothing": (lambda d: d.identity_transform, NUMBERS),
    "Independent": (lambda d: d.IndependentTransform(d.ExpTransform(), 1), VECTORS),
    "Reshape": (lambda d: d.ReshapeTransform((3,), (1, 3)), VECTORS),
    "Softmax": (lambda d: d.SoftmaxTransform(), VECTORS),
    "StickBreaking": (lambda d: d.StickBreakingTransform(), VECTORS),
    "CorrCholesky": (lambda d: d.CorrCholeskyTransform(), VECTORS),
    "LowerCholesky": (lambda d: d.LowerCholeskyTransform(), MATRICES),
    "PositiveDefinite": (lambda d: d.PositiveDefiniteTransform(), MATRICES),
    "Cat": (
        lambda d: d.CatTransform([d.ExpTransform(), d.TanhTransform()], 0, [1, 2]),
        NUMBERS,
    ),
    "Cat of vectors": (
        lambda d: d.CatTransform(
            [d.StickBreakingTransform(), d.StickBreakingTransform()], 0, [1, 1]
        ),
        VECTORS,
    ),
    "Stack": (
        lambda d: d.StackTransform(
            [d.ExpTransform(), d.TanhTransform(), d.SigmoidTransform()], -1
        ),
        VECTORS,
    ),
}  # fmt: skip
NAMES = list(MADE)
BIJECTIVE = [name for name in NAMES if MADE[name][0](glasstorch.distributions).bijective]
ONTO_OTHER_SHAPES = ("StickBreaking", "CorrCholesky", "Compose of vectors", "Cat of vectors", "Reshape")


def made(library: Library, name: str) -> tuple[Transform, Any]:
    make, x = MADE[name]
    return make(library.distributions), library.tensor(x, dtype=library.float64, requires_grad=True)


def facts(library: Library, name: str) -> list[Any]:
    transform, x = made(library, name)
    y = transform(x)
    inverse = transform.inv
    weights = library.linspace(1, 2, y.numel(), dtype=y.dtype).reshape(y.shape)
    return [
        y,
        inverse(y),
        library.autograd.grad((y * weights).sum(), x, allow_unused=True),
        outcome(lambda: transform.log_abs_det_jacobian(x, y)),
        outcome(lambda: inverse.log_abs_det_jacobian(y, x)),
        [repr(transform), repr(inverse), transform.bijective, inverse.bijective],
        outcome(lambda: transform.sign),
        outcome(
            lambda: [repr(transform.domain), repr(transform.codomain), repr(inverse.domain), repr(inverse.codomain)]
        ),
        outcome(lambda: [transform.domain.event_dim, transform.codomain.event_dim]),
        outcome(lambda: [tuple(transform.forward_shape(x.shape)), tuple(transform.inverse_shape(y.shape))]),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_all_that_a_transform_says_is_pytorchs(name: str) -> None:
    assert_alike(*both(lambda library: facts(library, name)), 1e-9)


@pytest.mark.parametrize("name", BIJECTIVE)
def test_the_inverse_gives_back_what_went_in(name: str) -> None:
    transform, x = made(glasstorch, name)
    y = transform(x.detach())
    assert glasstorch.allclose(transform.inv(y), x, rtol=1e-6, atol=1e-8)
    assert transform.inv.inv is transform
    assert transform.codomain.check(y).all()
    assert transform.domain.check(x).all()


@pytest.mark.parametrize("name", [name for name in BIJECTIVE if name not in ONTO_OTHER_SHAPES])
def test_jacobians_are_those_of_autograd(name: str) -> None:
    transform, x = made(glasstorch, name)
    y = transform(x)
    rows = [glasstorch.autograd.grad(y.reshape(-1)[i], x, retain_graph=True)[0].reshape(-1) for i in range(y.numel())]
    log_det = glasstorch.linalg.slogdet(glasstorch.stack(rows)).logabsdet
    assert glasstorch.allclose(transform.log_abs_det_jacobian(x, y).sum(), log_det)


@pytest.mark.parametrize("name", ["StickBreaking", "CorrCholesky"])
def test_jacobians_onto_other_shapes_are_those_of_the_free_coordinates(name: str) -> None:
    transform, x = made(glasstorch, name)
    x = x[0].detach().requires_grad_()
    y = transform(x)
    free = y[:-1] if name == "StickBreaking" else y[glasstorch.ones(3, 3).tril(-1) > 0]
    rows = [glasstorch.autograd.grad(value, x, retain_graph=True)[0] for value in free]
    log_det = glasstorch.linalg.slogdet(glasstorch.stack(rows)).logabsdet
    assert glasstorch.allclose(transform.log_abs_det_jacobian(x, y), log_det)


@pytest.mark.parametrize("name", NAMES)
def test_a_cache_gives_back_the_very_tensor(name: str) -> None:
    transform, x = made(glasstorch, name)
    cached = transform.with_cache()
    assert cached.with_cache() is cached
    assert transform.with_cache(0) is transform
    if name in ("nothing", "Abs") or not transform.bijective:
        return
    y = cached(x)
    assert cached.inv(y) is x or name == "Affine of events"
    assert transform.inv(transform(x)) is not x
    assert cached(x) is y
    if not name.startswith("Compose"):  # whose parts keep their caches
        assert cached.inv.with_cache(0)(y) is not x


def test_a_cache_has_one_place_or_none(torch: Any) -> None:
    with pytest.raises(ValueError, match="cache_size must be 0 or 1"):
        torch.distributions.ExpTransform(cache_size=2)


@pytest.mark.parametrize("name", NAMES)
def test_transforms_are_pickled(name: str) -> None:
    transform, x = made(glasstorch, name)
    twin = pickle.loads(pickle.dumps(transform.with_cache()))
    assert glasstorch.equal(twin(x), transform(x))


def test_equal_transforms_are_equal(torch: Any) -> None:
    d = torch.distributions
    pairs = [
        (d.ExpTransform(), d.ExpTransform(), True),
        (d.ExpTransform(), d.TanhTransform(), False),
        (d.ExpTransform().inv, d.ExpTransform().inv, True),
        (d.ExpTransform(), d.ExpTransform().inv, False),
        (d.AffineTransform(0, 1), d.AffineTransform(0, 1), True),
        (d.AffineTransform(0, 1), d.AffineTransform(0, torch.tensor([1.0, 2.0])), False),
        (d.AffineTransform(torch.zeros(2), 1), d.AffineTransform(0, 1), True),
        (d.PowerTransform(torch.tensor(2.0)), d.PowerTransform(torch.tensor(2.0)), True),
        (d.PowerTransform(torch.tensor(2.0)), d.PowerTransform(torch.tensor(3.0)), False),
        (d.ComposeTransform([d.ExpTransform()]), d.ComposeTransform([d.ExpTransform()]), True),
        (d.ComposeTransform([d.ExpTransform()]), d.ComposeTransform([]), False),
        (d.CorrCholeskyTransform(), d.CorrCholeskyTransform(), False),
    ]
    for number, (one, other, equal) in enumerate(pairs):
        assert (one == other) is equal, number
        assert (one != other) is not equal, number


REFUSED: list[tuple[Callable[[Any, Library], Any], type[Exception], str]] = [
    (lambda d, t: d.ReshapeTransform((2,), (3,)), ValueError, "have different numbers of elements"),
    (lambda d, t: d.ReshapeTransform((2,), (2, 1)).forward_shape((3,)), ValueError, "Shape mismatch: expected"),
    (lambda d, t: d.ReshapeTransform((2,), (2, 1)).inverse_shape((2,)), ValueError, "Too few dimensions"),
    (lambda d, t: d.StickBreakingTransform().forward_shape(t.Size()), ValueError, "Too few dimensions"),
    (lambda d, t: d.CorrCholeskyTransform().forward_shape(t.Size((4,))), ValueError, "not a flattened lower"),
    (lambda d, t: d.CorrCholeskyTransform().inverse_shape(t.Size((2, 3))), ValueError, "Input is not square"),
    (lambda d, t: d.IndependentTransform(d.ExpTransform(), 1)(t.tensor(1.0)), ValueError, "Too f"),
    (lambda d, t: d.CatTransform([abs]), AssertionError, "All elements of tseq must be Transform instances"),
    (lambda d, t: d.CatTransform([d.ExpTransform()], 0, [1, 2]), AssertionError, "lengths (2) must"),
    (lambda d, t: d.CatTransform([d.ExpTransform()])(t.ones(2)), AssertionError, "must equal"),
    (lambda d, t: d.StackTransform([d.ExpTransform()], 3)(t.ones(2)), AssertionError, "dim 3 out"),
    (lambda d, t: d.StickBreakingTransform().event_dim + d.LowerCholeskyTransform().event_dim
        + d.CorrCholeskyTransform().event_dim, ValueError, "Please use either .domain.event_dim or"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_transformed_is_refused(
    torch: Any, call: Callable[[Any, Library], Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as refusal:
        call(torch.distributions, torch)
    assert words in str(refusal.value)


def test_a_class_of_a_user_has_all_that_transforms_have(torch: Any) -> None:
    d = torch.distributions

    class Doubled(d.Transform):  # type: ignore[misc, name-defined]
        domain = codomain = d.constraints.real
        bijective = True
        sign = +1

        def _call(self, x: Any) -> Any:
            return 2 * x

        def _inverse(self, y: Any) -> Any:
            return y / 2

        def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
            return torch.full_like(x, 2.0).log()

    x = torch.tensor([0.5, 1.0])
    made = d.TransformedDistribution(d.Normal(torch.zeros(2), 1.0), [Doubled(cache_size=1)])
    assert torch.allclose(made.log_prob(x), d.Normal(0.0, 2.0).log_prob(x))
    assert torch.allclose(made.cdf(x), d.Normal(0.0, 2.0).cdf(x))
    assert repr(Doubled()) == "Doubled()"
    assert Doubled().with_cache()._cache_size == 1
