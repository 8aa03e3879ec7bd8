"""Are names in plain text recognised as code, and words left alone?"""

from __future__ import annotations

import pytest

from workbook.book.prose import with_code


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("torch.add goes on", "`torch.add` goes on"),
        ("x.backward() runs", "`x.backward()` runs"),
        ("at::Tensor has grad_fn", "`at::Tensor` has `grad_fn`"),
        ("see torch/csrc/utils.h.", "see `torch/csrc/utils.h`."),
        ("`grad_fn` and __add__", "`grad_fn` and `__add__`"),
        ("_dispatch_* helpers", "`_dispatch_*` helpers"),
    ],
)
def test_names_become_code(text: str, marked: str) -> None:
    assert with_code(text) == marked


@pytest.mark.parametrize(
    "text",
    ["in 2.13 and 2.x", "e.g. this", "read/write", "a well-known rule", "`torch.add` and `x.y`", "see pytorch.org"],
)
def test_words_stay_words(text: str) -> None:
    assert with_code(text) == text
