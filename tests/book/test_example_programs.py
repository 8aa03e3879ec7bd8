"""Does a cell get a program of `examples/` with glasstorch as its torch, and change nothing else?"""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

import glasstorch
from workbook.book.cells import example
from workbook.book.errors import BookError
from workbook.book.example_programs import glasstorch_as_torch


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """Modules that were imported before, under the names that a program uses."""
    before = {name: ModuleType(name) for name in ("torch", "torch.nn", "char_gpt", "runs")}
    for name, module in before.items():
        monkeypatch.setitem(sys.modules, name, module)
    return before


def test_a_programs_torch_is_glasstorch() -> None:
    program = example("digits_vae")
    assert program.torch.Tensor is glasstorch.Tensor
    assert program.nn.Linear is glasstorch.nn.Linear
    assert issubclass(program.Autoencoder, glasstorch.nn.Module)
    assert program.kl_divergence is glasstorch.distributions.kl_divergence


def test_a_program_that_installs_glasstorch_as_torch_does_so_for_itself_only() -> None:
    program = """
import sys
from workbook.book.cells import example

finders = list(sys.meta_path)
device = example("outside_device")
print(device.torch.ones(2, device="attic") + 1)
assert sys.meta_path == finders
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "tensor([2., 2.], device='attic:0')\n"


def test_modules_of_the_same_names_stay_as_they_were(loaded: dict[str, ModuleType]) -> None:
    finders = list(sys.meta_path)
    program = example("char_gpt")
    assert program is not loaded["char_gpt"]
    assert {name: sys.modules[name] for name in loaded} == loaded
    assert "line_plot" not in sys.modules
    assert sys.meta_path == finders


def test_glasstorch_keeps_its_own_names() -> None:
    example("char_gpt")
    assert (glasstorch.nn.__name__, glasstorch.nn.__spec__.name) == ("glasstorch.nn", "glasstorch.nn")
    assert glasstorch.nn.Linear.__module__.startswith("glasstorch")


def test_a_change_is_made_in_the_program_and_in_what_it_imports() -> None:
    both = example("zen_gpt", length=("LENGTH = 32", "LENGTH = 7"), context=("CONTEXT = 64", "CONTEXT = 9"))
    assert both.LENGTH == 7
    assert both.made().places.weight.shape[0] == 9
    assert example("zen_gpt").LENGTH == 32


def test_a_text_that_is_nowhere_is_an_error() -> None:
    finders = list(sys.meta_path)
    with pytest.raises(BookError, match=r"neither examples/char_gpt\.py nor what .* has the text 'no such text'"):
        example("char_gpt", change=("no such text", ""))
    assert sys.meta_path == finders


def test_a_program_that_is_not_there_is_an_error_that_names_the_others() -> None:
    with pytest.raises(BookError, match=r"examples/ has no chargpt\.py\n  accepted: char_gpt, "):
        example("chargpt")


def test_an_error_in_a_program_leaves_everything_as_it_was(loaded: dict[str, ModuleType]) -> None:
    with pytest.raises(ZeroDivisionError):
        example("char_gpt", change=("CONTEXT = 64", "CONTEXT = 64 / 0"))
    assert {name: sys.modules[name] for name in loaded} == loaded


def test_a_name_that_glasstorch_lacks_says_so() -> None:
    with glasstorch_as_torch():
        import torch

        with pytest.raises(AttributeError, match="no_such_name"):
            torch.no_such_name  # noqa: B018  # the access is what is asked about
        with pytest.raises(ImportError):
            from torch import no_such_name  # noqa: F401
