"""Is the library for products of matrices chosen where torch's programs choose it?"""

from __future__ import annotations

from typing import Any

import pytest


def test_what_is_preferred_unless_asked(torch: Any) -> None:
    preferred = torch.backends.cuda.preferred_blas_library
    assert preferred().name == preferred("default").name == "Default"
    assert preferred(preferred()) == preferred()
    with pytest.raises(RuntimeError, match="Unknown input value. Choose from: default, cublas"):
        preferred("none")
    with pytest.raises(RuntimeError, match="Unknown input value type"):
        preferred(3)
