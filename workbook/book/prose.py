"""Which words of a plain text are code?"""

from __future__ import annotations

import re

# Dotted or scoped names, names with an underscore, calls without arguments, paths with a file's ending.
NAME = re.compile(
    r"""(?<![\w./:`-])(?:
        [\w*]+(?:/[\w*]+)+\.\w+                    # torch/csrc/utils.h
      | [A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_*]\w*)+(?:\(\))?  # torch.add, at::Tensor
      | \w*_\w[\w*]*(?:\(\))?                      # grad_fn, __add__
      | [A-Za-z]\w*\(\)                            # backward()
    )(?![\w`])""",
    re.VERBOSE,
)
WORDS = frozenset({"e.g", "i.e", "docs.pytorch.org", "pytorch.org", "docs.jax.dev"})


def with_code(text: str) -> str:
    """The text with its names in backticks, except those that already are.

    >>> with_code("torch.add calls `at::add` and sets grad_fn, see version 2.13.")
    '`torch.add` calls `at::add` and sets `grad_fn`, see version 2.13.'
    """
    pieces = text.split("`")
    pieces[::2] = [
        NAME.sub(lambda name: name[0] if name[0] in WORDS else f"`{name[0]}`", piece) for piece in pieces[::2]
    ]
    return "`".join(pieces)
