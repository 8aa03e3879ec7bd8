"""How is a version compared with a text or with numbers?

Mirrors: torch/torch_version.py
Differs: the rules of version numbers (PEP 440) are here, for PyTorch's vendored copy of `packaging`: epochs, releases,
    previews, later and development versions, local parts.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from typing import Any

from glasstorch.version import __version__ as internal_version

__all__ = ["TorchVersion"]

VERSION = re.compile(
    r"""\s*v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)
    (?:[-_.]?(?P<stage>alpha|beta|preview|pre|a|b|c|rc)[-_.]?(?P<preview>\d*))?
    (?:-(?P<bare>\d+)|[-_.]?(?P<later>post|rev|r)[-_.]?(?P<post>\d*))?
    (?:[-_.]?(?P<unfinished>dev)[-_.]?(?P<dev>\d*))?
    (?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*""",
    re.VERBOSE | re.IGNORECASE,
)
STAGES = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
FIRST, LAST = -1, float("inf")  # before and after every number
Key = tuple[Any, ...]


class TorchVersion(str):
    """A text that compares as a version does, with other texts, with tuples of numbers and with `packaging`'s versions.

    What is no version is compared as a text.

    >>> TorchVersion("2.13.0") > "2.9", TorchVersion("2.13.0") >= (2, 13)
    (True, True)
    """

    __slots__ = ()

    def __lt__(self, other: Any) -> bool:
        return self._compared(operator.lt, str.__lt__, other)

    def __le__(self, other: Any) -> bool:
        return self._compared(operator.le, str.__le__, other)

    def __eq__(self, other: object) -> bool:
        return self._compared(operator.eq, str.__eq__, other)

    def __ge__(self, other: Any) -> bool:
        return self._compared(operator.ge, str.__ge__, other)

    def __gt__(self, other: Any) -> bool:
        return self._compared(operator.gt, str.__gt__, other)

    __hash__ = str.__hash__

    def _compared(self, versions: Callable[[Key, Key], bool], texts: Callable[[str, Any], bool], other: object) -> bool:
        mine, theirs = version_key(self), version_key(_text_of(other))
        return texts(self, other) if mine is None or theirs is None else versions(mine, theirs)


def _text_of(other: object) -> str:
    """A version as a text: `packaging`'s print themselves, and numbers are joined by points."""
    if isinstance(other, Iterable) and not isinstance(other, str):
        return ".".join(map(str, other))
    return str(other)


def version_key(text: str) -> Key | None:
    """What a version is ordered by; None for a text that is no version.

    Of one release, development versions come first, then previews, the release, its local versions, and later ones.

    >>> version_key("2.0rc1") < version_key("2.0.0") < version_key("2.0+cpu") < version_key("2.0.post1")
    True
    """
    match = VERSION.fullmatch(text)
    if match is None:
        return None
    release = [int(number) for number in match["release"].split(".")]
    while len(release) > 1 and not release[-1]:
        release.pop()
    stage = (match["stage"] or "").lower()
    post = match["bare"] or match["post"] or 0 if match["bare"] or match["later"] else FIRST
    dev = match["dev"] or 0 if match["unfinished"] else LAST
    preview: Key = (STAGES.get(stage, stage), int(match["preview"] or 0)) if stage else ("z",)
    if not stage and post == FIRST and dev != LAST:
        preview = ("",)  # a development version of the release itself comes before its previews
    return int(match["epoch"] or 0), release, preview, float(post), float(dev), _local_key(match["local"])


def _local_key(local: str | None) -> Key:
    """Numbers come after words, and nothing before both."""
    parts = re.split(r"[-_.]", local.lower()) if local else []
    return tuple((1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts)


__version__ = TorchVersion(internal_version)
