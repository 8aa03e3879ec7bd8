"""Are the parts of a new sparse tensor checked?

Mirrors: aten/src/ATen/Context.h (checkSparseTensorInvariants), Context.cpp
"""

from __future__ import annotations

from typing import Final

from glasstorch.core.warn_once import warn_once


class Setting:
    """Whether they are; None until a program says."""

    checked: bool | None = None


setting: Final = Setting()


def are_checked() -> bool:
    """Whether they are; where no program has said, they are not."""
    return bool(setting.checked)


def warn_if_unsaid() -> None:
    """A warning, once, that nothing is checked because no program has said: what Python's constructors give."""
    if setting.checked is None:
        warn_once(
            "Sparse invariant checks are implicitly disabled. Memory errors (e.g. SEGFAULT) will occur when operating "
            "on a sparse tensor which violates the invariants, but checks incur performance overhead. To silence this "
            "warning, explicitly opt in or out. See `torch.sparse.check_sparse_tensor_invariants.__doc__` for guidance."
        )
