"""Does rearrange put each element where the pattern says, and refuse what does not fit?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import glasstorch

# pattern, lengths -> the same with NumPy, for an array (2, 3, 4)
PATTERNS: list[tuple[str, dict[str, int], Any]] = [
    ("a b c -> c a b", {}, lambda x: x.transpose(2, 0, 1)),
    ("a b c -> (c a) b", {}, lambda x: x.transpose(2, 0, 1).reshape(8, 3)),
    ("a b (c d) -> d (a b) c", {"c": 2}, lambda x: x.reshape(2, 3, 2, 2).transpose(3, 0, 1, 2).reshape(2, 6, 2)),
    ("a b (c d) -> a b d c", {"c": 1, "d": 4}, lambda x: x.reshape(2, 3, 4, 1)),
    ("... c -> c ...", {}, lambda x: x.transpose(2, 0, 1)),
    ("a ... -> (... a)", {}, lambda x: x.transpose(1, 2, 0).reshape(24)),
    ("a b c ... -> ... (c b) a", {}, lambda x: x.transpose(2, 1, 0).reshape(12, 2)),
    ("a b c -> a 1 (b 1) c ()", {}, lambda x: x[:, None, :, :, None]),
]


@pytest.mark.parametrize(("pattern", "lengths", "expected"), PATTERNS, ids=[pattern for pattern, *_ in PATTERNS])
def test_a_pattern_moves_the_elements(torch: Any, pattern: str, lengths: dict[str, int], expected: Any) -> None:
    x = torch.arange(24).view(2, 3, 4)
    y = torch.func.rearrange(x, pattern, **lengths)
    wanted = expected(np.arange(24).reshape(2, 3, 4))
    assert (tuple(y.shape), y.tolist()) == (wanted.shape, wanted.tolist())


def test_a_permutation_is_a_view_and_a_merge_of_distant_dimensions_is_none(torch: Any) -> None:
    x = torch.arange(24).view(2, 3, 4)
    permuted, merged = torch.func.rearrange(x, "a b c -> c a b"), torch.func.rearrange(x, "a b c -> (c a) b")
    assert (permuted.data_ptr() == x.data_ptr(), merged.data_ptr() == x.data_ptr()) == (True, False)
    assert permuted.stride() == (1, 12, 4)


def test_several_tensors_are_stacked_and_a_dimension_of_one_goes(torch: Any) -> None:
    x = torch.ones(1, 3)
    assert torch.func.rearrange([x, x], "k 1 a -> (k a)").shape == (6,)
    assert torch.func.rearrange(torch.tensor(2.0), "->").item() == 2


def test_gradients_pass_through(torch: Any) -> None:
    x = torch.ones(4, 1, requires_grad=True)
    (torch.func.rearrange(x, "(a b) c -> c b a", a=2).reshape(-1) * torch.arange(4.0)).sum().backward()
    assert x.grad.tolist() == [[0], [2], [1], [3]]


def test_one_dimension_is_split_and_batches_pass_through() -> None:
    # PyTorch 2.13 refuses both: it takes one group of two names for two indices
    def turned(row: Any) -> Any:
        return glasstorch.func.rearrange(row, "(a b) -> b a", a=2)

    x = glasstorch.arange(8).view(2, 4)
    assert glasstorch.func.vmap(turned)(x).tolist() == [[[0, 2], [1, 3]], [[4, 6], [5, 7]]]


REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    ("a b c", {}, "ValueError", "Pattern must contain a single '->' separator"),
    ("a b b -> a b", {}, "ValueError", "Indexing expression contains duplicate dimension 'b'"),
    ("a b _c -> a b _c", {}, "ValueError", "axis name should should not start or end with underscore"),
    ("a b 3c -> a b", {}, "ValueError", "Invalid axis identifier: 3c\nnot a valid python identifier"),
    ("a b (c (d)) -> a", {}, "ValueError", "brackets inside brackets not allowed"),
    ("a b c) -> a b c", {}, "ValueError", "Brackets are not balanced"),
    ("(a b c -> a b c", {}, "ValueError", "Imbalanced parentheses in expression: '(a b c '"),
    ("a b.c -> a b c", {}, "ValueError", "Expression may contain dots only inside ellipsis (...)"),
    ("... a ... -> ...", {}, "ValueError", "only one ellipsis for tensor "),
    ("a b c -> ... a b c", {}, "ValueError", "Ellipsis found in right side, but not left side of a pattern"),
    ("(...) c -> ...", {}, "ValueError", "Ellipsis is parenthesis in the left side is not allowed: (...) c -> ..."),
    ("a b c? -> a", {}, "ValueError", "Unknown character '?'"),
    ("2 b c -> b c", {}, "ValueError", "rearrange only supports unnamed axes of size 1"),
    ("0 b c -> b c", {}, "ValueError", "Anonymous axis should have positive length, not 0"),
    (
        "a b c -> a b",
        {},
        "ValueError",
        "Identifiers only on one side of rearrange expression (should be on both): {'c'}",
    ),
    ("a b c -> c b a", {"z": 2}, "ValueError", "Identifiers not found in rearrange expression: {'z'}"),
    ("a b c -> c b a", {"c": True}, "TypeError", "rearrange axis lengths must be integers, got: <class 'bool'>"),
    ("a b c -> c b a", {"\u2026": 1}, "ValueError", "'\u2026' is not an allowed axis identifier"),
    ("a b -> a b", {}, "ValueError", "(2) must be equal to the number of dimensions in the tensor (3)"),
    ("a b c d ... -> a b c d ...", {}, "ValueError", "(4) must be less than or equal to the number of dimensions in"),
    ("a b (c d) -> a b c d", {}, "DimensionBindError", "cannot infer the sizes of two dimensions at once d2 and d3"),
    (
        "a b (c d) -> a b c d",
        {"c": 3},
        "DimensionBindError",
        "does not evenly fit into larger dimension: 4 vs (3, '?')",
    ),
    ("a b (c d) -> a b c d", {"c": 3, "d": 2}, "DimensionBindError", "(4 != 6) when matching dimension pack (d2, d3)"),
    ("a b c -> a b c", {"c": 5}, "DimensionBindError", "(4 != 5) when matching dimension pack (d2,)"),
]


@pytest.mark.parametrize(("pattern", "lengths", "kind", "message"), REFUSED, ids=[f"{p} {n}" for p, n, *_ in REFUSED])
def test_a_pattern_that_does_not_fit_is_refused(
    torch: Any, pattern: str, lengths: dict[str, Any], kind: str, message: str
) -> None:
    with pytest.raises(Exception) as refusal:
        torch.func.rearrange(torch.ones(2, 3, 4), pattern, **lengths)
    assert type(refusal.value).__name__ == kind
    assert message in str(refusal.value)


def test_words_of_the_language_are_discouraged_as_names(torch: Any) -> None:
    with pytest.warns(RuntimeWarning, match="discouraged to use axes names that are keywords: if"):
        torch.func.rearrange(torch.ones(2, 3), "a if -> if a")
    with pytest.warns(FutureWarning, match="discouraged to use 'axis' as an axis name"):
        torch.func.rearrange(torch.ones(2, 3), "a axis -> axis a")
