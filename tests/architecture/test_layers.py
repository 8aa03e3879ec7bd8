"""Does every import of the library point to a row before its own?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.layers import FACADE, ROWS, THIN_REEXPORTS, layer, violations
from tests.architecture.names import Names

PACKAGE = Path(__file__).parents[2] / "reference" / "glasstorch"


def test_every_import_points_to_an_earlier_row() -> None:
    assert violations(PACKAGE) == []


OURS_ALONE = ("array_api",)  # the facade's, which torch has not
PRIVATE = ("_library", "_subclasses")  # torch's too, which the list of its public modules leaves out


def test_every_folder_has_a_row_or_a_path_of_torch(torch_names: dict[str, Names]) -> None:
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.rglob("*.py"))}
    unplaced = {name for name in folders if layer(name) == FACADE}
    assert unplaced <= {*torch_names["torch"]["modules"], *OURS_ALONE, *PRIVATE}, (
        "a folder needs a row in layers.py, or a module's name in torch"
    )


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("core/a.py", "from glasstorch.dispatch import schema"),
        ("core/a.py", "from glasstorch.dispatch.schema import Schema"),
        ("core/a.py", "from ..dispatch.schema import Schema"),
        ("core/a.py", "import glasstorch.kernels.iterator"),
        ("core/a.py", "import glasstorch"),
        ("core/a.py", "from glasstorch import add"),
        ("core/a.py", "from glasstorch import autograd"),
        ("core/a.py", "def f():\n    from glasstorch.autograd import engine"),
        ("core/a.py", "import importlib\nimportlib.import_module('glasstorch.autograd.engine')"),
        ("core/a.py", "import importlib\nimportlib.import_module(f'glasstorch.autograd.{name}')"),
        ("core/a.py", "from glasstorch._tensor import Tensor"),
        ("core/a.pyi", "from glasstorch._tensor import Tensor"),
        (
            "core/a.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from glasstorch.autograd import Node",
        ),
        (
            "core/a.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from glasstorch._tensor import show",
        ),
        ("core/a.py", "if TYPE_CHECKING:\n    pass\nelse:\n    from glasstorch._tensor import Tensor"),
        ("optim/a.py", "from glasstorch.serialization import save"),
        ("_tensor.py", "from glasstorch.kernels import cpu"),
        ("kernels/a.py", "from glasstorch.operators.gen import model"),
        ("kernels/a.py", "from glasstorch.operators import gen"),
        ("nn/a.py", "from glasstorch.nn.parallel import distributed"),
        ("nn/a.py", "from glasstorch.nn.parallel.distributed import DistributedDataParallel"),
    ],
)
def test_an_import_that_points_elsewhere_is_found(tmp_path: Path, file: str, code: str) -> None:
    write_package(tmp_path, file, code)
    assert len(violations(tmp_path / "glasstorch")) == 1


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("dispatch/a.py", "from glasstorch.core import keys"),
        ("dispatch/a.py", "from . import schema"),
        ("dispatch/a.py", "from .schema import Schema"),
        (
            "core/a.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from glasstorch._tensor import Tensor",
        ),
        ("core/a.py", "import numpy\nfrom collections import abc"),
        ("operators/gen/a.py", "from glasstorch.operators.gen import model"),
        ("__init__.py", "from glasstorch.nn import module\nfrom . import core"),
        ("utils/a.py", "from glasstorch.data import loader"),
        ("nn/parallel/a.py", "from glasstorch.nn.modules import module"),
        ("nn/parallel/distributed/a.py", "from glasstorch.distributed import group"),
    ],
)
def test_an_import_of_an_earlier_row_is_left_alone(tmp_path: Path, file: str, code: str) -> None:
    write_package(tmp_path, file, code)
    assert violations(tmp_path / "glasstorch") == []


def write_package(folder: Path, file: str, code: str) -> None:
    """A package with the library's folders and one file with this code."""
    package = folder / "glasstorch"
    for name in (*(name for row in ROWS for name in row), *THIN_REEXPORTS):
        package.joinpath(*name.split(".")).mkdir(parents=True, exist_ok=True)
    path = package / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(code, encoding="utf-8")
