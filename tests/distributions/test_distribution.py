"""What does every distribution check, and what may a class of a user rely on?"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.distributions.compare import assert_alike, both
from tests.distributions.table import ROWS, Row, made, tensors

Library = Any

REFUSED: dict[str, Callable[[Any], Any]] = {
    "a negative scale": lambda t: t.distributions.Normal(0.0, -1.0),
    "one of several": lambda t: t.distributions.Normal(t.zeros(2), t.tensor([1.0, -1.0])),
    "nan": lambda t: t.distributions.Normal(float("nan"), 1.0),
    "a probability of 2": lambda t: t.distributions.Bernoulli(t.tensor([0.5, 2.0])),
    "a probability of 0": lambda t: t.distributions.Geometric(t.tensor([0.5, 0.0])),
    "both parameters": lambda t: t.distributions.Bernoulli(probs=0.5, logits=0.0),
    "no parameter": lambda t: t.distributions.Categorical(),
    "no vector": lambda t: t.distributions.Categorical(t.tensor(1.0)),
    "no logits": lambda t: t.distributions.Categorical(logits=t.tensor(1.0)),
    "negative weights": lambda t: t.distributions.Categorical(t.tensor([-1.0, 2.0])),
    "an empty interval": lambda t: t.distributions.Uniform(t.tensor([0.0, 1.0]), t.tensor([1.0, 1.0])),
    "half a trial": lambda t: t.distributions.Binomial(t.tensor(2.5), t.tensor(0.5)),
    "a parameter of text": lambda t: t.distributions.Normal("0", 1.0),
    "no concentrations": lambda t: t.distributions.Dirichlet(t.tensor(1.0)),
    "an asymmetric covariance": lambda t: t.distributions.MultivariateNormal(
        t.zeros(2), t.tensor([[1.0, 0.5], [0.0, 1.0]])
    ),
    "an indefinite covariance": lambda t: t.distributions.MultivariateNormal(
        t.zeros(2), t.tensor([[1.0, 2.0], [2.0, 1.0]])
    ),
    "a full factor": lambda t: t.distributions.MultivariateNormal(t.zeros(2), scale_tril=t.ones(2, 2)),
    "two matrices": lambda t: t.distributions.MultivariateNormal(t.zeros(2), t.eye(2), t.eye(2)),
    "a vector for a matrix": lambda t: t.distributions.MultivariateNormal(t.zeros(2), t.ones(2)),
    "a number for a mean": lambda t: t.distributions.MultivariateNormal(t.tensor(0.0), t.eye(2)),
    "a long diagonal": lambda t: t.distributions.LowRankMultivariateNormal(t.zeros(2), t.ones(2, 1), t.ones(3)),
    "a wrong factor": lambda t: t.distributions.LowRankMultivariateNormal(t.zeros(2), t.ones(3, 1), t.ones(2)),
    "other batches": lambda t: t.distributions.LowRankMultivariateNormal(
        t.zeros(3, 2), t.ones(2, 2, 1), t.ones(2)
    ),
    "few degrees of freedom": lambda t: t.distributions.Wishart(t.tensor(0.5), t.eye(2)),
    "no matrix": lambda t: t.distributions.Wishart(t.tensor(3.0)),
    "one dimension": lambda t: t.distributions.LKJCholesky(1),
    "too many dimensions": lambda t: t.distributions.Independent(t.distributions.Normal(t.zeros(2), t.ones(2)), 2),
    "a mixture by normal numbers": lambda t: t.distributions.MixtureSameFamily(
        t.distributions.Normal(0.0, 1.0), t.distributions.Normal(t.zeros(2), t.ones(2))
    ),
    "a mixture of tensors": lambda t: t.distributions.MixtureSameFamily(
        t.distributions.Categorical(t.ones(2)), t.ones(2)
    ),
    "a mixture of three": lambda t: t.distributions.MixtureSameFamily(
        t.distributions.Categorical(t.ones(2)), t.distributions.Normal(t.zeros(3), t.ones(3))
    ),
    "a mixture of other batches": lambda t: t.distributions.MixtureSameFamily(
        t.distributions.Categorical(t.ones(3, 2)), t.distributions.Normal(t.zeros(4, 2), t.ones(4, 2))
    ),
    "no transform": lambda t: t.distributions.TransformedDistribution(t.distributions.Normal(0.0, 1.0), [abs]),
    "a tuple of transforms": lambda t: t.distributions.TransformedDistribution(t.distributions.Normal(0.0, 1.0), ()),
    "a base without dimensions": lambda t: t.distributions.TransformedDistribution(
        t.distributions.Normal(0.0, 1.0), t.distributions.StickBreakingTransform()
    ),
    "many counts": lambda t: t.distributions.Multinomial(t.tensor([1, 2]), t.ones(2)),
    "a value that is a number": lambda t: t.distributions.Normal(0.0, 1.0).log_prob(1.0),
    "a value outside": lambda t: t.distributions.Exponential(1.0).log_prob(t.tensor([1.0, -1.0])),
    "a value of nan": lambda t: t.distributions.Normal(0.0, 1.0).cdf(t.tensor(float("nan"))),
    "half a success": lambda t: t.distributions.Bernoulli(0.5).log_prob(t.tensor(0.5)),
    "a category too far": lambda t: t.distributions.Categorical(t.ones(3)).log_prob(t.tensor(3)),
    "a value of another event": lambda t: t.distributions.Dirichlet(t.ones(3)).log_prob(t.ones(2) / 2),
    "a value of another batch": lambda t: t.distributions.Normal(t.zeros(3), 1.0).log_prob(t.zeros(2)),
    "a default that is no bool": lambda t: t.distributions.Distribution.set_default_validate_args(2),
    "all values of a product": lambda t: t.distributions.Independent(
        t.distributions.Bernoulli(t.ones(2)), 1
    ).enumerate_support(),
    "all values of other counts": lambda t: t.distributions.Binomial(t.tensor([1, 2]), t.ones(2)).enumerate_support(),
    "the entropy of other counts": lambda t: t.distributions.Binomial(t.tensor([1, 2]), t.ones(2)).entropy(),
    "the quantiles of Poisson": lambda t: t.distributions.Poisson(1.0).icdf(t.tensor(0.5)),
    "the mode of a mixture": lambda t: made(t, next(row for row in ROWS if row.name == "MixtureSameFamily")).mode,
}  # fmt: skip
# What PyTorch says with other words: ours name what was given.
OTHER_WORDS = {
    *(
        "a parameter of text",
        "two matrices",
        "no matrix",
        "a vector for a matrix",
        "a value that is a number",
        "a long diagonal",
    ),
    *("a mixture of other batches", "a mixture of three", "a default that is no bool", "a base without dimensions"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_pytorch_refuses_is_refused_with_its_error(what: str) -> None:
    def refusal(library: Library) -> Any:
        with pytest.raises((ValueError, NotImplementedError, TypeError, AssertionError)) as error:
            REFUSED[what](library)
        words = str(error.value).replace("glasstorch.", "torch.")
        return [error.type.__name__, "" if what in OTHER_WORDS else words]

    ours, theirs = both(refusal)
    assert ours == theirs


def test_checks_can_be_switched_off_for_one_distribution_and_for_all(torch: Any) -> None:
    d = torch.distributions
    assert d.Normal(0.0, -1.0, validate_args=False).log_prob(torch.tensor(0.0)).isnan()
    assert d.Exponential(1.0, validate_args=False).log_prob(torch.tensor(-1.0)) == 1.0
    d.Distribution.set_default_validate_args(False)
    try:
        assert d.Normal(0.0, -1.0).loc == 0.0
        with pytest.raises(ValueError, match="Expected parameter scale"):
            d.Normal(0.0, -1.0, validate_args=True)
    finally:
        d.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="Expected parameter scale"):
        d.Normal(0.0, -1.0)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_distribution_is_pickled_and_copied(row: Row) -> None:
    d = made(glasstorch, row)
    before = repr(d)  # drawing computes `probs`
    for twin in (pickle.loads(pickle.dumps(d)), copy.deepcopy(d)):
        assert repr(twin) == before
        drawn = [x.sample((2,)).tolist() for x in (d, twin) if glasstorch.manual_seed(4)]
        assert drawn[0] == drawn[1]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_expanding_copies_no_parameter_and_changes_not_the_original(row: Row) -> None:
    d = made(glasstorch, row)
    before = {name: value for name, value in vars(d).items() if isinstance(value, glasstorch.Tensor)}
    shape = d.batch_shape
    new = d.expand((5, *shape))
    assert d.batch_shape == shape
    for name, value in before.items():
        assert vars(d)[name] is value
        if name in vars(new):
            assert vars(new)[name].data_ptr() == value.data_ptr()


def test_a_subclass_with_its_own_parameters_has_to_expand_itself(torch: Any) -> None:
    class Shifted(torch.distributions.Normal):  # type: ignore[misc, name-defined]
        def __init__(self, shift: float) -> None:
            super().__init__(torch.zeros(2) + shift, 1.0)

    words = "Subclass Shifted of Normal that defines a custom __init__ method must also define a custom .expand"
    with pytest.raises(NotImplementedError, match=words):
        Shifted(1.0).expand((3, 2))

    class Expandable(Shifted):
        def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
            new = self._get_checked_instance(Expandable, _instance)
            new.shift = 7
            return super().expand(batch_shape, _instance=new)

    new = Expandable(1.0).expand((3, 2))
    assert (type(new), new.shift, new.loc.shape) == (Expandable, 7, (3, 2))

    class Renamed(torch.distributions.Normal):  # type: ignore[misc, name-defined]
        pass

    assert repr(Renamed(0.0, 1.0).expand((2,))) == "Renamed(loc: torch.Size([2]), scale: torch.Size([2]))"


def test_a_class_that_says_little_warns_where_it_checks(torch: Any) -> None:
    class Bare(torch.distributions.Distribution):  # type: ignore[misc, name-defined]
        def log_prob(self, value: Any) -> Any:
            self._validate_sample(value)
            return value

    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        bare = Bare()
    with pytest.warns(UserWarning, match="does not define `support`"):
        bare.log_prob(torch.tensor(1.0))
    quiet = Bare(validate_args=False)
    for ask in ("mean", "mode", "variance", "support", "arg_constraints"):
        with pytest.raises(NotImplementedError):
            getattr(quiet, ask)
    for method, arguments in (("rsample", ()), ("cdf", (1,)), ("icdf", (1,)), ("entropy", ()), ("expand", ((2,),))):
        with pytest.raises(NotImplementedError):
            getattr(quiet, method)(*arguments)


def test_sample_n_warns_that_it_is_old(torch: Any) -> None:
    with pytest.warns(FutureWarning, match="sample_n"):
        assert torch.distributions.Normal(0.0, 1.0).sample_n(3).shape == (3,)


def test_draws_of_sample_carry_no_gradient_and_those_of_rsample_do(torch: Any) -> None:
    loc = torch.zeros(2, requires_grad=True)
    for d in (torch.distributions.Normal(loc, 1.0), torch.distributions.LogNormal(loc, 1.0)):
        assert not d.sample().requires_grad
        assert d.rsample().requires_grad


def test_parameters_follow_the_dtype_of_the_first_tensor(torch: Any) -> None:
    d = torch.distributions.Normal(1, torch.ones(2, dtype=torch.float64))
    assert (d.loc.dtype, d.loc.shape, d.sample().dtype) == (torch.float64, (2,), torch.float64)
    assert torch.distributions.Bernoulli(1).probs.dtype == torch.float32


@pytest.mark.parametrize("row", [row for row in ROWS if row.name.endswith("logits")], ids=lambda row: row.name)
def test_the_parameter_that_is_not_given_is_computed_with_its_gradient(row: Row) -> None:
    def computed(library: Library) -> Any:
        parameters = tensors(library, row, "float64", requires_grad=True)
        d = row.make(library, *parameters)
        with library.no_grad():
            probs = d.probs
        assert probs is d.probs or not hasattr(d, "_param")
        gradient = library.autograd.grad((probs * probs).sum(), parameters[-1])[0]
        return [probs, gradient, d.param_shape if hasattr(d, "param_shape") else None]

    ours, theirs = both(computed)
    if row.name == "Geometric of logits":  # ours knows its shape
        ours[2] = theirs[2]
    assert_alike(ours, theirs, 1e-12)
