"""Does the core say who is missing when nobody above it answers?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from glasstorch.core import hooks
from glasstorch.core.errors import AutogradError

REFERENCE = Path(hooks.__file__).parents[2]


@pytest.mark.parametrize(
    ("question", "missing"),
    [("variable_hooks.grad_fn", "glasstorch.autograd"), ("tensor_hooks.wrapped_number", "glasstorch._tensor")],
)
def test_a_question_to_a_layer_that_is_not_loaded_says_which(question: str, missing: str) -> None:
    name = question.partition(".")[2]
    code = (
        "import sys; sys.orig_argv[1:3] = ['-m', 'glasstorch.operators.gen']\n"  # the package without its layers
        f"from glasstorch.core import hooks\nhooks.{question}"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REFERENCE, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert f"RuntimeError: {name}: {missing} is not loaded; `import glasstorch` loads it" in done.stderr


def test_a_tensor_is_printed_where_autograd_is_not_loaded() -> None:
    code = (
        "import sys, types\n"
        "package = sys.modules['glasstorch'] = types.ModuleType('glasstorch')\n"
        "package.__path__ = ['glasstorch']\n"
        "from glasstorch.operators.generated import functions\n"
        "from glasstorch.dispatch.fallback import register_fallbacks\n"
        "from glasstorch.kernels import register_kernels\n"
        "register_fallbacks()\n"
        "register_kernels()\n"
        "print(functions.ones([2]))\n"
        "assert 'glasstorch.autograd' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REFERENCE, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.stdout == "tensor([1., 1.])\n", done.stderr


def test_the_layers_above_have_answered() -> None:
    import glasstorch

    t = glasstorch.ones(1)
    assert hooks.variable_hooks.grad_fn(t) is None
    assert hooks.variable_hooks.is_leaf(t)
    assert hooks.tensor_hooks.wrapped_number(3).item() == 3
    with pytest.raises(AutogradError):
        hooks.variable_hooks.retain_grad(t)
