"""Does the package offer PyTorch's names, at PyTorch's paths?"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

import glasstorch


def test_the_public_names_are_pytorchs() -> None:
    theirs = pytest.importorskip("torch.distributions")
    assert sorted(glasstorch.distributions.__all__) == sorted(theirs.__all__)
    assert len(glasstorch.distributions.__all__) == 67
    for name in theirs.__all__:
        assert hasattr(glasstorch.distributions, name)


def test_every_module_of_pytorch_is_here_with_its_public_names() -> None:
    theirs = pytest.importorskip("torch.distributions")
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
    pytest.importorskip("torch.distributions")
    for library in ("glasstorch", "torch"):
        assert callable(getattr(import_module(f"{library}.distributions.{module}"), name))
