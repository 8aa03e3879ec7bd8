"""Do classes say where PyTorch has them, in a program that runs as PyTorch's?"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch._as_torch import torch_modules
from tests.running import run

# Classes that are elsewhere here, by the path at which programs find them.
NO_SUCH_MODULE = "PyTorch's is in a module that is not here, where a pickle would look for it in vain"
DIFFERENT = {
    "torch.jit.ScriptFunction": "its name in PyTorch, 'torch.jit.ScriptFunction' in the module torch.jit, is no path",
    "torch.nn.attention.SDPBackend": "PyTorch's is in C under the name of _SDPBackend",
    "torch.random.Generator": "PyTorch's module has that of collections.abc, for its annotations",
    **dict.fromkeys(
        (
            "torch.autograd.profiler.DeviceType",
            "torch.autograd.profiler.ProfilerActivity",
            "torch.autograd.profiler._ExperimentalConfig",
            "torch.onnx.OperatorExportTypes",
            "torch.onnx.TensorProtoDataType",
            "torch.onnx.TrainingMode",
            "torch.profiler.DeviceType",
            "torch.profiler.ProfilerAction",
            "torch.profiler.ProfilerActivity",
            "torch.profiler.RecordScope",
            "torch.profiler._ExperimentalConfig",
            "torch.utils.benchmark.CallgrindStats",
            "torch.utils.benchmark.CopyIfCallgrind",
            "torch.utils.benchmark.FunctionCount",
            "torch.utils.benchmark.FunctionCounts",
            "torch.utils.benchmark.FuzzedSparseTensor",
            "torch.utils.data.functional_datapipe",
            "torch.utils.data.guaranteed_datapipes_determinism",
            "torch.utils.data.non_deterministic",
            "torch.utils.data.runtime_validation_disabled",
        ),
        NO_SUCH_MODULE,
    ),
}

# Prints where the classes of some modules say they are, and whether pickles find them there.
PLACES = """
import importlib, json, pickle, sys, warnings
warnings.simplefilter("ignore")
found = {}
for path in sys.argv[1:]:
    module = importlib.import_module(path)
    for name in {*vars(module), *getattr(module, "__all__", ())}:
        value = getattr(module, name, None)
        if isinstance(value, type) and not name.startswith("__"):
            try:
                pickled = pickle.loads(pickle.dumps(value)) is value
            except (pickle.PicklingError, ImportError, AttributeError):
                pickled = False
            found[f"{path}.{name}"] = [value.__module__, value.__qualname__, pickled]
print(json.dumps(found))
"""


def test_all_classes_of_public_modules_say_where_pytorch_has_them(program, tmp_path: Path, require: Any) -> None:
    require("torch")
    paths = sorted(torch_modules())
    path = program(PLACES)
    theirs = json.loads(subprocess.run([sys.executable, path, *paths], check=True, capture_output=True).stdout)
    ours = json.loads(run("program.py", *paths, folder=tmp_path).stdout)
    both = theirs.keys() & ours.keys()
    assert len(both) > 800
    assert {name for name in both if ours[name][:2] != theirs[name][:2]} == set(DIFFERENT)
    lost = {name for name in both - set(DIFFERENT) if theirs[name][2] and not ours[name][2]}
    assert lost == {"torch.testing.FileCheck"}  # it says `torch`, as PyTorch's does, where it is not offered here


def test_nodes_models_and_errors_print_as_pytorch_prints_them(program, tmp_path: Path) -> None:
    program(
        "import torch\n"
        "class Twice(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x):\n        return 2 * x\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return 2 * g\n"
        "x = torch.ones(1, requires_grad=True)\n"
        "print(str(Twice.apply(x).grad_fn).split(' object')[0])\n"
        "print(str((2 * x).grad_fn).split(' object')[0])\n"
        "print(type(x), type(x).__module__, type(torch.nn.Parameter(x)))\n"
        "try:\n    torch.ones(2, 3) @ torch.ones(2, 3)\nexcept Exception as error:\n    print(type(error), error)\n"
        "print(torch.typename(x), torch.get_default_dtype().__class__)\n"
    )
    done = run("program.py", folder=tmp_path)
    assert done.stdout.splitlines() == [
        "<torch.autograd.function.TwiceBackward",
        "<MulBackward0",
        "<class 'torch.Tensor'> torch <class 'torch.nn.parameter.Parameter'>",
        "<class 'RuntimeError'> mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
        "torch.FloatTensor <class 'torch.dtype'>",
    ]


def test_classes_of_nodes_and_of_a_failed_inverse_print_as_pytorch_prints_them(
    program: Any,
    tmp_path: Path,
    require: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    torch = require("torch")
    text = (
        "class Twice(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x):\n        return 2 * x\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return 2 * g\n"
        "x = torch.ones(2, requires_grad=True)\n"
        "for y in (Twice.apply(x), (2 * x).mean()):\n    print(type(y.grad_fn))\n"
        "print(type((2 * x).grad_fn.next_functions[0][0]), torch.autograd.graph.Node)\n"
        "print(torch.linalg.LinAlgError, torch.linalg.LinAlgError is torch._C._LinAlgError)\n"
    )
    program("import torch\n" + text)
    done = run("program.py", folder=tmp_path)
    exec(text, {"torch": torch})
    assert (done.stdout, done.stderr) == (capsys.readouterr().out, "")


def test_a_module_that_is_loaded_later_says_it_too(program, tmp_path: Path) -> None:
    program("import torch\nprint(torch.jit.ScriptFunction.__module__, torch.jit.TracerWarning.__module__)\n")
    assert run("program.py", folder=tmp_path).stdout == "torch.jit torch.jit._trace\n"


def test_what_is_pickled_names_pytorchs_modules_and_comes_back(program, tmp_path: Path) -> None:
    program(
        "import pickle, pickletools, torch\n"
        "given = torch.nn.Linear(2, 1), torch.float16, torch.device('cpu'), torch.Size([2]), torch.optim.SGD\n"
        "text = pickle.dumps(given)\n"
        "names = {argument for _, argument, _ in pickletools.genops(text) if isinstance(argument, str)}\n"
        "print(sorted(name for name in names if name.startswith('torch')))\n"
        "print(pickle.loads(text))\n"
    )
    done = run("program.py", folder=tmp_path)
    assert done.stderr == ""
    names, back = done.stdout.splitlines()
    assert "'torch.nn.modules.linear'" in names
    assert "Linear(in_features=2, out_features=1, bias=True), torch.float16, device(type='cpu')" in back


def test_imported_by_its_own_name_the_library_says_where_a_class_is_defined() -> None:
    assert glasstorch.Tensor.__module__ == "glasstorch._tensor"
    assert glasstorch.nn.Linear.__module__ == "glasstorch.nn.modules.linear"


@pytest.mark.parametrize("name", ["torch", "Torch"])
def test_the_version_of_torch_is_found_where_packages_look_for_it(name: str, program, tmp_path: Path) -> None:
    program(
        "import importlib.metadata as metadata\n"
        f"print(metadata.version({name!r}), metadata.version('numpy') > '1')\n"
        "print([d.metadata['Name'] for d in metadata.distributions() if d.metadata['Name'] == 'torch'][:1])\n"
    )
    done = run("program.py", folder=tmp_path)
    assert (done.stdout, done.stderr) == (f"{glasstorch.__version__} True\n['torch']\n", "")


def test_the_source_and_the_types_of_a_class_are_found_where_it_says_it_is(program, tmp_path: Path) -> None:
    program(
        "import inspect, typing, torch\n"
        "print(inspect.getsource(torch.nn.Linear).splitlines()[0])\n"
        "print(inspect.getmodule(torch.optim.SGD).__name__)\n"
        "print(sorted(typing.get_type_hints(torch.nn.Linear))[:2])\n"
    )
    done = run("program.py", folder=tmp_path)
    assert done.stderr == ""
    source, module, hints = done.stdout.splitlines()
    assert source == "class Linear(Module):"
    assert module == "glasstorch.optim.sgd"
    assert hints == "['__constants__', '_backward_hooks']"


def test_modes_of_gradients_are_imported_from_their_module(program, tmp_path: Path) -> None:
    program(
        "from torch.autograd.grad_mode import no_grad\nfrom torch.autograd.variable import Variable\nimport torch\n"
        "print(no_grad is torch.no_grad, torch.autograd.grad_mode.no_grad is no_grad, Variable)\n"
    )
    expected = "True True <class 'torch.autograd.variable.Variable'>\n"
    assert run("program.py", folder=tmp_path).stdout == expected
