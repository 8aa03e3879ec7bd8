"""Are the helpers found where PyTorch has them, and imported no earlier than they are used?"""

from __future__ import annotations

import subprocess
import sys

import pytest

LATE = ("collect_env", "data", "module_tracker")  # which PyTorch imports with the library
OWN = ("benchmark", "flop_counter", "tensorboard")  # which PyTorch asks an import of their own for


def printed(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_helpers_are_not_imported_with_the_library() -> None:
    program = f"import sys, glasstorch\nprint([n for n in {LATE + OWN} if 'glasstorch.utils.' + n in sys.modules])"
    assert printed(program) == "[]"


@pytest.mark.parametrize("name", LATE)
def test_a_helper_is_imported_on_first_access(name: str) -> None:
    assert printed(f"import glasstorch\nprint(glasstorch.utils.{name}.__name__)") == f"glasstorch.utils.{name}"


@pytest.mark.parametrize("name", OWN)
def test_a_helper_with_an_import_of_its_own_says_so(name: str) -> None:
    program = (
        f"import glasstorch\ntry:\n    glasstorch.utils.{name}\nexcept AttributeError as error:\n    print(error)\n"
    )
    assert printed(program).endswith(f"write `import torch.utils.{name}` first")


def test_an_unknown_helper_is_refused() -> None:
    import glasstorch

    with pytest.raises(AttributeError, match=r"torch\.utils\.dlpak is not in glasstorch"):
        _ = glasstorch.utils.dlpak
