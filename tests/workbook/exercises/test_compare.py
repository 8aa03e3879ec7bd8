"""Is what differs from our solution said shortly, and rightly?"""

from __future__ import annotations

from workbook.exercises.catalogue import Piece
from workbook.exercises.compare import compare, without_header

PIECES = [Piece("function", "module:double", "double")]
OURS = 'def double(x):\n    """Twice."""\n    return 2 * x\n'


def test_comments_layout_and_other_names_do_not_count() -> None:
    yours = 'import os\n\ndef helper(): ...\n\ndef double( x ):\n    # twice\n    "mine"\n    return (2*x)\n'
    assert compare(yours, OURS, PIECES) == "Yours is the same, apart from comments and layout."


def test_a_small_difference_is_shown() -> None:
    yours = "def double(x):\n    y = x + x\n    return y\n"
    assert compare(yours, OURS, PIECES) == (
        "Yours has 3 lines without comments, ours 2. From yours (-) to ours (+):\n\n"
        "```\n def double(x):\n-    y = x + x\n-    return y\n+    return 2 * x\n```"
    )


def test_a_large_difference_is_not() -> None:
    yours = "def double(x):\n" + "".join(f"    y{i} = x\n" for i in range(40)) + "    return y\n"
    assert compare(yours, OURS, PIECES) == (
        "Yours has 42 lines without comments, ours 2. They differ too much to compare line by line."
    )


def test_a_class_is_compared_with_what_is_in_it() -> None:
    pieces = [Piece("kernel", "aten::tanh", "Node", "Autograd")]
    ours = 'class Node:\n    """A node."""\n\n    def apply(self):\n        """Go."""\n'
    assert compare("class Node:\n    def apply(self):\n        pass\n", ours, pieces).startswith("Yours is the same")


def test_what_cannot_be_compared_is_said() -> None:
    assert compare("def double(", OURS, PIECES) == "Yours cannot be compared with it: it is not Python yet."
    assert compare("\0", OURS, PIECES) == "Yours cannot be compared with it: it is not Python yet."
    assert compare("x = 1\n", OURS, PIECES) == "Yours has no `double` to compare with it."


def test_the_header_for_notebooks_is_left_out() -> None:
    assert without_header("# ---\n# jupytext:\n#   a: b\n# ---\n\n# %%\nx = 1\n") == "# %%\nx = 1\n"
    assert without_header("# ---\nx = 1\n") == "# ---\nx = 1\n"
