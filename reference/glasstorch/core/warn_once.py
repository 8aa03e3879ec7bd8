"""How is a warning issued only once?

Mirrors: TORCH_WARN_ONCE in c10/util/Exception.h
Differs: a message is remembered, not the place in the source that gives it.
"""

from __future__ import annotations

from typing import Final

from glasstorch.core.user_line import warn_user

_given: Final[set[str]] = set()


class Always:
    """Whether every call warns, as `set_warn_always` says."""

    on = False


always: Final = Always()


def warn_once(message: str, about: str | None = None) -> None:
    """Issue a UserWarning at the first call with this message in a process; later calls are silent.

    Messages that are about the same count as one.
    """
    if always.on or (about or message) not in _given:
        _given.add(about or message)
        warn_user(message)
