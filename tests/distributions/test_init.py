"""Does the package offer PyTorch's names, at PyTorch's paths?"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

import glasstorch
from tests.core.random.torch_numbers import torch_module


def test_the_public_names_are_pytorchs() -> None:
    theirs = torch_module().distributions
    assert sorted(glasstorch.distributions.__all__) == sorted(theirs.__all__)
    assert len(glasstorch.distributions.__all__) == 67
    for name in theirs.__all__:
        assert hasattr(glasstorch.distributions, name)


def test_every_module_of_pytorch_is_here_with_its_public_names() -> None:
    theirs = torch_module().distributions
    names = [path.stem for path in Path(theirs.__file__).parent.glob("*.py") if path.stem != "__init__"]
    assert len(names) > 40
    for name in names:
        module = import_module(f"torch.distributions.{name}")
        ours = import_module(f"glasstorch.distributions.{name}")
        assert set(module.__all__) <= set(vars(ours)), name


def test_the_package_is_imported_where_it_is_asked_for() -> None:
    assert glasstorch.distributions is import_module("glasstorch.distributions")
    assert glasstorch.distributions.kl.kl_divergence is glasstorch.distributions.kl_divergence


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("utils", "_standard_normal"), ("utils", "_sum_rightmost"), ("multivariate_normal", "_batch_mahalanobis"),
        ("multivariate_normal", "_batch_mv"), ("multivariate_normal", "_precision_to_scale_tril"),
    ],
)  # fmt: skip
def test_private_names_that_other_packages_import_are_there(module: str, name: str) -> None:
    for library in (glasstorch, torch_module()):
        assert callable(getattr(import_module(f"{library.__name__}.distributions.{module}"), name))


def test_a_name_that_is_not_there_is_answered_with_the_nearest() -> None:
    with pytest.raises(AttributeError, match="the nearest name is 'Bernoulli'"):
        glasstorch.distributions.Bernouli  # noqa: B018
