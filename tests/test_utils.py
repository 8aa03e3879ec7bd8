"""Do the helpers of torch._utils, and the types that programs annotate with, do what PyTorch's do?"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch import types
from tests.refusals import same_refusal


@pytest.fixture
def oracle() -> Any:
    return pytest.importorskip("torch")


def sparse_in_one(torch: Any) -> Any:
    tensors = [torch.eye(2).to_sparse(), (torch.eye(3) * 5).to_sparse()]
    indices, values = torch._utils._flatten_sparse_tensors(tensors)
    with torch.sparse.check_sparse_tensor_invariants():
        back = torch._utils._unflatten_sparse_tensors((indices, values), tensors)
    return indices.tolist(), values.tolist(), [t.to_dense().tolist() for t in back]


def reordered(torch: Any) -> Any:
    a, b, c = torch.ones(1), torch.ones(2, dtype=torch.int64), torch.ones(3)
    taken = [t for group in torch._utils._take_tensors([a, b, c], 100) for t in group]
    return [t.shape[0] for t in torch._utils._reorder_tensors_as(taken, [a, b, c])]


def metadata(torch: Any) -> Any:
    x = torch.tensor([1 + 2j, 3j])
    noted = [torch._utils.get_tensor_metadata(t) for t in (x, x.conj(), x.conj().imag)]
    torch._utils.set_tensor_metadata(x, {"conj": False, "unknown": True})
    return noted, x.is_conj(), x.tolist()


def rendered(torch: Any) -> Any:
    render = torch._utils.render_call
    return render(torch.add, (torch.ones(2), 3), {"alpha": 2}), render(torch.Tensor.mul, (torch.eye(2), "x"), {})


def indices_of_devices(torch: Any) -> Any:
    index = torch._utils._get_device_index
    return index("cuda:1"), index(torch.device("cuda", 2)), index(3), index("cpu", allow_cpu=True)


def complex_handled(torch: Any) -> Any:
    handle, x = torch._utils._handle_complex, torch.ones(2)
    lazy = torch.nn.parameter.UninitializedParameter()
    return handle(x) is x, handle(torch.tensor([1 + 2j])).tolist(), handle(lazy) is lazy


def a_property_of_a_class(torch: Any) -> Any:
    class Named:
        @torch._utils.classproperty
        def title(cls) -> str:
            return cls.__name__  # type: ignore[attr-defined, no-any-return]

    class Other(Named):
        pass

    return Named.title, Other.title, Other().title


def imported(torch: Any) -> Any:
    helpers = torch._utils
    return (
        helpers.try_import("json").__name__,
        helpers.try_import("no_such_module"),
        helpers._import_dotted_name("os.path.sep"),
    )


PROGRAMS = (
    *(sparse_in_one, reordered, metadata, rendered),
    *(indices_of_devices, complex_handled, a_property_of_a_class, imported),
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_helper_gives_what_pytorchs_gives(program: Callable[[Any], Any], oracle: Any) -> None:
    assert program(glasstorch) == program(oracle)
    assert glasstorch._utils.cpu_count() == oracle._utils.cpu_count()


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t._utils._get_device_index("cpu"),
        lambda t: t._utils._get_device_index(None),
        lambda t: t._utils._get_device_index("cuda"),
        lambda t: t._utils.get_tensor_metadata(3),
        lambda t: t._utils.set_tensor_metadata(t.ones(1), None),
        lambda t: t.utils.set_module(object(), 3),
    ],
    ids=["the CPU", "no device", "no index", "no tensor", "no dict", "no module"],
)
def test_what_is_refused(call: Callable[[Any], Any], oracle: Any) -> None:
    same_refusal(oracle, call)


def test_callbacks_are_all_called_and_an_error_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    registry: Any = glasstorch._utils.CallbackRegistry("kernels")
    seen: list[int] = []
    registry.add_callback(lambda n: 1 // n)
    registry.add_callback(seen.append)
    with caplog.at_level(logging.ERROR):
        registry.fire_callbacks(0)
    assert seen == [0]
    assert "Exception in callback for kernels" in caplog.text


def test_asking_whether_a_program_is_compiled_warns(oracle: Any) -> None:
    for torch in (oracle, glasstorch):
        with pytest.warns(UserWarning, match="Use `torch.compiler.is_compiling` instead"):
            assert torch._utils.is_compiling() is False


def test_a_class_says_the_module_that_it_was_given(oracle: Any) -> None:
    for torch in (oracle, glasstorch):
        kind = type("Kind", (), {})
        torch.utils.set_module(kind, "models")
        assert kind.__module__ == "models"


def test_a_number_is_no_symbol_in_annotations(oracle: Any) -> None:
    assert [kind.__name__ for kind in types.py_sym_types] == [kind.__name__ for kind in oracle.types.py_sym_types]
    for value in (3, 2.5, True):
        assert isinstance(value, types.py_sym_types) == isinstance(value, oracle.types.py_sym_types)
        assert isinstance(value, types.Number) == isinstance(value, oracle.types.Number)


def test_a_thread_that_is_no_worker_has_no_generator_of_its_own(oracle: Any) -> None:
    assert glasstorch.random.thread_safe_generator() is oracle.random.thread_safe_generator() is None
