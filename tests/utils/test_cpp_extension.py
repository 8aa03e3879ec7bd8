"""Does C++ code of a program do with glasstorch what it does with PyTorch?

The tests that ask for `built` run on `_cpp/program.cpp`, compiled once against our headers and, where slow tests run,
once against PyTorch's.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import glasstorch
from glasstorch.devices import cpp_compiler
from glasstorch.utils._cpp import abi, calls
from glasstorch.utils.cpp_extension import include_paths, library_paths, load, load_inline

SOURCE = Path(__file__).parent / "_cpp" / "program.cpp"
# A library of one plain function: compiled in a moment, as it includes nothing.
PLAIN = 'extern "C" int answer() { return 42; }\n'


@pytest.fixture(scope="module", params=["glasstorch", pytest.param("torch", marks=pytest.mark.slow)])
def built(request: pytest.FixtureRequest, require: Callable[[str], Any]) -> tuple[Any, Any]:
    """A library, and the module of C++ that was compiled for it."""
    require("g++")
    torch = require(request.param)
    if torch is not glasstorch:
        require("ninja")
    return torch, import_module(f"{torch.__name__}.utils.cpp_extension").load("cpp_program", [str(SOURCE)])


@pytest.fixture(scope="module")
def ours(require: Callable[[str], Any]) -> ModuleType:
    """The module for glasstorch alone."""
    require("g++")
    module = load("cpp_program", [str(SOURCE)])
    assert isinstance(module, ModuleType)
    return module


# Functions ----------------------------------------------------------------------------------------------------------


def test_operators_of_the_language_and_of_the_library_are_called(built: Any) -> None:
    torch, program = built
    a, b = torch.arange(6.0).view(2, 3) - 2, torch.full((2, 3), 2.0)
    c = (a + b - 1) * 2 / b
    expected = [
        *(a + b, a - b, a * b, a / b, 1 + a, 1 - a, 2 * a, 2 / a, a + 1, a - 1, a * 2, a / 2, -a, a < b, a == b, c),
        *(a[0], a.sum(0), a.sum(), a.mean(0, True), a.T, a @ b.T, torch.stack([a, b]), torch.where(a > 0, a, b)),
        *(a.int(), a[:, 0], a**2, a.max(), a.max(0)[1], a.clamp(0, 1), a.relu(), a + 2 * b, a.softmax(-1)),
        *(torch.cat([a, b], 1), a.view(-1), a.permute(1, 0), a[:1]),
    ]
    found = program.arithmetic(a, b)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        torch.testing.assert_close(one, other)


def test_tensors_are_made(built: Any) -> None:
    torch, program = built
    expected = [
        *(torch.zeros(2, 3), torch.ones(2, dtype=torch.int32), torch.full((2,), 1.5), torch.arange(3)),
        *(torch.arange(0, 1, 0.5), torch.eye(2, dtype=torch.float64), torch.empty(0), torch.tensor([1.5, 2.5])),
        *(torch.tensor([1, 2]), torch.tensor(3.5, dtype=torch.float64), torch.linspace(0, 1, 3), torch.zeros(2)),
        *(torch.tensor([[1.0, 2], [3, 4]]), torch.ones(2, requires_grad=True), torch.tensor([True, False])),
    ]
    found = program.made()
    assert [(x.dtype, x.tolist(), x.requires_grad) for x in found] == [
        (x.dtype, x.tolist(), x.requires_grad) for x in expected
    ]


def test_a_tensor_tells_of_itself(built: Any) -> None:
    torch, program = built
    x = torch.arange(6.0).view(2, 3)
    assert program.described(x) == "[2, 3] [3, 1] float Float cpu 6 4 0 1 CPUFloatType 111 24"
    assert program.described(x.double()[1:]) == "[1, 3] [3, 1] double Double cpu 3 8 3 1 CPUDoubleType 111 24"
    assert program.described(x.T.long()) == "[3, 2] [1, 3] long int Long cpu 6 8 0 0 CPULongType 011 48"


def test_elements_are_read_by_their_indices(built: Any) -> None:
    torch, program = built
    x = torch.arange(6.0, dtype=torch.float64).view(2, 3)
    assert program.sum_of(x.T[1:]) == 12.0  # 1 + 4 + 2 + 5, and their strides are not those of a new tensor


def test_sizes_that_are_held_stay_and_those_of_a_changed_tensor_are_new(built: Any) -> None:
    torch, program = built
    x = torch.ones(2, 3)
    assert program.sizes_over_time(x) == [2, 3, 1, 2, 3, 2]
    assert x.shape == (1, 2, 3)


def test_a_tensor_that_is_returned_is_the_one_that_was_given(built: Any) -> None:
    torch, program = built
    x = torch.ones(2)
    assert program.same(x) is x


def test_arguments_are_taken_as_pybind11_takes_them(built: Any) -> None:
    torch, program = built
    assert (program.chosen(2), program.chosen(2.5), program.chosen(True)) == ("integer 2", "float 2.5", "integer 1")
    assert program.elements_from(1, [2, 3], None) == 6.5
    assert program.elements_from(1.5, (2,), 4) == 7.5
    x = torch.ones(2)
    first, number = program.pair(x, 3)
    assert isinstance(program.pair(x, 3), tuple)
    assert (first.tolist(), number) == ([4.0, 4.0], 3)
    assert program.square(x=x, factor=2).tolist() == program.square(x, 2.0).tolist() == [2.0, 2.0]
    assert program.square(x).tolist() == [1.0, 1.0]
    assert program.keep(x) is None


INT = "typing.SupportsInt | typing.SupportsIndex"
FLOAT = "typing.SupportsFloat | typing.SupportsIndex"


def test_what_does_not_fit_is_refused_in_the_words_of_pybind11(built: Any) -> None:
    torch, program = built
    head = "incompatible function arguments. The following argument types are supported:\n"
    for call, words in (
        (
            lambda: program.square(2),
            f"square(): {head}    1. (x: torch.Tensor, factor: {FLOAT} = 1.0) -> torch.Tensor\n\nInvoked with: 2",
        ),
        (
            lambda: program.chosen("a", b=3),
            (
                f"chosen(): {head}    1. (arg0: {INT}) -> str\n    2. (arg0: {FLOAT}) -> str\n\n"
                f"Invoked with: 'a'; kwargs: b=3"
            ),
        ),
        (
            lambda: program.elements_from(n=1),
            (
                f"elements_from(): {head}    1. (arg0: {FLOAT}, arg1: collections.abc.Sequence[{INT}], "
                f"arg2: {FLOAT} | None) -> float\n\nInvoked with: kwargs: n=1"
            ),
        ),
        (
            lambda: program.pair(torch.ones(0), 1.5),
            (
                f"pair(): {head}    1. (arg0: torch.Tensor, arg1: {INT}) -> tuple[torch.Tensor, int]\n\n"
                f"Invoked with: tensor([]), 1.5"
            ),
        ),
    ):
        with pytest.raises(TypeError) as refused:
            call()
        assert str(refused.value) == words


def test_a_module_shows_its_help(built: Any) -> None:
    _, program = built
    assert (program.__name__, program.__doc__, program.version) == ("cpp_program", "What the tests call.", 3)
    assert program.square.__name__ == "square"
    assert program.square.__module__ == "cpp_program"
    assert program.square.__doc__.strip() == (
        f"square(x: torch.Tensor, factor: {FLOAT} = 1.0) -> torch.Tensor\n\nx * x * factor"
    )
    assert program.chosen.__doc__.strip() == (
        f"chosen(*args, **kwargs)\nOverloaded function.\n\n1. chosen(arg0: {INT}) -> str\n\n2. chosen(arg0: {FLOAT})"
        " -> str"
    )


@pytest.mark.parametrize(
    ("how", "kind", "words"),
    [
        ("check", RuntimeError, "no check 3"),
        ("index", IndexError, "out of range"),
        ("value", ValueError, "a value"),
        ("type", TypeError, "a type"),
        ("not implemented", NotImplementedError, "not yet"),
        ("runtime_error", RuntimeError, "plain"),
        ("out_of_range", IndexError, "far"),
        ("invalid_argument", ValueError, "odd"),
        ("number", RuntimeError, "Caught an unknown exception!"),
        ("at error", RuntimeError, "at 7"),
        ("view", RuntimeError, "shape '[3]' is invalid for input of size 2"),
        ("data_ptr", RuntimeError, "expected scalar type Double but found Float"),
        ("accessor", RuntimeError, "TensorAccessor expected 2 dims but tensor has 1"),
        (
            "undefined",
            RuntimeError,
            "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument",
        ),
        ("size", IndexError, "Dimension out of range (expected to be in range of [-1, 0], but got 4)"),
        ("item", RuntimeError, "a Tensor with 2 elements cannot be converted to Scalar"),
        ("dispatch", NotImplementedError, "\"mine\" not implemented for 'Long'"),
        ("schema", RuntimeError, ""),
    ],
)
def test_an_exception_of_cpp_is_one_of_python(built: Any, how: str, kind: type[Exception], words: str) -> None:
    _, program = built
    with pytest.raises(kind) as raised:
        program.fails(how)
    assert str(raised.value).startswith(words)
    assert program.caught() == "caught"


def test_a_warning_of_cpp_is_one_of_python(ours: Any) -> None:
    with pytest.warns(UserWarning, match="careful: a step") as found:
        ours.warn("a step")
    assert found[0].filename == __file__


# Autograd -----------------------------------------------------------------------------------------------------------


def test_a_function_with_its_own_backward_has_right_gradients(built: Any) -> None:
    """Document 004's "custom operators in C++ by torch::autograd::Function"; checked against differences."""
    torch, program = built
    x = torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64, requires_grad=True)
    y = program.square(x, 3.0)
    y.sum().backward()
    assert x.grad.tolist() == [6.0, -12.0, 18.0]
    assert torch.autograd.gradcheck(lambda x: program.square(x, 2.0), x)
    assert torch.autograd.gradgradcheck(lambda x: program.square(x, 2.0), x)


def test_a_function_in_cpp_does_what_its_python_form_does(built: Any) -> None:
    torch, program = built

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float) -> Any:
            ctx.save_for_backward(x)
            ctx.factor = factor
            return x * x * factor

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.saved_tensors[0] * 2 * ctx.factor, None

    x = torch.linspace(-2, 2, 5).requires_grad_()
    results = []
    for function in (program.square, Square.apply):
        y = function(x, 0.5)
        (gradient,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(gradient.sum(), x)
        results.append((y.tolist(), gradient.tolist(), second.tolist()))
    assert results[0] == results[1]


def test_its_node_has_pytorchs_names(built: Any) -> None:
    torch, program = built
    y = program.square(torch.ones(1, requires_grad=True))
    assert y.grad_fn.name() == "torch::autograd::CppNode<Square>"
    assert repr(y.grad_fn).startswith("<CppFunction object at 0x")
    assert repr(type(y.grad_fn)) == "<class 'CppFunction'>"
    assert repr(y) == "tensor([1.], grad_fn=<CppNode<Square>>)"
    assert program.square(torch.ones(1)).grad_fn is None


def test_a_second_backward_through_it_is_refused(built: Any) -> None:
    torch, program = built
    y = program.square(torch.ones(1, requires_grad=True))
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_a_saved_tensor_that_was_changed_is_refused(built: Any) -> None:
    torch, program = built
    x = torch.ones(2, requires_grad=True) * 1
    y = program.square(x).sum()
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_wrong_numbers_of_gradients_are_refused(built: Any) -> None:
    torch, program = built
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError) as few:
        program.too_few(x, 2.0).sum().backward()
    assert str(few.value) == (
        "function torch::autograd::CppNode<TooFew> returned an incorrect number of gradients (expected 2, got 1)"
    )
    with pytest.raises(RuntimeError) as number:
        program.for_a_number(x, 2.0).sum().backward()
    assert str(number.value) == (
        "function torch::autograd::CppNode<ForANumber> returned a gradient different that is defined at position 2, "
        "std the corresponding forward input was not a Variable"
    )


def test_results_without_gradient_and_optional_arguments(built: Any) -> None:
    torch, program = built
    x, y = torch.tensor([1.0, -1.0], requires_grad=True), torch.ones(2, requires_grad=True)
    total, sign = program.parts(x, y)
    assert (total.requires_grad, sign.requires_grad, sign.tolist()) == (True, False, [1, 0])
    total.sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([1.0, 1.0], [2.0, 2.0])
    program.parts(x.detach(), y)[0].sum().backward()
    assert y.grad.tolist() == [4.0, 4.0]


def test_no_gradient_goes_to_the_elements_of_a_list(built: Any) -> None:
    torch, program = built
    x = torch.ones(2, requires_grad=True)
    assert not program.of_a_list([x, x]).requires_grad


def test_an_argument_that_forward_changed_is_marked(built: Any) -> None:
    torch, program = built
    leaf = torch.ones(2, requires_grad=True)
    x = leaf * 3
    version = x._version
    y = program.doubled_(x)
    assert y is x
    assert x._version > version
    x.sum().backward()
    assert leaf.grad.tolist() == [6.0, 6.0]


def test_guards_hold_until_the_end_of_their_block(built: Any) -> None:
    torch, program = built
    assert program.recorded(torch.ones(1, requires_grad=True)) == [True, False, False, True, False]
    assert torch.is_grad_enabled()


def test_backward_can_be_called_in_cpp(built: Any) -> None:
    torch, program = built
    assert program.gradient_of_squares(torch.tensor([1.0, 2.0])).tolist() == [2.0, 4.0]


# Operators ----------------------------------------------------------------------------------------------------------


def test_the_operator_of_document_001_runs_in_three_dtypes(built: Any) -> None:
    torch, _ = built
    for dtype in (torch.float16, torch.float32, torch.float64):
        a, b = torch.arange(6, dtype=dtype).view(2, 3).T, torch.full((3, 2), 0.1, dtype=dtype)
        result = torch.ops.my_ops.add(a, b)
        assert result.dtype == dtype
        assert result.tolist() == (a + b).tolist()
    with pytest.raises(NotImplementedError, match="\"my_fast_add\" not implemented for 'Long'"):
        torch.ops.my_ops.add(torch.ones(1, dtype=torch.int64), torch.ones(1, dtype=torch.int64))
    with pytest.raises(RuntimeError, match=r"my_ops::add: sizes \[1\] and \[2\]"):
        torch.ops.my_ops.add(torch.ones(1), torch.ones(2))
    assert torch.ops.my_ops.add(torch.ones(2, device="meta"), torch.ones(2, device="meta")).shape == (2,)


def test_schemas_are_read_or_found_in_the_signature(built: Any) -> None:
    torch, _ = built
    schemas = {
        "add": "(Tensor a, Tensor b) -> Tensor",
        "fill_one_": "(Tensor(a!) x) -> Tensor(a!)",
        "types": (
            "(Tensor _0, int _1, Tensor? _2, int[] _3, str _4, float _5, bool _6, Tensor[] _7, Scalar _8) -> int _0"
        ),
        "both_ways": "(Tensor _0) -> (Tensor _0, Tensor _1)",
    }
    for name, schema in schemas.items():
        assert str(getattr(torch.ops.my_ops, name).default._schema) == f"my_ops::{name}{schema}"


def test_values_of_every_type_pass(built: Any) -> None:
    torch, _ = built
    x, o = torch.ones(2), torch.ops.my_ops
    assert o.types(x, 3, None, [1, 1], "abc", 2.5, True, [x], 4) == 2 + 3 + 2 + 3 + 1 + 1000 + 2 + 4
    assert o.types(x, 3, x, [], "", 0.0, False, [], 4.0) == 2 + 3 + 100 + 4
    assert [y.tolist() for y in o.both_ways(x)] == [[2.0, 2.0], [0.0, 0.0]]
    assert [y.tolist() for y in o.halves(x)] == [[1.0], [1.0]]
    assert o.scaled(x).tolist() == [2.0, 2.0]
    assert o.scaled(x, 3.0, sizes=[2, 1], again=True).tolist() == [[9.0], [9.0]]
    assert o.fill_one_(x.zero_()) is x
    assert x.tolist() == [1.0, 1.0]
    assert o.late(x).tolist() == [2.0, 2.0]


def test_keys_have_the_kernels_that_were_registered(built: Any) -> None:
    torch, _ = built
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    keys = ("CPU", "Meta", "CUDA", "AutogradCPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd")
    found = {name: [key for key in keys if has(f"my_ops::{name}", key)] for name in ("add", "cube", "scaled", "late")}
    assert found == {
        "add": ["CPU", "Meta"],
        "cube": ["CPU"],
        "scaled": ["CompositeImplicitAutograd"],
        "late": ["CompositeExplicitAutograd"],
    }
    assert "program.cpp:" in torch._C._dispatch_dump("my_ops::add")


def test_an_operator_with_an_autograd_kernel_is_right(built: Any) -> None:
    torch, _ = built
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(torch.ops.my_ops.cube, x)
    assert torch.autograd.gradgradcheck(torch.ops.my_ops.cube, x)
    assert torch.ops.my_ops.cube(x).grad_fn.name() == "torch::autograd::CppNode<Cube>"
    tests = ("test_schema", "test_autograd_registration")
    assert set(torch.library.opcheck(torch.ops.my_ops.cube.default, (x,), test_utils=tests).values()) == {"SUCCESS"}
    y = torch.ones(2)
    tests = ("test_schema", "test_faketensor")
    assert set(torch.library.opcheck(torch.ops.my_ops.add.default, (y, y), test_utils=tests).values()) == {"SUCCESS"}


def test_it_runs_under_a_mode(built: Any) -> None:
    torch, program = built
    mode_class = import_module(f"{torch.__name__}.utils._python_dispatch").TorchDispatchMode
    seen: list[str] = []

    class Seen(mode_class):  # type: ignore[misc, valid-type]
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    x = torch.ones(1)
    with Seen():
        torch.ops.my_ops.cube(x)
        program.square(x)
    assert seen[0] == "my_ops.cube.default"
    assert seen[1].startswith("aten.mul.")


# What is our own ----------------------------------------------------------------------------------------------------


def test_an_exception_of_python_passes_through_cpp_as_itself(ours: Any) -> None:
    class Own(Exception):
        pass

    raised = Own("mine")

    def refuse(x: Any) -> Any:
        raise raised

    with glasstorch.library.Library("my_ops", "IMPL") as library:
        library.impl("cube", refuse, "CPU", allow_override=True)
        with pytest.raises(Own) as found:
            glasstorch.ops.my_ops.cube(glasstorch.ones(1, requires_grad=True))
    assert found.value is raised
    assert not calls._thread.raised


def test_nothing_is_kept_after_a_call(ours: Any) -> None:
    ours.keep(glasstorch.ones(1))
    gc.collect()
    before = len(abi.tensors)
    x = glasstorch.ones(2, requires_grad=True)
    ours.square(x).sum().backward()
    with pytest.raises(RuntimeError):
        ours.fails("view")
    kept = ours.square(x)
    glasstorch.ops.my_ops.halves(x.detach())
    assert kept.grad_fn is not None
    del kept
    gc.collect()
    assert len(abi.tensors) == before


def test_threads_call_at_once(ours: Any) -> None:
    wrong: list[object] = []

    def work(number: float) -> None:
        for _ in range(50):
            x = glasstorch.full((3,), number, requires_grad=True)
            ours.square(x, 2.0).sum().backward()
            assert x.grad is not None
            sums = glasstorch.ops.my_ops.add(x.detach(), x.detach()).tolist()
            if x.grad.tolist() != [4 * number] * 3 or sums != [2 * number] * 3:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(float(n),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_compiled_library_is_loaded_by_its_path(ours: Any, program: Callable[..., Path]) -> None:
    """In another process, which ends although a tensor is kept in a static variable."""
    path = program(
        f"""
        import glasstorch as torch
        from glasstorch.utils._cpp.loading import import_module
        from pathlib import Path

        torch.ops.load_library({ours.__file__!r})
        torch.ops.load_library({ours.__file__!r})
        assert {ours.__file__!r} in torch.ops.loaded_libraries
        print(torch.ops.my_ops.add(torch.ones(2), torch.ones(2)).tolist())
        import_module("cpp_program", Path({ours.__file__!r})).keep(torch.ones(1))
        """.replace("\n        ", "\n")
    )
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[2.0, 2.0]\n", "")


def test_a_library_for_another_version_is_refused(ours: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    library = next(iter(import_module("glasstorch.utils._cpp.loading")._started.values()))
    monkeypatch.setattr(calls, "VERSION", 99)
    with pytest.raises(
        RuntimeError, match="compiled for version 1 of glasstorch's C\\+\\+ interface, and this is version 99"
    ):
        library.start()


def test_a_module_that_a_library_does_not_define_is_an_import_error(ours: Any) -> None:
    with pytest.raises(ImportError, match=r"dynamic module does not define module export function \(PyInit_other\)"):
        import_module("glasstorch.utils._cpp.loading").import_module("other", Path(ours.__file__))


def test_what_is_not_here_is_refused_by_name() -> None:
    for call, what in (
        (lambda: load_inline("a", "", cuda_sources="__global__ void f() {}"), "load_inline: glasstorch has no CUDA"),
        (lambda: load_inline("a", "", with_cuda=True), "load_inline: glasstorch has no CUDA sources"),
        (lambda: load_inline("a", "", sycl_sources="void f() {}"), "load_inline: glasstorch has no SYCL sources"),
        (lambda: load("a", ["a.cpp", "b.cu"]), "load: glasstorch has no CUDA sources"),
        (lambda: load("a", "a.cpp", with_sycl=True), "load: glasstorch has no SYCL sources"),
        (
            lambda: load("a", "a.cpp", is_standalone=True, is_python_module=False),
            "load: glasstorch has no is_standalone",
        ),
        (lambda: include_paths("cuda"), "include_paths: glasstorch has no CUDA sources"),
    ):
        with pytest.raises(RuntimeError, match=rf"torch\.utils\.cpp_extension\.{what}"):
            call()
    with pytest.raises(ValueError, match="`is_python_module` and `is_standalone` are mutually exclusive"):
        load("a", "a.cpp", is_standalone=True)
    with pytest.raises(ValueError, match="Expected 'functions' to be a list or dict, but was <class 'int'>"):
        load_inline("a", "int f();", functions=3)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        load_inline("a", PLAIN, build_directory="/no/such/folder")
    assert library_paths() == []


# Compilation --------------------------------------------------------------------------------------------------------


def test_an_error_shows_the_compilers_message(tmp_path: Path, require: Callable[[str], Any]) -> None:
    require("g++")
    with pytest.raises(RuntimeError, match="Error building extension 'bad'") as refused:
        load_inline("bad", "int f() { return nope; }", build_directory=str(tmp_path), no_implicit_headers=True)
    assert "error: 'nope' was not declared in this scope" in str(refused.value)
    assert not list(tmp_path.glob("*.so"))


# The registration of document 001, word for word but for its comments.
DOCUMENT_001 = """
#include <torch/csrc/api/include/torch/types.h>
at::Tensor my_fast_add_cpu_fp16(const at::Tensor& a, const at::Tensor& b) { return a + b; }
TORCH_LIBRARY(my_ops, m) {
    m.impl("add", torch::dispatch(c10::DispatchKey::CPU, c10::DispatchKey::Half), &my_fast_add_cpu_fp16);
}
"""


def test_what_document_001_registers_does_not_compile_here_either(
    tmp_path: Path, require: Callable[[str], Any]
) -> None:
    """Its erratum E024: no key is a dtype. `_cpp/program.cpp` has the operator as it is meant."""
    require("g++")
    with pytest.raises(RuntimeError, match="'Half' is not a member of 'c10::DispatchKey'"):
        load_inline("document_001", DOCUMENT_001, build_directory=str(tmp_path), is_python_module=False)


def test_it_is_compiled_once_and_again_when_a_header_changes(
    tmp_path: Path, require: Callable[[str], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    require("g++")
    header = tmp_path / "answer.h"

    def compiled(*flags: str) -> str:
        path = load_inline(
            "plain",
            '#include <answer.h>\nextern "C" int answer() { return ANSWER; }',
            extra_cflags=flags,
            extra_include_paths=[str(tmp_path)],
            build_directory=str(tmp_path),
            is_python_module=False,
            no_implicit_headers=True,
            verbose=True,
        )
        assert isinstance(path, str)
        return path

    header.write_text("#define ANSWER 1\n", encoding="utf-8")
    first = compiled()
    assert " -c " in capsys.readouterr().out
    assert compiled() == first
    assert capsys.readouterr().out == "Loading extension module plain...\n"
    header.write_text("#define ANSWER 2\n", encoding="utf-8")
    second = compiled()
    third = compiled("-DOTHER")
    assert len({first, second, third}) == len(list(tmp_path.glob("*.so"))) == 3
    assert {first, second, third} <= glasstorch.ops.loaded_libraries


def test_two_processes_compile_the_same_at_once(
    tmp_path: Path, require: Callable[[str], Any], program: Callable[..., Path]
) -> None:
    require("g++")
    path = program(
        f"""
        import ctypes
        from glasstorch.utils.cpp_extension import load_inline
        made = load_inline("plain", {PLAIN!r}, build_directory={str(tmp_path)!r}, is_python_module=False,
                           no_implicit_headers=True)
        print(ctypes.CDLL(made).answer())
        """.replace("\n        ", "\n")
    )
    command = [sys.executable, str(path)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0] for process in both] == ["42\n", "42\n"]
    assert len(list(tmp_path.glob("*.so"))) == 1


def test_without_a_compiler_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cpp_compiler.compiler.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    try:
        with pytest.raises(
            RuntimeError, match=r"compiled with a C\+\+ compiler, and none was found .* `apt install g\+\+`"
        ):
            load_inline("plain", PLAIN, build_directory=str(tmp_path))
    finally:
        monkeypatch.undo()
        cpp_compiler.compiler.cache_clear()
