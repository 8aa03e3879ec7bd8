"""Do classes say where PyTorch has them, in a program that runs as PyTorch's?"""

from pathlib import Path
from typing import Any

import pytest

import glasstorch
from tests.test_main import program, run  # noqa: F401

SAME = [
    "torch.Tensor",
    "torch.Size",
    "torch.device",
    "torch.dtype",
    "torch.layout",
    "torch.memory_format",
    "torch.finfo",
    "torch.nn.Linear",
    "torch.nn.Module",
    "torch.nn.Sequential",
    "torch.nn.Parameter",
    "torch.nn.CrossEntropyLoss",
    "torch.optim.SGD",
    "torch.optim.Optimizer",
    "torch.optim.lr_scheduler.StepLR",
    "torch.optim.lr_scheduler._LRScheduler",
    "torch.autograd.Function",
    "torch.no_grad",
    "torch.set_grad_enabled",
    "torch.Generator",
    "torch.UntypedStorage",
    "torch.TypedStorage",
    "torch.nn.LSTMCell",
    "torch.nn.MultiheadAttention",
    "torch.nn.TransformerEncoderLayer",
    "torch.nn.TransformerDecoderLayer",
    "torch.utils.hooks.RemovableHandle",
    "torch.autograd.profiler.record_function",
    "torch.distributions.constraints.interval",
    "torch.distributions.constraints.stack",
    "torch.cuda.Event",
    "torch.cuda.FloatTensor",
    "torch.torch_version.TorchVersion",
    "torch.nn.utils.parametrize.ParametrizationList",
]


def test_public_classes_print_as_pytorch_prints_them(program, tmp_path: Path, require: Any) -> None:  # noqa: F811
    torch = require("torch")
    imports = "import torch, torch.nn.utils.parametrize, torch.torch_version\n"
    program(imports + "".join(f"print({name})\n" for name in SAME))
    done = run("program.py", folder=tmp_path)
    space = {"torch": torch}
    exec(imports, space)
    assert done.stdout.splitlines() == [str(eval(name, space)) for name in SAME]
    assert done.stderr == ""


def test_nodes_models_and_errors_print_as_pytorch_prints_them(program, tmp_path: Path) -> None:  # noqa: F811
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
    program: Any,  # noqa: F811
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


def test_a_module_that_is_loaded_later_says_it_too(program, tmp_path: Path) -> None:  # noqa: F811
    program("import torch\nprint(torch.jit.ScriptFunction.__module__, torch.jit.TracerWarning.__module__)\n")
    assert run("program.py", folder=tmp_path).stdout == "torch.jit torch.jit\n"


def test_what_is_pickled_names_pytorchs_modules_and_comes_back(program, tmp_path: Path) -> None:  # noqa: F811
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
def test_the_version_of_torch_is_found_where_packages_look_for_it(name: str, program, tmp_path: Path) -> None:  # noqa: F811
    program(
        "import importlib.metadata as metadata\n"
        f"print(metadata.version({name!r}), metadata.version('numpy') > '1')\n"
        "print([d.metadata['Name'] for d in metadata.distributions() if d.metadata['Name'] == 'torch'][:1])\n"
    )
    done = run("program.py", folder=tmp_path)
    assert (done.stdout, done.stderr) == (f"{glasstorch.__version__} True\n['torch']\n", "")


def test_the_source_and_the_types_of_a_class_are_found_where_it_says_it_is(program, tmp_path: Path) -> None:  # noqa: F811
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


def test_modes_of_gradients_are_imported_from_their_module(program, tmp_path: Path) -> None:  # noqa: F811
    program(
        "from torch.autograd.grad_mode import no_grad\nfrom torch.autograd.variable import Variable\nimport torch\n"
        "print(no_grad is torch.no_grad, torch.autograd.grad_mode.no_grad is no_grad, Variable)\n"
    )
    expected = "True True <class 'torch.autograd.variable.Variable'>\n"
    assert run("program.py", folder=tmp_path).stdout == expected
