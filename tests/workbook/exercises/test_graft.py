"""Does a reader's piece carry the real library, whatever kind it is, and is it refused where it cannot?"""

from __future__ import annotations

import inspect
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import pytest

from tests.workbook.exercises.made import answer, make
from workbook.exercises.answer_file import AuthorError, Refused
from workbook.exercises.catalogue import Piece
from workbook.exercises.graft import Graft, times
from workbook.exercises.report import BROKEN, NOT_STARTED, PASSED, REFUSED, Refusal, Report

pytestmark = pytest.mark.ci  # each answer is judged in processes of its own

STRIDES = ("function", "glasstorch.core.geometry:contiguous_strides", "strides", "")
NUMEL = ("policy", "glasstorch.core.tensor_impl:TensorImpl.numel", "numel", "")
TANH = ("formula", "tanh.self", "tanh_grad", "")
SIGMOID = ("kernel", "aten::sigmoid", "sigmoid", "Autograd")
FOUR = """
import math
import glasstorch as torch
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.history import gradient_edge, set_history
from glasstorch.autograd.node import Node
from glasstorch.autograd.saved import SavedVariable
from glasstorch.core.keys import BELOW_AUTOGRAD
from glasstorch.operators.generated.registry import table

_sigmoid = table("sigmoid")

def strides(shape):
    return tuple(math.prod(size or 1 for size in shape[i + 1:]) for i in range(len(shape)))

def numel(self):
    return math.prod(self.shape)

def tanh_grad(grad, result):
    return grad * (1 - result * result)

class SigmoidBackward0(Node):
    def apply(self, grads):
        if grads[0] is None:
            return (None,)
        y = self.unpack(self.saved_result)
        return (grads[0] * y * (1 - y),)

    def release_variables(self):
        self.saved_result = None
        self.released = True

def sigmoid(keys, self):
    below = keys & BELOW_AUTOGRAD
    edge = gradient_edge(self) if grad_mode.get() and self._autograd_meta is not None else None
    if edge is None:
        return _sigmoid[below](below, self)
    node = SigmoidBackward0((edge,))
    result = _sigmoid[below](below, self)
    node.saved_result = SavedVariable(result, node, 0)
    set_history(result, node)
    return result
"""
CARRIED = """
import glasstorch as torch
from glasstorch.autograd.gradcheck import gradcheck, gradgradcheck

def leaf():
    return torch.tensor([[0.3, -1.2], [0.5, 2.0]], dtype=torch.float64, requires_grad=True)

def test_shapes():
    assert torch.empty(2, 0, 3).stride() == (3, 3, 1)
    assert torch.empty(2, 3).nbytes == 24

def test_tanh_and_its_second_derivative():
    assert gradcheck(torch.tanh, (leaf(),)) and gradgradcheck(torch.tanh, (leaf(),))
    y = (leaf() * 2).tanh_()
    y.sum().backward()
    assert "_saved_self" not in dir(torch.tanh(leaf()).grad_fn)

def test_sigmoid_and_its_second_derivative():
    assert torch.sigmoid(leaf()).requires_grad
    assert gradcheck(torch.sigmoid, (leaf(),)) and gradgradcheck(torch.sigmoid, (leaf(),))
"""
PRODUCT = """
import glasstorch as torch

def test_a_product():
    x, y = torch.tensor([2.0], requires_grad=True), torch.tensor([5.0], requires_grad=True)
    (x * y).backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([5.0], [2.0])
"""
TANH_ONLY = """
import glasstorch as torch

def test_the_gradient_of_tanh_at_one_place():
    x = torch.tensor([0.5], requires_grad=True)
    torch.tanh(x).backward()
    assert abs(x.grad.item() - 0.78644773) < 1e-6
"""


def graft(root: Path, text: str, *pieces: tuple[str, str, str, str], test: str = CARRIED) -> Report:
    """What rung 3 says of this answer."""
    make(root, pieces, test=test)
    return answer(root, text, "graft")


def refusal(report: Report, outcome: str = REFUSED) -> Refusal:
    """Why it did not pass."""
    result = report.rungs[0]
    assert result.outcome == outcome, result
    assert result.refusal is not None
    return result.refusal


def test_all_four_kinds_are_replaced_and_called(tmp_path: Path) -> None:
    report = graft(tmp_path, FOUR, STRIDES, NUMEL, TANH, SIGMOID)
    result = report.rungs[0]
    assert (result.outcome, result.refusal) == (PASSED, None)
    assert result.tests == 3
    assert result.calls is not None
    assert all(count > 0 for count in result.calls.values())
    told = [sentence.partition("; ")[0] for sentence in result.replaced]
    assert told == [
        "contiguous_strides of glasstorch/core/geometry.py is yours",
        "the decision TensorImpl.numel of glasstorch/core/tensor_impl.py is yours",
        "the derivative of tanh by self is yours: its node TanhBackward0 saves result",
        "the Autograd kernel of aten::sigmoid is yours",
    ]


@pytest.mark.parametrize(
    ("piece", "wrong", "right"),
    [
        (STRIDES, "strides(shape):\n    return (9,) * len(shape)", "test_shapes"),
        (NUMEL, "numel(self):\n    return 1", "test_shapes"),
        (TANH, "tanh_grad(grad, result):\n    return grad * (2 - result * result)", "test_tanh"),
        (
            SIGMOID,
            "sigmoid(keys, self):\n    return _sigmoid[keys & BELOW_AUTOGRAD](keys & BELOW_AUTOGRAD, self)",
            "sig",
        ),
    ],
)
def test_a_wrong_piece_of_each_kind_breaks_the_library(
    tmp_path: Path, piece: tuple[str, str, str, str], wrong: str, right: str
) -> None:
    report = graft(tmp_path, f"{FOUR}\ndef {wrong}\n", piece)
    told = refusal(report)
    assert told.asked.startswith(right.removeprefix("test_")[:3])
    assert "answer.py" not in told.came


def test_what_failed_is_told_by_test_assertion_and_line(tmp_path: Path) -> None:
    wrong = "def tanh_grad(grad, result):\n    return grad\n"
    told = refusal(graft(tmp_path, wrong, TANH, test=TANH_ONLY))
    assert told.asked == "the gradient of tanh at one place"
    assert told.input == "a test of the library, test_carried.py"
    assert told.accepted == "assert abs(x.grad.item() - 0.78644773) < 1e-6"
    assert told.came.startswith("assert 0.21355")
    raising = "def tanh_grad(grad, result):\n    return grad * result.no_such_thing\n"
    told = refusal(graft_again(tmp_path, raising))
    assert told.line == 2
    assert told.trace == ("line 2, in tanh_grad: return grad * result.no_such_thing",)


def test_the_values_that_differ_are_shown_whole(tmp_path: Path) -> None:
    huge = "def strides(shape):\n    return (36028797421617153, 36028797421617154, 36028797421617155, 1)\n"
    test = (
        "import glasstorch as torch\n\ndef test_it():\n    assert torch.empty(2, 3, 4, 5).stride() == (60, 20, 5, 1)\n"
    )
    told = refusal(graft(tmp_path, huge, STRIDES, test=test))
    values = "(36028797421617153, 36028797421617154, 36028797421617155, 1)"
    assert told.came.splitlines()[:2] == [
        f"assert {values} == (60, 20, 5, 1)",
        "At index 0 diff: 36028797421617153 != 60",
    ]
    assert "Full diff" not in told.came


def graft_again(root: Path, text: str) -> Report:
    """Rung 3 with another answer to the exercise that is there."""
    return answer(root, text, "graft")


def test_a_piece_that_is_never_called_is_refused(tmp_path: Path) -> None:
    told = refusal(graft(tmp_path, FOUR, TANH, STRIDES, test="def test_nothing():\n    pass\n"))
    assert told.came == "tanh_grad took the place of its counterpart, but the library never called it"


def test_a_piece_that_only_the_tests_call_is_refused(tmp_path: Path) -> None:
    itself = "from glasstorch.core import geometry\n\ndef test_it():\n    geometry.contiguous_strides((2, 3))\n"
    report = graft(tmp_path, FOUR, STRIDES, test=itself)
    assert refusal(report).came == "strides took the place of its counterpart, but the library never called it"
    assert report.rungs[0].calls == {"strides": 0}
    both = f"import glasstorch\n{itself}    glasstorch.empty(4, 5).stride()\n"
    (tmp_path / "tests" / "test_carried.py").write_text(both)
    result = graft_again(tmp_path, FOUR).rungs[0]
    assert result.calls == {"strides": 1}
    assert result.replaced[0].endswith("; it was called once by the library, once by its tests")


def test_a_kernel_and_a_formula_are_called_by_the_library_only(tmp_path: Path) -> None:
    sentences = graft(tmp_path, FOUR, TANH, SIGMOID).rungs[0].replaced
    assert [sentence.rpartition(" ")[2] for sentence in sentences] == ["library", "library"]


def test_skipped_tests_count_as_nothing(tmp_path: Path) -> None:
    skips = "import pytest\n\ndef test_it():\n    pytest.skip('no tool')\n"
    told = refusal(graft(tmp_path, FOUR, STRIDES, test=skips), BROKEN)
    assert told.came == "[carries] tests: no test ran (1 skipped: Skipped: no tool)"


def test_of_a_pair_of_tests_only_the_one_without_pytorch_runs(tmp_path: Path) -> None:
    pair = (
        "import pytest\nimport importlib\n\n"
        "@pytest.mark.parametrize('torch', ['glasstorch', 'torch'])\ndef test_it(torch):\n"
        "    assert importlib.import_module(torch).empty(2, 3).stride() == (3, 1)\n"
    )
    result = graft(tmp_path, FOUR, STRIDES, test=pair).rungs[0]
    assert (result.outcome, result.tests) == (PASSED, 1)


def test_an_answer_that_reaches_its_counterpart_through_the_library_is_refused(tmp_path: Path) -> None:
    loops = "import glasstorch as torch\n\ndef strides(shape):\n    return torch.empty(shape).stride()\n"
    told = refusal(graft(tmp_path, loops, STRIDES))
    assert told.because.startswith("the library's functions that your answer calls need strides")
    assert told.line == 4


def test_an_endless_recursion_of_its_own_is_told_as_such(tmp_path: Path) -> None:
    told = refusal(graft(tmp_path, "def strides(shape):\n    return strides(shape)\n", STRIDES))
    assert told.came.startswith("RecursionError")
    assert told.because == ""


def test_an_answer_that_calls_its_counterpart_is_refused_whatever_it_catches(tmp_path: Path) -> None:
    catches = """
        from glasstorch.autograd.generated import autograd_kernels

        def sigmoid(keys, self):
            try:
                return autograd_kernels.sigmoid(keys, self)
            except AssertionError:
                return self
        """
    told = refusal(graft(tmp_path, catches, SIGMOID))
    assert told.came == "your answer calls the piece that it replaces (aten::sigmoid)"


def test_ending_the_process_inside_the_library_is_told(tmp_path: Path) -> None:
    assert (
        refusal(graft(tmp_path, "def strides(shape):\n    raise SystemExit\n", STRIDES)).came == "it called sys.exit()"
    )


def test_a_stub_is_not_started_inside_the_library_either(tmp_path: Path) -> None:
    told = refusal(graft(tmp_path, "def strides(shape):\n    raise NotImplementedError\n", STRIDES), NOT_STARTED)
    assert told.came.startswith("strides is not written yet")


def test_a_test_file_that_the_answer_keeps_from_loading_is_a_refusal(tmp_path: Path) -> None:
    early = f"import glasstorch as torch\n\nSTRIDE = torch.empty(2, 3).stride()\n{CARRIED}"
    told = refusal(graft(tmp_path, "def strides(shape):\n    return shape[9]\n", STRIDES, test=early))
    assert told.asked == "that test_carried.py can be imported"
    assert (told.came, told.line) == ("IndexError: tuple index out of range", 2)


HYPOTHESIS = """
from hypothesis import given, strategies
import glasstorch as torch

@given(strategies.integers(2, 9))
def test_rows_are_one_after_the_other(rows):
    assert torch.empty(rows, 3).stride(0) == 3
"""


def test_an_example_that_hypothesis_finds_is_shown(tmp_path: Path) -> None:
    wrong = "def strides(shape):\n    return (3 if shape[0] < 5 else 4, 1)\n"
    told = refusal(graft(tmp_path, wrong, STRIDES, test=HYPOTHESIS))
    assert told.came.splitlines()[0] == "assert 4 == 3"
    assert "    rows=5," in told.input.splitlines()


def test_an_answer_that_is_not_the_same_twice_is_told_without_hypothesis(tmp_path: Path) -> None:
    moody = "calls = []\n\ndef strides(shape):\n    calls.append(1)\n    return (3 if len(calls) != 5 else 4, 1)\n"
    told = refusal(graft(tmp_path, moody, STRIDES, test=HYPOTHESIS))
    assert told.came == "the same call did not give the same result twice"


def test_a_formula_that_names_what_is_not_there_is_refused(tmp_path: Path) -> None:
    told = refusal(graft(tmp_path, "def tanh_grad(grad, output):\n    return grad\n", TANH))
    assert told.came == "tanh_grad(grad, output): there is nothing called output"
    assert told.accepted == "parameters among grad, grads, self and result"
    assert told.line == 1


def test_formulas_for_several_arguments_of_one_operator_stand_together(tmp_path: Path) -> None:
    text = "def by_self(grad, other):\n    return grad * other\n\ndef by_other(grad, self):\n    return grad * self\n"
    pieces = [("formula", f"mul.Tensor.{argument}", f"by_{argument}", "") for argument in ("self", "other")]
    result = graft(tmp_path, text, *pieces, test=PRODUCT).rungs[0]
    assert result.outcome == PASSED, result.refusal
    assert result.calls is not None
    assert set(result.calls) == {"by_self", "by_other"}
    assert [sentence.partition("; ")[0] for sentence in result.replaced] == [
        "the derivative of mul.Tensor by self is yours: its node MulBackward0 saves other",
        "the derivative of mul.Tensor by other is yours: its node MulBackward0 saves self",
    ]
    told = refusal(graft(tmp_path / "one", text.replace("* self", "* 0"), *pieces, test=PRODUCT))
    assert told.came.startswith("assert ([5.0], [0.0]) == ([5.0], [2.0")


def test_a_formula_may_take_a_fact_and_keyword_arguments(tmp_path: Path) -> None:
    text = (
        "def tanh_grad(grad, *, self_shape, result):\n    return (grad * (1 - result * result)).reshape(self_shape)\n"
    )
    result = graft(tmp_path, text, TANH, test=TANH_ONLY).rungs[0]
    assert result.outcome == PASSED
    assert result.replaced[0].startswith(
        "the derivative of tanh by self is yours: its node TanhBackward0 saves self.shape and result"
    )


@pytest.mark.parametrize(
    ("kind", "target", "key", "problem"),
    [
        ("function", "glasstorch.core.geometri:strides", "", "there is no module glasstorch.core.geometri"),
        ("function", "glasstorch.core.geometry:no_such", "", "glasstorch.core.geometry has no no_such"),
        ("function", "glasstorch.core.geometry:Size", "", "Size of glasstorch.core.geometry is a type, not a function"),
        ("policy", "glasstorch.core.geometry:Sise.numel", "", "glasstorch.core.geometry has no Sise"),
        ("kernel", "aten::tanhh", "CPU", "there is no operator 'aten::tanhh'"),
        ("kernel", "aten::tanh", "GPU", "there is no dispatch key 'GPU'"),
        ("kernel", "aten::tanh", "Tracer", "aten::tanh has no Tracer kernel; it has kernels for "),
        ("formula", "tanh.other", "", "tanh has no formula for 'other'; it has one for each of: self"),
        ("formula", "tanhh.self", "", "derivatives.yaml has no row for 'tanhh'"),
    ],
)
def test_a_target_that_is_not_there_is_the_authors_error(
    tmp_path: Path, kind: str, target: str, key: str, problem: str
) -> None:
    told = refusal(graft(tmp_path, FOUR.replace("def numel", "def piece"), (kind, target, "piece", key)), BROKEN)
    assert told.came.startswith(f"exercise.toml: [[graft]] kind = {kind!r} target = {target!r}")
    assert problem in told.came


# --- trampolines, without the library ---


@pytest.fixture
def module() -> ModuleType:
    """A module of a library, with a function that is cached, and a caller of it."""
    made = ModuleType("library.shapes")
    exec("def area(width, height=2):\n    'How large.'\n    return width * height\n", made.__dict__)
    made.__dict__["area"] = lru_cache(made.__dict__["area"])
    return made


def grafted(module: ModuleType, text: str, *, watching: bool = False) -> Graft:
    """A graft in force in the module, with the reader's module loaded."""
    graft = Graft([Piece("function", "library.shapes:area", "mine")], Path("answer.py"), watching=watching)
    graft.loaded(module.__name__, module)
    reader = ModuleType("answer")
    exec(compile(text, "answer.py", "exec"), reader.__dict__)
    if not watching:
        graft.module = reader
    sys.modules.pop("answer", None)
    return graft


def test_a_trampoline_keeps_name_signature_and_cache_methods_and_hides_the_counterpart(module: ModuleType) -> None:
    grafted(module, "def mine(width, height=2):\n    return 7\n")
    area = vars(module)["area"]
    assert (area.__name__, area.__doc__) == ("area", "How large.")
    assert str(inspect.signature(area)) == "(width, height=2)"
    assert area.cache_clear() is None
    assert not hasattr(area, "__wrapped__")
    assert area(3) == 7


def test_calls_are_counted(module: ModuleType) -> None:
    graft = grafted(module, "def mine(width, height=2):\n    return 7\n")
    for _ in range(3):
        vars(module)["area"](1)
    exec("area(1)", {"__name__": "glasstorch.core.made", "area": vars(module)["area"]})
    assert (graft.calls, graft.others) == ({"mine": 1}, {"mine": 3})
    told = "area of library/shapes.py is yours; it was called once by the library, 3 times by its tests"
    assert graft.told() == (told,)


def test_while_watching_the_counterpart_answers_and_nothing_is_counted(module: ModuleType) -> None:
    graft = grafted(module, "def mine(width):\n    return 7\n", watching=True)
    assert vars(module)["area"](3) == 6
    assert (graft.calls, graft.others) == ({"mine": 0}, {"mine": 0})


def test_a_call_from_the_answer_is_refused_also_while_watching(module: ModuleType) -> None:
    graft = grafted(module, "", watching=True)
    space = {"area": vars(module)["area"]}
    with pytest.raises(Refused):
        exec(compile("\narea(1)", "answer.py", "exec"), space)
    assert graft.refusal is not None
    assert graft.refusal.line == 2


def test_static_methods_and_methods_are_replaced_in_their_class() -> None:
    made = ModuleType("library.pool")
    text = (
        "class Pool:\n    @staticmethod\n    def choose(a):\n        return a\n    def best(self):\n        return 1\n"
    )
    exec(text, made.__dict__)
    for name, expected in (("choose", 5), ("best", 6)):
        graft = Graft([Piece("policy", f"library.pool:Pool.{name}", name)], Path("answer.py"))
        graft.loaded(made.__name__, made)
        graft.module = ModuleType("answer")
        graft.module.__dict__.update(choose=lambda a: 5, best=lambda self: 6)
        pool = vars(made)["Pool"]()
        assert (pool.choose(1) if name == "choose" else pool.best()) == expected


def test_what_is_no_function_is_the_authors_error() -> None:
    made = ModuleType("library.shapes")
    made.__dict__["area"] = 5
    graft = Graft([Piece("function", "library.shapes:area", "mine")], Path("answer.py"))
    with pytest.raises(AuthorError, match=r"area of library\.shapes is an int, not a function"):
        graft.loaded(made.__name__, made)


def test_a_piece_that_is_missing_or_no_function_is_refused() -> None:
    piece = Piece("function", "library.shapes:area", "mine")
    reader = ModuleType("answer")
    with pytest.raises(Refused) as missing:
        Graft([piece], Path("answer.py")).reader_function(reader, piece)
    assert missing.value.refusal.came == "answer.py has no mine; it defines nothing"
    reader.__dict__["mine"] = 3
    with pytest.raises(Refused) as number:
        Graft([piece], Path("answer.py")).reader_function(reader, piece)
    assert number.value.refusal.came == "mine is an int: 3"


def test_counts_are_said_in_words() -> None:
    assert [times(n) for n in (0, 1, 2, 1234)] == ["not once", "once", "2 times", "1,234 times"]
