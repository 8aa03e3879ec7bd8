"""Does `python -m glasstorch program.py` run a PyTorch program as Python runs it?"""

import multiprocessing
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.running import run

ROOT = Path(__file__).parent.parent


def test_torch_and_everything_below_it_is_glasstorch(program, tmp_path: Path) -> None:
    path = program(
        "import torch\n"
        "import torch.nn as nn\n"
        "import torch.nn.functional as F\n"
        "from torch import optim, Tensor\n"
        "from torch.nn import Linear, init\n"
        "from torch.optim.sgd import SGD\n"
        "import glasstorch, glasstorch.nn.functional\n"
        "assert torch is glasstorch\n"
        "assert F is glasstorch.nn.functional and nn.functional is F\n"
        "assert SGD is optim.SGD\n"
        "assert glasstorch.__spec__.name == 'glasstorch' and F.__name__ == 'glasstorch.nn.functional'\n"
        "assert not hasattr(F, '__path__')\n"
        "x = torch.ones(2, requires_grad=True)\n"
        "F.relu(Linear(2, 2)(x)).sum().backward()\n"
        "print(x.grad.shape, isinstance(x, Tensor))\n"
    )
    done = run(path, folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "torch.Size([2]) True\n", "")


def test_the_program_sees_what_python_would_show_it(program, tmp_path: Path) -> None:
    program("VALUE = 5\n", "inside/helper.py")
    path = program(
        "import pickle, sys, helper\n"
        "class Mine: pass\n"
        "assert isinstance(pickle.loads(pickle.dumps(Mine())), Mine)\n"
        "assert 'annotations' not in globals()\n"
        "print(__name__, __file__, sys.argv, helper.VALUE)\n"
        "sys.exit(7)\n",
        "inside/program.py",
    )
    done = run("inside/program.py", "--epochs", "3", "-m", folder=tmp_path)
    expected = f"__main__ {path} ['inside/program.py', '--epochs', '3', '-m'] 5\n"
    assert (done.returncode, done.stdout, done.stderr) == (7, expected, "")


def test_a_module_is_run_as_python_would_run_it(program, tmp_path: Path) -> None:
    program("import sys, torch\nprint(__name__, sys.argv[1:], torch.__name__)\n", "package/tool.py")
    done = run("-m", "package.tool", "x", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "__main__ ['x'] glasstorch\n")
    done = run("-m", "package.none", folder=tmp_path)
    assert (done.returncode, done.stderr) == (1, "python -m glasstorch: No module named package.none\n")
    done = run("-m", folder=tmp_path)
    assert done.returncode == 2
    assert "Argument expected for the -m option" in done.stderr


WITH_WORKERS = """
import sys
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

class Tens(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.tensor(10 * index), get_worker_info().id

assert torch.__name__ == "glasstorch"
if __name__ == "__main__":
    loader = DataLoader(Tens(), 2, num_workers=2, multiprocessing_context=sys.argv[1])
    print([[values.tolist(), ids.tolist()] for values, ids in loader])
"""


@pytest.mark.parametrize("as_module", [False, True], ids=["file", "module"])
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_import_the_program_with_glasstorch_as_torch(
    method: str, as_module: bool, program, tmp_path: Path
) -> None:
    if method not in multiprocessing.get_all_start_methods():
        method = "spawn"
    path = program(WITH_WORKERS.replace("import sys", "import sys, warnings; warnings.simplefilter('ignore')"))
    done = run(*(("-m", "program") if as_module else (path,)), method, folder=tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ("[[[0, 10], [0, 0]], [[20, 30], [1, 1]]]\n", "", 0)


def test_an_error_shows_the_program_s_lines_and_none_of_ours(program, tmp_path: Path) -> None:
    program("def fail():\n    raise ValueError('here')\n\nfail()\n")
    done = run("program.py", folder=tmp_path)
    assert done.returncode == 1
    plain = subprocess.run(
        [sys.executable, "program.py"], check=False, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.stderr == plain.stderr


def test_a_program_that_is_none_is_shown_as_python_shows_it(program, tmp_path: Path) -> None:
    program("x = (\n")
    done = run("program.py", folder=tmp_path)
    assert done.returncode == 1
    path = tmp_path / "program.py"
    assert done.stderr.startswith(f'  File "{path}", line 1\n    x = (\n        ^\nSyntaxError: ')
    done = run("missing.py", folder=tmp_path)
    assert done.returncode == 2
    missing = str(tmp_path / "missing.py")
    assert done.stderr == f"python -m glasstorch: can't open file {missing!r}: [Errno 2] No such file or directory\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "import torch.optim.lr_schedule",
            "ModuleNotFoundError: No module named 'torch.optim.lr_schedule' in glasstorch; ",
        ),
        ("import torch.nn.functionals", "the nearest name is 'torch.nn.functional'; "),
        (
            "import torch; torch.nn.Liner(1, 1)",
            "torch.nn.Liner is not in glasstorch; the nearest name is 'Linear'; ",
        ),
        ("import torch; torch.rnad(2)", "torch.rnad is not in glasstorch; the nearest name is 'rand"),
        ("import torch.distributed.fsdp", "PyTorch 2.13 has torch.distributed.fsdp, glasstorch does not; "),
        ("from torch.nn import Liner", "Liner is not in glasstorch; the nearest name is 'Linear'; "),
    ],
)
def test_what_is_missing_is_named_with_the_nearest_and_the_list(
    line: str, message: str, program, tmp_path: Path
) -> None:
    path = program(f"{line}\n")
    done = run("program.py", folder=tmp_path)
    assert done.returncode == 1
    assert message in done.stderr
    assert "`python -m glasstorch --list` prints what there is" in done.stderr
    assert done.stderr.startswith(
        f'Traceback (most recent call last):\n  File "{path}", line 1, in <module>\n    {line}\n'
    )
    assert "_as_torch.py" not in done.stderr
    assert "__main__.py" not in done.stderr


def test_a_missing_module_can_be_guarded_against(program, tmp_path: Path) -> None:
    program(
        "try:\n    import torch.distributed.fsdp\nexcept ImportError as error:\n    print(error.name)\n"
        "import torch\nprint(hasattr(torch, 'no_such_function'), getattr(torch.nn, 'Conv9d', None))\n"
    )
    done = run("program.py", folder=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[1:]) == (0, ["False None"])
    assert done.stdout.startswith("torch.distributed")


def test_a_guarded_import_says_what_is_missing(program, tmp_path: Path) -> None:
    lines = [
        (
            "from torch.distributed.fsdp import FullyShardedDataParallel",
            "No module named 'torch.distributed.fsdp' in gla",
        ),
        ("import torch.onnx.verification", "PyTorch 2.13 has torch.onnx.verification, glasstorch does not; "),
        ("from torch import while_loop", "PyTorch 2.13 has torch.while_loop, glasstorch does not; "),
        (
            "from torch.nn.modules.linear import Liner",
            "torch.nn.modules.linear.Liner is not in glasstorch; the nearest ",
        ),
        ("from torch.nn.quantized import Linear", "left out of glasstorch, because there are no quantized dtypes"),
        ("from torch.nn.modules.module import _no_such", "torch.nn.modules.module._no_such is not in glasstorch; "),
    ]
    program(
        "import torch\n"
        + "".join(f"try:\n    {line}\nexcept ImportError as error:\n    print(error)\n" for line, _ in lines)
    )
    done = run("program.py", folder=tmp_path)
    assert done.stderr == ""
    for printed, (line, message) in zip(done.stdout.splitlines(), lines, strict=True):
        assert message in printed, line


def test_it_explains_itself(tmp_path: Path) -> None:
    for arguments in ((), ("--help",)):
        done = run(*arguments, folder=tmp_path)
        assert done.returncode == 0
        assert "python -m glasstorch script.py [arguments]" in done.stdout
    listed = run("--list", folder=tmp_path).stdout.split("\n")
    assert "torch" in listed
    functional = listed[listed.index("torch.nn.functional") + 1].split()
    assert {"relu", "cross_entropy", "linear"} <= set(functional)
    assert "DataLoader" in listed[listed.index("torch.utils.data") + 1].split()  # imported late
    assert not [line for line in listed if "core" in line.split(".")]
    assert "Any" not in " ".join(listed).split()
    assert run("--version", folder=tmp_path).stdout.startswith("glasstorch ")
    unknown = run("--fast", "program.py", folder=tmp_path)
    assert unknown.returncode == 2
    assert unknown.stderr.startswith("python -m glasstorch: unknown option --fast\n")
    for option in ("-c", "-"):
        refused = run(option, "import torch", folder=tmp_path)
        assert refused.returncode == 2
        assert "`-c` and `-` among them, are refused" in refused.stderr


@pytest.mark.parametrize("arguments", [["--list"], ["--where", "lstm", "torch.conv2d"]])
def test_what_it_prints_may_be_cut_off_by_its_reader(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "glasstorch", *arguments],
            check=False,
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "reference")},
            timeout=600,
        )
    assert (done.returncode, done.stderr) == (1, "")


# --where --------------------------------------------------------------------------------------------------------


COMPOSED = "reference/glasstorch/kernels/out/composed.py"  # makes the out= form of many operators


def test_where_tells_the_places_of_an_operator_as_paths_from_the_current_folder() -> None:
    done = run("--where", "torch.linalg.solve", folder=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert "aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor" in done.stdout
    places = re.findall(r"(reference/glasstorch/\S+):(\d+)", done.stdout)
    assert {path for path, _ in places} == {
        "reference/glasstorch/operators/native_functions.yaml",
        "reference/glasstorch/operators/derivatives.yaml",
        "reference/glasstorch/operators/composite/linalg/decompositions.py",
        "reference/glasstorch/kernels/cpu/linalg/inverses.py",
        "reference/glasstorch/autograd/formulas/linalg/decompositions.py",
        COMPOSED,
    }
    for path, number in places:
        wanted = "def with_out(" if path == COMPOSED else "solve"
        assert wanted in (ROOT / path).read_text(encoding="utf-8").splitlines()[int(number) - 1]


def test_where_tells_the_derivatives_of_the_parts_and_nothing_that_is_empty() -> None:
    done = run("--where", "torch.softmax", folder=ROOT)
    part = re.search(r"_softmax: (reference/glasstorch/operators/derivatives.yaml):(\d+)$", done.stdout, re.MULTILINE)
    assert part is not None
    assert (ROOT / part[1]).read_text(encoding="utf-8").splitlines()[int(part[2]) - 1] == "- op: _softmax"
    assert not [line for line in done.stdout.splitlines() if line and len(line.split()) < 2]


def test_where_tells_the_functions_and_operators_that_a_formula_calls() -> None:
    done = run("--where", "cummax", "softmax", folder=ROOT)
    place = "reference/glasstorch"
    helper = rf"^ +running_extremum_backward: {place}/autograd/formulas/scans.py:\d+$"
    operator = rf"^ +_softmax_backward_data: {place}/kernels/cpu/softmax.py:\d+, {place}/kernels/cuda/softmax.py:\d+$"
    scans = rf"{place}/kernels/cpu/scans.py:\d+"
    maker = rf"^  CPU +{scans}\n +made by register_running_extremum: {scans}$"
    for wanted in (helper, operator, maker):
        assert re.search(wanted, done.stdout, re.MULTILINE), wanted


def test_where_tells_tags_and_who_writes_to_out() -> None:
    done = run("--where", "torch.std", "torch.special.xlog1py", folder=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^  tags +reduction", done.stdout, re.MULTILINE)
    assert re.search(rf"^  out= +composed, cast, {COMPOSED}:\d+$", done.stdout, re.MULTILINE)
    assert re.search(r"^  out= +own kernel, reference/glasstorch/kernels/cpu/\S+:\d+$", done.stdout, re.MULTILINE)
    assert re.search(r"^  out= +passed on to special_xlog1py.out, ", done.stdout, re.MULTILINE)


def test_where_tells_of_functions_that_are_no_operators(tmp_path: Path) -> None:
    done = run("--where", "torch.nn.functional.cross_entropy", folder=tmp_path)
    where = f"is a function of Python: {ROOT / 'reference' / 'glasstorch' / 'nn' / 'functions' / 'class_loss.py'}:"
    assert (done.returncode, done.stderr) == (0, "")
    assert where in done.stdout


def test_where_says_of_each_name_what_it_is() -> None:
    names = ["torch.linalg", "torch.nn.Linear", "torch.Tensor.shape", "torch.Tensor.dtype", "torch.float32", "torch.pi"]
    done = run("--where", *names, "F.relu", "Tensor.__rsub__", folder=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    told = re.sub(r":\d+$", "", done.stdout, flags=re.MULTILINE).split("\n\n")
    place = "reference/glasstorch"
    assert told[:6] == [
        f"torch.linalg is a module: {place}/linalg.py",
        f"torch.nn.Linear is a class: {place}/nn/modules/linear.py",
        f"torch.Tensor.shape is an attribute: {place}/core/tensor_impl.py",
        f"torch.Tensor.dtype is an attribute: {place}/core/tensor_impl.py",
        f"torch.float32 is a dtype: {place}/core/dtype.py",
        "torch.pi is a float: 3.141592653589793",
    ]
    assert re.search(rf"^aten::relu\(.*\n  function +{place}/nn/functions/activation.py$", told[6], re.MULTILINE)
    assert told[7].startswith("aten::rsub.Tensor(")


def test_where_finds_definitions_by_name_and_files_by_words() -> None:
    done = run("--where", "CachingAllocator", "pointwise fusion", "torch.broadcast_shapes", folder=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    place = "reference/glasstorch"
    defined, about, both = re.sub(r":\d+", "", done.stdout).rstrip().split("\n\n")
    assert defined == f"CachingAllocator is defined in {place}/devices/allocator.py"
    files = dict(line.split(maxsplit=1) for line in about.splitlines()[1:])
    assert list(files)[:2] == [f"{place}/jit/codegen/__init__.py", f"{place}/jit/passes/fuse_pointwise.py"]
    assert files[f"{place}/jit/passes/fuse_pointwise.py"] == "Which pointwise operators can run as one loop?"
    assert both.splitlines()[0].endswith(f"{place}/functional.py")
    assert f"{place}/core/geometry.py" in both.splitlines()[1]


def test_where_tells_of_the_other_names_where_one_is_unknown() -> None:
    done = run("--where", "torch.nothing", "torch.pi", folder=ROOT)
    assert (done.returncode, done.stdout) == (1, "torch.pi is a float: 3.141592653589793\n")
    assert "there is no operator or function 'torch.nothing'" in done.stderr
    done = run("--where", "zebra stripes", folder=ROOT)
    assert (done.returncode, done.stdout) == (1, "")
    assert "no file of the library is about 'zebra stripes'; try fewer or other words" in done.stderr


def test_where_names_the_nearest_for_an_unknown_name_and_asks_for_one_where_none_is_given(tmp_path: Path) -> None:
    done = run("--where", "torch.cumsumm", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "there is no operator or function 'torch.cumsumm'; the nearest name is 'cumsum'" in done.stderr
    done = run("--where", folder=tmp_path)
    assert done.returncode == 2
    assert "a name of PyTorch, such as torch.linalg.solve" in done.stderr


def test_the_readme_shows_what_where_prints_but_for_the_numbers_of_lines() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```console\n(\$ .venv/bin/python -m glasstorch --where .*?)```", text, re.DOTALL)
    assert block is not None
    asked = re.split(r"^\$ .venv/bin/python -m glasstorch --where (\S+)\n", block[1], flags=re.MULTILINE)[1:]
    names, answers = asked[::2], asked[1::2]
    assert names == ["torch.linalg.solve", "torch.cumsum"]
    for name, answer in zip(names, answers, strict=True):
        printed = re.sub(r":\d+", "", run("--where", name, folder=ROOT).stdout)
        assert printed.startswith(re.sub(r":\d+", "", answer.removesuffix("  ...\n")))


def test_the_readme_shows_which_files_where_finds() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(
        r'```console\n\$ .venv/bin/python -m glasstorch --where "(.*?)"\n(.*?)  \.\.\.\n```', text, re.DOTALL
    )
    assert block is not None
    assert run("--where", block[1], folder=ROOT).stdout.startswith(block[2])


# Programs of other forms ----------------------------------------------------------------------------------------


def as_python(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What Python itself prints for the same program, which must not import torch."""
    return subprocess.run(
        [sys.executable, *arguments], check=False, cwd=folder, capture_output=True, text=True, encoding="utf-8"
    )


SEEN = (
    "import sys\n"
    "spec = __spec__ and (__spec__.name, __spec__.parent)\n"
    "loader = getattr(__loader__, '__name__', type(__loader__).__name__)\n"
    "print(__name__, __file__, __package__, spec, loader, __cached__ is None, sys.argv, sys.path[0])\n"
    "print(sorted(name for name in globals() if name != '__annotations__'))\n"
)


@pytest.mark.parametrize(
    "arguments",
    [
        ["program.py", "a"],
        ["./inside/../program.py"],
        ["linked.py"],
        ["-m", "package.tool", "-m", "b"],
        ["-m", "package", "c"],
        ["-m", "package.inner"],
        ["package"],
        ["program.zip", "d"],
    ],
    ids=" ".join,
)
def test_every_form_of_a_program_sees_what_python_would_show_it(arguments, program, tmp_path: Path) -> None:
    program(SEEN)
    for name in ("package/__init__.py", "package/inner/__init__.py", "inside/__init__.py"):
        program("", name)
    for name in ("package/tool.py", "package/__main__.py", "package/inner/__main__.py"):
        program(SEEN, name)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "program.py").rename(tmp_path / "elsewhere" / "linked.py")
    program(SEEN)
    (tmp_path / "linked.py").symlink_to(tmp_path / "elsewhere" / "linked.py")
    with zipfile.ZipFile(tmp_path / "program.zip", "w") as archive:
        archive.writestr("__main__.py", SEEN)
    expected, done = as_python(*arguments, folder=tmp_path), run(*arguments, folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, expected.stdout, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "empty"], "No module named empty.__main__; 'empty' is a package and cannot be directly executed"),
        (["-m", "no.such"], "Error while finding module specification for 'no.such' (ModuleNotFoundError: "),
        (["empty"], "can't find '__main__' module in "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_package_without_a_main_program_is_refused(arguments, message: str, program, tmp_path: Path) -> None:
    program("", "empty/__init__.py")
    done = run(*arguments, folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(f"python -m glasstorch: {message}")


def test_an_error_that_led_to_another_shows_none_of_our_lines_either(program, tmp_path: Path) -> None:
    program(
        "try:\n    import torch.no_such_module\nexcept ImportError as error:\n    raise ValueError('here') from error\n"
    )
    done = run("program.py", folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count('  File "') == 2
    assert "_as_torch.py" not in done.stderr
    assert "importlib" not in done.stderr


def test_imports_by_text_and_at_inner_paths_give_the_same_modules(program, tmp_path: Path) -> None:
    program(
        "import importlib, sys\n"
        "import torch\n"
        "import torch.nn.modules.linear as linear\n"
        "from torch.nn.modules import Conv2d\n"
        "from torch.nn.modules.conv import Conv2d as same\n"
        "from torch.optim.lr_scheduler import StepLR\n"
        "assert sys.modules['torch'] is torch and sys.modules['torch.nn'] is torch.nn\n"
        "assert importlib.import_module('torch.optim.lr_scheduler').StepLR is StepLR\n"
        "assert __import__('torch.nn.functional').nn.functional is importlib.import_module('.functional', 'torch.nn')\n"
        "assert linear.Linear is torch.nn.Linear and Conv2d is same\n"
        "assert importlib.util.find_spec('torch.nn') is not None and importlib.util.find_spec('torch') is not None\n"
        "for name in ('torch.no_such', 'torch.nn.no_such'):\n"
        "    try:\n        importlib.import_module(name)\n"
        "    except ModuleNotFoundError as error:\n        print(error.name)\n"
    )
    done = run("program.py", folder=tmp_path)
    assert (done.stdout, done.stderr) == ("torch.no_such\ntorch.nn.no_such\n", "")
