"""What is a test whose functions are compiled afresh?

Mirrors: torch/_dynamo/test_case.py
Differs: `assertEqual` compares tensors by torch.testing.assert_close; the rest is that of `unittest`.
"""

from __future__ import annotations

import unittest
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import is_grad_enabled, set_grad_enabled
from glasstorch.compiler.captured import reset
from glasstorch.compiler.counters import counters
from glasstorch.compiler.settings import settings
from glasstorch.fx._names import at


def run_tests(needs: str | tuple[str, ...] = ()) -> None:
    """Run the tests of the main module, if there is what they need."""
    for need in (needs,) if isinstance(needs, str) else needs:
        if need == "cuda" and not at("cuda").is_available():
            return
    unittest.main()


class TestCase(unittest.TestCase):
    """Before and after each test nothing is compiled, nothing is counted, and errors of backends are raised."""

    def setUp(self) -> None:
        self._prior_is_grad_enabled = is_grad_enabled()
        patch = settings.patch(suppress_errors=False)
        patch.__enter__()
        self.addCleanup(patch.__exit__)
        super().setUp()
        reset()
        counters.clear()

    def tearDown(self) -> None:
        reset()
        counters.clear()
        super().tearDown()
        set_grad_enabled(self._prior_is_grad_enabled)

    def assertEqual(self, first: Any, second: Any, msg: Any = None, **tolerances: Any) -> None:
        """Compare two values, tensors by their elements."""
        if isinstance(first, Tensor) or isinstance(second, Tensor):
            at("testing").assert_close(first, second, msg=msg, equal_nan=True, **tolerances)
        else:
            super().assertEqual(first, second, msg)  # noqa: PT009
