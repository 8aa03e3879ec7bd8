"""Are versions compared as torch compares them?"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("version", "wanted", "enough"),
    [("1.2.3", (1, 2, 3), True), ("1.2.3", (1, 3), False), ("2.0", (1, 9), True), ("0.3.1.dev0", (0, 3, 1), True)],
)
def test_a_version_is_enough_or_not(torch: Any, version: str, wanted: tuple[int, ...], enough: bool) -> None:
    module = SimpleNamespace(__name__="module", __version__=version)
    assert torch.serialization.check_module_version_greater_or_equal(module, wanted) is enough


@pytest.mark.parametrize("version", ["", "a.b.c", "1.2"])
def test_a_malformed_version_is_an_error_or_a_warning(torch: Any, version: str) -> None:
    module = SimpleNamespace(__name__="module", __version__=version)
    check = torch.serialization.check_module_version_greater_or_equal
    with pytest.raises(RuntimeError, match="'module' module version string is malformed"):
        check(module, (1, 2, 3))
    with pytest.warns(UserWarning, match="but continuing assuming that requirement is met"):
        assert check(module, (1, 2, 3), error_if_malformed=False) is True


def test_an_old_dill_is_refused(torch: Any) -> None:
    dill = SimpleNamespace(__name__="dill", __version__="0.3.0")
    with pytest.raises(ValueError, match=r"'torch' supports dill >= 0\.3\.1, but you have dill 0\.3\.0"):
        torch.save(1, "nowhere", pickle_module=dill)
