"""Are the helpers found where PyTorch has them, and imported no earlier than they are used?"""

from __future__ import annotations

import subprocess
import sys

import pytest

LATE = ("benchmark", "flop_counter", "module_tracker", "tensorboard")


def printed(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_helpers_are_not_imported_with_the_library() -> None:
    program = f"import sys, glasstorch\nprint([n for n in {LATE} if 'glasstorch.utils.' + n in sys.modules])"
    assert printed(program) == "[]"


@pytest.mark.parametrize("name", LATE[:3])
def test_a_helper_is_imported_on_first_access(name: str) -> None:
    assert printed(f"import glasstorch\nprint(glasstorch.utils.{name}.__name__)") == f"glasstorch.utils.{name}"


def test_the_logs_are_imported_by_their_own_name_as_in_torch() -> None:
    program = (
        "import glasstorch\ntry:\n    glasstorch.utils.tensorboard\nexcept AttributeError as error:\n    print(error)\n"
    )
    assert printed(program).endswith("before `import torch.utils.tensorboard`")


def test_an_unknown_helper_is_refused() -> None:
    import glasstorch

    with pytest.raises(AttributeError, match=r"torch\.utils\.dlpak is not in glasstorch"):
        _ = glasstorch.utils.dlpak
