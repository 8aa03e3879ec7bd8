"""Does a warning say once that nothing is checked?"""

from __future__ import annotations

import warnings

import pytest

import glasstorch as torch
from glasstorch.core import sparse_invariants, warn_once


@pytest.fixture(autouse=True)
def _nothing_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_invariants.setting, "checked", None)
    monkeypatch.setattr(warn_once, "_given", set())


def test_a_warning_comes_once_until_a_program_says(recwarn: pytest.WarningsRecorder) -> None:
    with pytest.warns(UserWarning, match="Sparse invariant checks are implicitly disabled"):
        sparse_invariants.warn_if_unsaid()
    assert not sparse_invariants.are_checked()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sparse_invariants.warn_if_unsaid()


def test_an_operator_does_not_warn() -> None:
    table = torch.nn.Embedding(6, 2, sparse=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table(torch.tensor([4, 1, 4])).sum().backward()
        torch.ones(2, 2).to_sparse()


@pytest.mark.parametrize("said", [True, False])
def test_a_program_that_has_said_is_not_warned(said: bool) -> None:
    sparse_invariants.setting.checked = said
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sparse_invariants.warn_if_unsaid()
    assert sparse_invariants.are_checked() is said
