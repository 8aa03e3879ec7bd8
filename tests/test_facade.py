"""Is `import glasstorch as torch` what a program and an editor expect?"""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import glasstorch

Require = Callable[[str], Any]
REFERENCE = Path(glasstorch.__file__).parents[1]


def in_fresh_process(code: str) -> Any:
    """What a program prints as JSON in a process where nothing has been imported yet."""
    done = subprocess.run(
        [sys.executable, "-c", f"import json, sys\n{code}"],
        capture_output=True, text=True, encoding="utf-8", check=True, cwd=REFERENCE,
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.mark.parametrize(("before", "after"), [("enable", True), ("disable", False)])
def test_an_import_collects_no_garbage_and_leaves_the_collector_as_it_was(before: str, after: bool) -> None:
    """The searches would take a sixth of the time, and find little; NumPy and ml_dtypes, imported before, do theirs."""
    code = (
        f"import gc, ml_dtypes, numpy\ngc.collect(); gc.{before}(); starts = []\n"
        "gc.callbacks.append(lambda when, _: when == 'start' and starts.append('glasstorch._facade' in sys.modules))\n"
        "import glasstorch\nprint(json.dumps([any(starts), gc.isenabled()]))"
    )
    assert in_fresh_process(code) == [False, after]


def test_later_searches_for_garbage_leave_the_library_out_and_find_a_programs_own() -> None:
    code = (
        "import gc, weakref, glasstorch\n"
        "class Node: pass\n"
        "node = Node(); node.itself = node; seen = weakref.ref(node); del node; gc.collect()\n"
        "print(json.dumps([len(gc.get_objects()) < gc.get_freeze_count() / 10, seen() is None]))"
    )
    assert in_fresh_process(code) == [True, True]


def test_a_failed_import_leaves_the_collector_on() -> None:
    code = (
        "import gc\nsys.modules['glasstorch._tensor'] = None\n"
        "try:\n    import glasstorch\nexcept ImportError:\n    print(json.dumps(gc.isenabled()))"
    )
    assert in_fresh_process(code) is True


def test_every_offered_name_is_there_and_documented() -> None:
    for name in glasstorch.__all__:
        value = getattr(glasstorch, name)
        if inspect.isfunction(value) or inspect.isclass(value):
            assert value.__doc__, name


def test_constants_are_those_of_torch(require: Require) -> None:
    torch = require("torch")
    for name in ("e", "pi", "inf", "newaxis"):
        assert getattr(glasstorch, name) == getattr(torch, name)
    assert repr(glasstorch.nan) == repr(torch.nan) == "nan"


def test_completion_lists_what_is_offered() -> None:
    assert {"add", "Tensor", "zeros", "float32", "nn", "no_grad"} <= set(dir(glasstorch))
    assert {"add_", "backward", "shape", "transpose"} <= set(dir(glasstorch.ones(1)))
    assert {"aten"} <= set(dir(glasstorch.ops))
    assert {"add", "mm"} <= set(dir(glasstorch.ops.aten))


def test_star_import_gives_the_offered_names_only() -> None:
    space: dict[str, Any] = {}
    exec("from glasstorch import *", space)
    assert set(glasstorch.__all__) <= set(space)
    assert not {"annotations", "register_kernels", "register_fallbacks", "refuse_unknown_names"} & set(space)


def test_help_says_what_a_function_does_how_it_is_called_and_what_is_special() -> None:
    text = glasstorch.add.__doc__ or ""
    assert text.startswith("Adds `alpha` times the second tensor to the first")
    assert "add(input, other, *, alpha=1, out=None) -> Tensor" in text
    assert "shares the input's storage" in (glasstorch.transpose.__doc__ or "")
    assert "version counter is raised" in (glasstorch.Tensor.add_.__doc__ or "")
    assert "shares the input's storage" not in (glasstorch.Tensor.reshape.__doc__ or "")
    assert list(inspect.signature(glasstorch.relu_).parameters) == ["input"]
    assert list(inspect.signature(glasstorch.mm).parameters) == [
        "input",
        "mat2",
        "more",
        "out",
        "kwargs",
    ]  # NumPy's names


def test_a_docstring_has_the_ways_to_call_a_function_by_its_public_name_and_what_is_said_of_each() -> None:
    assert "\nlinalg.inv(A, *, out=None) -> Tensor\n" in inspect.getdoc(glasstorch.linalg.inv) + "\n"
    assert inspect.getdoc(glasstorch.std) == (
        "The standard deviation of all elements.\n\n"
        "std(input, unbiased=True) -> Tensor\n"
        "std(input, dim, unbiased=True, keepdim=False, *, out=None) -> Tensor\n"
        "    The standard deviation over dimensions.\n"
        "std(input, dim=None, *, correction=None, keepdim=False, out=None) -> Tensor\n"
        "    The standard deviation over dimensions, with the variance's correction."
    )


def test_an_unknown_name_is_told_with_the_nearest_and_where_the_list_is() -> None:
    with pytest.raises(AttributeError) as error:
        glasstorch.zeross  # noqa: B018
    assert str(error.value) == (
        "module 'glasstorch' has no attribute 'zeross': torch.zeross is not in glasstorch; "
        "the nearest name is 'zeros'; `python -m glasstorch --list` prints what there is"
    )
    assert not hasattr(glasstorch, "__wrapped__")
    with pytest.raises(ImportError, match="cannot import name 'nothing_like_it'"):
        from glasstorch import nothing_like_it  # noqa: F401


@pytest.mark.parametrize("name", ["complex32", "chalf"])
def test_the_dtype_that_is_left_out_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(AttributeError, match=r"^complex32 \(ComplexHalf\) is not in glasstorch: .*; use complex64$"):
        getattr(glasstorch, name)


def test_the_version_is_that_of_the_distribution() -> None:
    assert importlib.metadata.version("glasstorch") == glasstorch.version.glasstorch
    assert glasstorch.__version__ == f"2.13.0+glasstorch.{glasstorch.version.glasstorch}"


def test_importing_loads_nothing_that_it_does_not_need() -> None:
    loaded = in_fresh_process("import glasstorch; print(json.dumps(sorted(sys.modules)))")
    roots = {name.partition(".")[0] for name in loaded}
    assert not roots & {"torch", "scipy", "yaml", "typer", "rich", "matplotlib", "pytest", "cupy"}
    assert not any(name.startswith("glasstorch.operators.gen.") for name in loaded)


def test_importing_changes_nothing_for_others() -> None:
    """NumPy's error settings, the warnings filters and the random state stay what they were."""
    same = in_fresh_process(
        "import random, warnings, numpy as np\n"
        "numbers = lambda: [random.getstate()[1][0], int(np.random.get_state()[1][0])]\n"
        "state = lambda: [np.geterr(), len(warnings.filters), numbers()]\n"
        "before = state()\n"
        "import glasstorch\n"
        "x = glasstorch.ones(2) / 0\n"
        "print(json.dumps(before == state()))"
    )
    assert same is True


def test_any_submodule_can_be_imported_first() -> None:
    names = ["glasstorch.core.dtype", "glasstorch.autograd", "glasstorch.nn", "glasstorch.optim", "glasstorch.library"]
    for name in names:
        assert in_fresh_process(f"import {name}, glasstorch; print(json.dumps(glasstorch.ones(1).tolist()))") == [1.0]


def test_every_offered_name_is_one_of_torch(require: Require) -> None:
    torch = require("torch")
    missing = [name for name in glasstorch.__all__ if not hasattr(torch, name)]
    assert not missing


def test_every_method_is_one_of_torch(require: Require) -> None:
    torch = require("torch")
    ours = {name for name in dir(glasstorch.Tensor) if not name.startswith("_")}
    of_the_record = {
        "array", "bump_version", "host_array", "is_row_major", "key_set", "read_through_bits", "set_geometry",
        "set_storage", "strides", "version_counter",
    }  # fmt: skip
    declared_as_methods = {"alias", "slice"}  # which PyTorch's declarations say too, and its bindings leave out
    of_the_array_standard = {"to_device"}
    allowed = of_the_record | declared_as_methods | of_the_array_standard
    assert {name for name in ours if not hasattr(torch.Tensor, name)} == allowed


def test_a_program_that_asks_for_a_gpu_goes_on_without() -> None:
    assert glasstorch.cuda.is_available() is False
    assert glasstorch.cuda.device_count() == 0


def test_the_jit_is_imported_when_it_is_first_asked_for_and_traces_then() -> None:
    assert in_fresh_process("import glasstorch as t; print(json.dumps('glasstorch.jit' in sys.modules))") is False
    table = "from glasstorch.dispatch.operator import registry; from glasstorch.core.keys import DispatchKey"
    code = f"import glasstorch\n{table}\nprint(json.dumps(registry.fallbacks[DispatchKey.Tracer].where))"
    assert in_fresh_process(code).startswith("_tracer.py:")  # it stands there all the same
    code = "import glasstorch as t; f = t.jit.trace(lambda x: x + 1, t.ones(2)); print(json.dumps(str(f.graph)))"
    assert "aten::add" in in_fresh_process(code)
