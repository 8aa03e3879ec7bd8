"""Which strategies for sharing can a program choose?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import glasstorch
from glasstorch import multiprocessing as mp


def test_the_strategies_are_pytorchs_on_linux(torch: Any) -> None:
    theirs = import_module(f"{torch.__name__}.multiprocessing")
    assert theirs.get_all_sharing_strategies() == {"file_descriptor", "file_system"}
    assert theirs.get_sharing_strategy() == "file_descriptor"
    try:
        for chosen in ("file_system", "file_descriptor"):
            assert theirs.set_sharing_strategy(chosen) is None
            assert theirs.get_sharing_strategy() == chosen
    finally:
        theirs.set_sharing_strategy("file_descriptor")
    with pytest.raises(AssertionError, match="invalid sharing strategy 'files', expected one of"):
        theirs.set_sharing_strategy("files")
    assert theirs.get_sharing_strategy() == "file_descriptor"


def test_tensors_are_shared_by_descriptors_whichever_is_set() -> None:
    try:
        mp.set_sharing_strategy("file_system")
        shared = glasstorch.ones(2).share_memory_().untyped_storage().shared
        assert shared is not None
        assert shared.descriptor > 0
    finally:
        mp.set_sharing_strategy("file_descriptor")


def test_the_module_offers_what_pythons_does() -> None:
    assert glasstorch.multiprocessing is mp
    assert set(mp.__all__) >= {"Queue", "Process", "get_context"}
