"""Do the processes that a program starts have glasstorch as torch too?"""

from pathlib import Path

import pytest

import glasstorch
from tests.running import run

PROGRAM = """
import sys
import torch
import torch.multiprocessing as mp

class Net(torch.nn.Linear):
    pass

def work(net, answers):
    answers.put((type(net).__qualname__, net(torch.ones(2)).tolist(), torch.__name__, __name__))

if __name__ == "__main__":
    context = mp.get_context(sys.argv[1])
    net = Net(2, 1)
    torch.nn.init.ones_(net.weight), torch.nn.init.zeros_(net.bias)
    answers = context.SimpleQueue()
    process = context.Process(target=work, args=(net, answers))
    process.start()
    process.join()  # the answer is short, and waits in the pipe
    print("failed" if answers.empty() else answers.get())
    print(process.exitcode)
"""


@pytest.mark.parametrize(
    ("method", "name"), [("spawn", "__mp_main__"), ("forkserver", "__mp_main__"), ("fork", "__main__")]
)
def test_a_process_imports_the_program_with_glasstorch_as_torch(method, name, program, tmp_path: Path) -> None:
    program(PROGRAM)
    done = run("program.py", method, folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"('Net', [2.0], 'glasstorch', '{name}')\n0\n", "")


def test_a_program_that_is_a_module_of_a_package_is_imported_by_its_name(program, tmp_path: Path) -> None:
    program("VALUE = 5\n", "package/helper.py")
    program(f"from . import helper\n{PROGRAM}    print(helper.VALUE)\n", "package/train.py")
    done = run("-m", "package.train", "spawn", folder=tmp_path)
    expected = "('Net', [2.0], 'glasstorch', '__mp_main__')\n0\n5\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")


def test_a_process_of_a_process_has_it_too(program, tmp_path: Path) -> None:
    program(
        "import multiprocessing\nimport torch\n\n"
        "def inner():\n    print('inner', torch.__name__, flush=True)\n\n"
        "def outer():\n    print('outer', torch.__name__, flush=True)\n    started(inner)\n\n"
        "def started(target):\n"
        "    process = multiprocessing.get_context('spawn').Process(target=target)\n"
        "    process.start()\n    process.join()\n    assert process.exitcode == 0\n\n"
        "if __name__ == '__main__':\n    started(outer)\n"
    )
    done = run("program.py", folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "outer glasstorch\ninner glasstorch\n", "")


def test_a_spawned_process_finds_the_library_where_the_program_has_it_from(program, tmp_path: Path) -> None:
    lost = (
        "import os, sys\nsys.path[:] = [p for p in sys.path if 'reference' not in p]\nos.environ.pop('PYTHONPATH', 0)\n"
    )
    program(lost + PROGRAM.replace("torch.__name__, __name__", "torch.__file__"))
    done = run("program.py", "spawn", folder=tmp_path)
    expected = f"('Net', [2.0], {glasstorch.__file__!r})\n0\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")
