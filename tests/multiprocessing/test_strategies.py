"""Which strategies for sharing does the module offer?"""

from __future__ import annotations

import pytest

import glasstorch
from glasstorch import multiprocessing as mp


def test_there_is_one_strategy() -> None:
    assert glasstorch.multiprocessing is mp
    assert mp.get_sharing_strategy() in mp.get_all_sharing_strategies()
    mp.set_sharing_strategy("file_descriptor")
    with pytest.raises(ValueError, match="invalid sharing strategy 'file_system', expected one of"):
        mp.set_sharing_strategy("file_system")
    assert set(mp.__all__) >= {"Queue", "Process", "get_context"}
