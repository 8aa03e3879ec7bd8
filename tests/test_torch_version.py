"""Does a version compare as PyTorch's does?"""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import glasstorch
from glasstorch.torch_version import TorchVersion, version_key

# In ascending order; those of one row are equal.
ORDER = [
    ("1.9",),
    ("2.dev0", "2.0.dev0"),
    ("2.0a1", "2.0alpha1", "2.0-a.1"),
    ("2.0b2.dev1",),
    ("2.0b2", "2.0beta2"),
    ("2.0rc1", "2.0c1", "2.0-pre1"),
    ("2", "2.0", "2.0.0", "v2.0", " 2.0 "),
    ("2.0+cpu", "2.0+CPU"),
    ("2.0+cu118",),
    ("2.0+cu118.1",),
    ("2.0+1",),
    ("2.0.post1.dev3",),
    ("2.0.post1", "2.0-1", "2.0r1"),
    ("2.9",),
    ("2.13.0",),
    ("1!0.1",),
]
FLAT = [(text, place) for place, row in enumerate(ORDER) for text in row]


def test_versions_are_ordered_as_the_standard_orders_them() -> None:
    for one, place in FLAT:
        for other, there in FLAT:
            version = TorchVersion(one)
            assert (version < other, version == other, version > other) == (
                place < there,
                place == there,
                place > there,
            )
            assert (version <= other, version >= other) == (place <= there, place >= there)


def test_the_order_is_that_of_packaging(require: Any) -> None:
    packaging = require("packaging.version")
    for one, _ in FLAT:
        for other, _ in FLAT:
            expected = packaging.Version(one) < packaging.Version(other)
            assert (TorchVersion(one) < other) is expected
            assert (TorchVersion(one) < packaging.Version(other)) is expected


@pytest.mark.parametrize("text", ["parrot", "", "2.", "2..0", "2.0+", "2.0+a..b", "2.0 1"])
def test_what_is_no_version_is_compared_as_a_text(text: str, require: Any) -> None:
    torch_version = require("torch.torch_version").TorchVersion
    assert version_key(text) is None
    for other in ("1.0", "parrot", "zebra"):
        for name in ("__lt__", "__le__", "__eq__", "__ge__", "__gt__", "__ne__"):
            assert getattr(TorchVersion(text), name)(other) == getattr(torch_version(text), name)(other)


def test_the_version_of_the_library_answers_what_programs_ask(torch: Any) -> None:
    version = torch.__version__
    assert version >= "2.0"
    assert version > "2.9.1"  # as a text it would come before
    assert version >= (1, 13)
    assert version > (2, 0)
    assert not version < "1.8.0"
    assert tuple(int(number) for number in version.split("+")[0].split(".")[:2]) == (2, 13)
    assert isinstance(version, str)
    assert type(version).__name__ == "TorchVersion"
    assert version == torch.version.__version__
    assert {version: 1}[str(version)] == 1
    assert (torch.version.cuda, torch.version.hip, torch.version.debug) == (None, None, False)
    assert isinstance(torch.version.git_version, str)


def test_it_is_pickled_and_copied_as_what_it_is() -> None:
    copied = pickle.loads(pickle.dumps(glasstorch.__version__))
    assert type(copied) is TorchVersion
    assert copied == glasstorch.__version__
