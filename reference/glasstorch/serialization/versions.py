"""Is the module that is to pickle new enough?

Mirrors: torch/serialization.py (check_module_version_greater_or_equal, _check_dill_version)
"""

from __future__ import annotations

from typing import Any

from glasstorch.core.errors import ArgumentError, ArgumentValueError
from glasstorch.core.user_line import warn_user

DILL = (0, 3, 1)


def check_module_version_greater_or_equal(
    module: Any, req_version_tuple: tuple[Any, ...], error_if_malformed: bool = True
) -> bool:
    """Whether a module's version is at least the given one.

    A version that cannot be compared is an error, or else a warning, and counts as new enough.
    """
    parts = str(getattr(module, "__version__", "")).split(".")
    try:
        version = tuple(type(wanted)(part) for wanted, part in zip(req_version_tuple, parts, strict=False))
        if len(version) < len(req_version_tuple):
            raise ValueError("it has too few parts")
    except ValueError as error:
        message = (
            f"'{module.__name__}' module version string is malformed '{getattr(module, '__version__', None)}' and "
            f"cannot be compared with tuple {req_version_tuple}"
        )
        if error_if_malformed:
            raise ArgumentError(message) from error
        warn_user(message + ", but continuing assuming that requirement is met")
        return True
    return version >= req_version_tuple


def check_dill(module: Any) -> None:
    """Refuse a version of dill that cannot pickle with persistent ids."""
    if getattr(module, "__name__", None) == "dill" and not check_module_version_greater_or_equal(module, DILL, False):
        raise ArgumentValueError(
            f"'torch' supports dill >= {'.'.join(map(str, DILL))}, but you have dill {module.__version__}. Please "
            f"upgrade dill or switch to 'pickle'"
        )
