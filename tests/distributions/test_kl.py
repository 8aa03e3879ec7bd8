"""Are divergences PyTorch's, and means of the difference of log densities, and which function is chosen?"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.distributions.kl.dispatch import KL_REGISTRY, _chosen
from tests.core.random.torch_numbers import torch_module
from tests.distributions.compare import assert_alike, both, outcome
from tests.distributions.table import COVARIANCE, WEIGHTS, Library, by

# Two choices of parameters for each class: the divergence is taken of the first from the second.
P_AND_Q: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "Bernoulli": (([0.2, 0.0, 1.0],), ([0.4, 0.3, 1.0],)),
    "Beta": (([0.7, 2.0, 5.0], [1.5, 3.0, 0.8]), ([1.2, 1.0, 4.0], [0.9, 2.0, 2.0])),
    "Binomial": (([6.0, 3.0, 3.0], [0.2, 0.5, 0.7]), ([6.0, 3.0, 2.0], [0.4, 0.3, 0.7])),
    "Categorical": (([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]],), ([[0.3, 0.3, 0.4], [0.5, 0.0, 0.5]],)),
    "Cauchy": (([-1.0, 0.5], [0.5, 2.0]), ([0.3, 0.5], [1.5, 1.0])),
    "ContinuousBernoulli": (([0.2, 0.5, 0.8],), ([0.4, 0.3, 0.5],)),
    "Dirichlet": (([[0.5, 1.0, 2.5], [3.0, 0.8, 9.0]],), ([[1.5, 1.0, 0.5], [2.0, 0.8, 3.0]],)),
    "Exponential": (([0.3, 1.2, 4.0],), ([0.5, 1.2, 2.0],)),
    "Gamma": (([0.7, 2.0, 5.0], [1.5, 3.0, 0.8]), ([1.2, 1.0, 4.0], [0.9, 2.0, 2.0])),
    "Geometric": (([0.2, 0.5],), ([0.4, 0.3],)),
    "Gumbel": (([-1.0, 0.5], [0.5, 2.0]), ([0.3, 0.5], [2.5, 3.0])),
    "HalfNormal": (([0.5, 2.0],), ([1.5, 1.0],)),
    "Laplace": (([-1.0, 0.5], [0.5, 2.0]), ([0.3, 0.5], [1.5, 1.0])),
    "LowRankMultivariateNormal": (
        ([0.5, 1.0], [[1.0], [0.5]], [0.3, 0.8]),
        ([[0.0, 1.0], [1.0, 0.0]], [[0.5], [0.7]], [0.9, 0.4]),
    ),
    "MultivariateNormal": (
        ([[0.5, 1.0], [0.0, 0.0]], COVARIANCE),
        ([0.0, 1.0], [COVARIANCE, [[1.0, 0.1], [0.1, 2.0]]]),
    ),
    "Normal": (([-1.0, 0.5], [0.5, 2.0]), ([0.3, 0.5], [1.5, 1.0])),
    "OneHotCategorical": ((WEIGHTS,), (WEIGHTS[::-1],)),
    "Pareto": (([0.3, 2.0, 1.0], [1.5, 3.0, 0.8]), ([0.3, 1.0, 2.0], [0.9, 2.0, 2.0])),
    "Poisson": (([0.5, 3.0],), ([2.0, 3.5],)),
    "Uniform": (([0.2, 0.4, -0.5], [0.7, 0.9, 3.0]), ([-1.0, 0.0, 0.1], [2.0, 1.0, 3.5])),
}  # fmt: skip
NAMES = sorted((p.__name__, q.__name__) for p, q in KL_REGISTRY)
CONCRETE = [pair for pair in NAMES if set(pair) <= set(P_AND_Q)]


def example(library: Library, name: str, which: int) -> Any:
    return by(name)(library, *(library.tensor(x, dtype=library.float64) for x in P_AND_Q[name][which]))


def pair(library: Library, names: tuple[str, str]) -> tuple[Any, Any]:
    """A distribution of each class, of one batch shape."""
    p, q = example(library, names[0], 0), example(library, names[1], 1)
    if names[0] != names[1]:
        size = min(d.batch_shape[0] for d in (p, q) if d.batch_shape) if p.batch_shape or q.batch_shape else None
        p, q = cut(library, names[0], 0, size), cut(library, names[1], 1, size)
    return p, q


def cut(library: Library, name: str, which: int, size: int | None) -> Any:
    """An example with only so many choices of parameters, where they are numbers."""
    if name.endswith("MultivariateNormal"):
        return example(library, name, which)
    parameters = [library.tensor(x, dtype=library.float64)[:size] for x in P_AND_Q[name][which]]
    return by(name)(library, *parameters)


def test_every_pair_of_pytorch_is_registered() -> None:
    kl = torch_module().distributions.kl
    assert sorted((p.__name__, q.__name__) for p, q in kl._KL_REGISTRY) == NAMES
    assert len(NAMES) - len(CONCRETE) == 3  # exponential families, what is independent, and what is transformed


@pytest.mark.parametrize("names", CONCRETE, ids="-".join)
def test_divergences_are_pytorchs(names: tuple[str, str]) -> None:
    ours, theirs = both(lambda library: library.distributions.kl_divergence(*pair(library, names)))
    assert_alike(ours, theirs, 1e-9)


@pytest.mark.usefixtures("unchecked")  # outside its support a density is 0
@pytest.mark.parametrize("names", CONCRETE, ids="-".join)
def test_divergences_are_means_over_draws(names: tuple[str, str]) -> None:
    p, q = pair(glasstorch, names)
    p = p if p.batch_shape else p.expand(q.batch_shape)
    glasstorch.manual_seed(5)
    drawn = p.sample((4000,))
    difference = (p.log_prob(drawn) - q.log_prob(drawn)).numpy()
    found = np.broadcast_to(glasstorch.distributions.kl_divergence(p, q).numpy(), difference.shape[1:])
    finite = np.isfinite(found) & np.isfinite(difference).all(axis=0)
    found, difference = found[finite], difference[:, finite]
    heavy = names[0] in ("Pareto", "Cauchy") or (names == ("Gumbel", "Gumbel"))  # whose means hardly settle
    error = difference.std(axis=0) / np.sqrt(len(drawn)) * (20 if heavy else 5) + 1e-9
    assert (np.abs(difference.mean(axis=0) - found) <= error).all()
    assert (found >= -1e-12).all()


@pytest.mark.parametrize("name", ["Bernoulli", "Beta", "Dirichlet", "Exponential", "Gamma", "Normal", "Poisson"])
def test_divergences_of_exponential_families_are_those_by_bregman(name: str) -> None:
    d = glasstorch.distributions
    p, q = (example(glasstorch, name, which) for which in (0, 1))
    if name == "Bernoulli":
        p, q = d.Bernoulli(glasstorch.tensor([0.2, 0.6]).double()), d.Bernoulli(glasstorch.tensor([0.4, 0.3]).double())
    by_families = KL_REGISTRY[d.ExponentialFamily, d.ExponentialFamily](p, q)
    assert np.allclose(by_families.detach().numpy(), d.kl_divergence(p, q).numpy(), rtol=1e-9)


def made_of_others(library: Library) -> list[Any]:
    d = library.distributions
    p, q = example(library, "Normal", 0), example(library, "Normal", 1)
    log_normal = [d.LogNormal(x.loc, x.scale) for x in (p, q)]
    return [
        d.kl_divergence(d.Independent(p, 1), d.Independent(q, 1)),
        d.kl_divergence(*log_normal),
        outcome(lambda: d.kl_divergence(d.Independent(p, 1), d.Independent(q, 0))),
        outcome(lambda: d.kl_divergence(log_normal[0], d.Gumbel(q.loc, q.scale))),
        outcome(lambda: d.kl_divergence(p, log_normal[1])),
        d.kl_divergence(d.Chi2(p.scale), d.Gamma(p.scale, q.scale)),
        outcome(lambda: d.kl_divergence(d.Poisson(p.scale), d.Normal(p.loc, p.scale))),
    ]


def test_divergences_of_what_is_made_of_others_are_pytorchs() -> None:
    assert_alike(*both(made_of_others), 1e-9)


def test_normal_vectors_of_other_sizes_have_no_divergence(torch: Any) -> None:
    d = torch.distributions
    short, long = (d.MultivariateNormal(torch.zeros(n), torch.eye(n)) for n in (2, 3))
    with pytest.raises(ValueError, match="different event shapes cannot be computed"):
        d.kl_divergence(short, long)


# Which function is chosen ---------------------------------------------------------------------------------------------


@contextmanager
def registry_restored(library: Any) -> Iterator[Any]:
    """The registry of a library, with what was registered inside the block taken out of it."""
    module = __import__(f"{library.__name__}.distributions.kl", fromlist=["_KL_REGISTRY"])
    registry = module._KL_REGISTRY
    before = dict(registry)
    memory = _chosen if library is glasstorch else module._KL_MEMOIZE
    try:
        yield module.register_kl
    finally:
        registry.clear()
        registry.update(before)
        memory.clear()


def test_the_nearest_classes_choose_and_an_ambiguity_is_told(torch: Any) -> None:
    d = __import__(f"{torch.__name__}.distributions", fromlist=["Normal"])

    class Mine(d.Normal):  # type: ignore[misc, name-defined]
        pass

    class Yours(d.Normal):  # type: ignore[misc, name-defined]
        pass

    mine, yours = Mine(0.0, 1.0), Yours(1.0, 1.0)
    assert d.kl_divergence(mine, yours).item() == 0.5  # as of normal ones
    with registry_restored(torch) as register_kl:
        register_kl(Mine, d.Normal)(lambda p, q: "left")
        assert d.kl_divergence(mine, yours) == "left"
        register_kl(d.Normal, Yours)(lambda p, q: "right")
        with pytest.warns(
            RuntimeWarning, match=r"Ambiguous kl_divergence\(Mine, Yours\). Please register_kl\(Mine, Yours\)"
        ):
            assert d.kl_divergence(mine, yours) == "left"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert d.kl_divergence(mine, yours) == "left"  # it is told once
        register_kl(Mine, Yours)(lambda p, q: "both")
        assert d.kl_divergence(mine, yours) == "both"
    assert d.kl_divergence(mine, yours).item() == 0.5


def test_any_two_classes_can_be_registered(torch: Any) -> None:
    d = torch.distributions

    class Told:
        pass

    class ToldDistribution(Told, d.Distribution):
        def __init__(self) -> None:
            pass

    registry = KL_REGISTRY if torch is glasstorch else import_module("torch.distributions.kl")._KL_REGISTRY
    d.register_kl(Told, Told)(lambda p, q: "told")
    try:
        assert d.kl_divergence(ToldDistribution(), ToldDistribution()) == "told"
    finally:
        del registry[Told, Told]


def test_what_is_no_class_cannot_be_registered() -> None:
    d = glasstorch.distributions
    for types in ((3, d.Normal), (d.Normal, "Normal")):
        with pytest.raises(TypeError, match="to be a Distribution subclass but got"):
            d.register_kl(*types)
