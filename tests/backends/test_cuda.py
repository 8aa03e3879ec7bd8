"""Is the library for products of matrices chosen where torch's programs choose it?"""

from __future__ import annotations

from typing import Any

import pytest


def test_a_library_is_preferred_by_name_or_by_what_was_answered(torch: Any) -> None:
    preferred = torch.backends.cuda.preferred_blas_library
    before = preferred()
    assert preferred("cublas").name == preferred().name == preferred("default").name == "Cublas"
    assert preferred(before) == preferred() == before
    with pytest.raises(RuntimeError, match=r"Unknown input value\. Choose from: default, cublas"):
        preferred("none")
    with pytest.raises(RuntimeError, match="Unknown input value type"):
        preferred(3)
