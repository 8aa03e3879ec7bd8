"""Is CuPy imported only where a card was asked for, and does the driver's code say what the simulator's says?

What the driver does on a card is tested in test_driver.py, with the marker `gpu`.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import glasstorch
from tests.devices.compiler import compiler as compiler

PACKAGE = Path(glasstorch.__file__).parent
# All of the library but the driver itself, and work on the simulated device.
USE = """
import importlib, pkgutil, sys
import glasstorch
from glasstorch import devices
from glasstorch.kernels import cuda

for folder in (devices, cuda):
    for module in pkgutil.iter_modules(folder.__path__, folder.__name__ + "."):
        if not module.name.endswith("driver_cupy"):
            importlib.import_module(module.name)
glasstorch.cuda.use_simulator()
print((glasstorch.ones(3, device="cuda") + 1).sum().item(), glasstorch.cuda.is_available())
assert not [name for name in sys.modules if name.startswith("cupy")]
"""
ASK = "import glasstorch; glasstorch.cuda.is_available()"
# CuPy's bindings, as far as asking a module for a kernel goes: one device, an H100.
BINDINGS = """
class runtime:
    CUDARuntimeError = type("CUDARuntimeError", (RuntimeError,), {})
    getDevice = lambda: 0
    setDevice = lambda device: None
    memGetInfo = lambda: (0, 0)
    getDeviceProperties = lambda device: {"major": 9, "minor": 0}

class driver:
    CUDADriverError = type("CUDADriverError", (RuntimeError,), {})
"""
LOOK = """
from glasstorch.core.errors import AcceleratorError
from glasstorch.devices.driver_cupy import CupyModule

module = CupyModule('extern "C" __global__ void there() {}', "one.cu", (), ())
print(module.kernel("there").name)
try:
    module.kernel("missing")
except AcceleratorError as error:
    print(error.code, error)
"""


@pytest.fixture
def forbidden(tmp_path: Path) -> dict[str, str]:
    """An environment in which importing CuPy ends the program with code 3."""
    for name in ("cupy", "cupy_backends"):
        (tmp_path / f"{name}.py").write_text("import os; os._exit(3)\n")
    path = os.pathsep.join((str(tmp_path), str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")))
    return {**{name: value for name, value in os.environ.items() if name != "GLASSTORCH_CUDA"}, "PYTHONPATH": path}


def run(program: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_only_the_driver_names_cupy_in_an_import() -> None:
    importing = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Import(names=aliases):
                    names = [alias.name for alias in aliases]
                case ast.ImportFrom(module=str(module)):
                    names = [module]
                case _:
                    names = []
            if any(name.partition(".")[0] in ("cupy", "cupy_backends", "cupyx") for name in names):
                importing.add(path.relative_to(PACKAGE).as_posix())
    assert importing == {"devices/driver_cupy.py"}


def test_nothing_imports_cupy_where_the_simulator_is_on(forbidden: dict[str, str]) -> None:
    done = run(USE, forbidden)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "6.0 True\n"


def test_asking_for_a_card_imports_cupy(forbidden: dict[str, str]) -> None:
    assert run("import glasstorch", forbidden).returncode == 0
    assert run(ASK, forbidden).returncode == 3
    assert run(ASK, forbidden | {"GLASSTORCH_CUDA": "simulator"}).returncode == 0


def test_a_kernel_that_is_not_there_is_cudas_error_500(tmp_path: Path, compiler: ModuleType) -> None:
    package = tmp_path / "cupy_backends" / "cuda"
    package.mkdir(parents=True)
    (package / "api.py").write_text(BINDINGS, encoding="utf-8")
    done = run(LOOK, os.environ | {"PYTHONPATH": os.pathsep.join((str(tmp_path), str(PACKAGE.parent)))})
    assert done.stdout.splitlines() == [
        "there",
        "500 CUDA error: named symbol not found (cudaErrorSymbolNotFound, 500)",
        "one.cu has no kernel 'missing'; it has there",
    ], done.stderr
