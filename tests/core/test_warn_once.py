"""Is a warning given once, and only once?"""

from __future__ import annotations

import warnings

import pytest

from glasstorch.core.warn_once import warn_once


def test_the_second_warning_of_the_same_words_is_silent() -> None:
    with pytest.warns(UserWarning, match="said by a test"):
        warn_once("said by a test")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_once("said by a test")
    with pytest.warns(UserWarning, match="something else"):
        warn_once("something else, said by a test")
