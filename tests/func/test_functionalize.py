"""Is functionalize refused by name?"""

from __future__ import annotations

import pytest

from glasstorch.func import functionalize


def test_it_says_what_is_missing() -> None:
    with pytest.raises(NotImplementedError, match=r"func\.functionalize is not in glasstorch yet"):
        functionalize(lambda x: x)


def test_an_option_that_is_none_is_refused_first() -> None:
    with pytest.raises(RuntimeError, match="received invalid argument for remove=views"):
        functionalize(lambda x: x, remove="views")
