"""Is a caller told what to do about a name that is not here?"""

import pickle
import sys
from importlib import import_module
from typing import Any

import pytest

import glasstorch
from glasstorch._as_torch import torch_modules
from glasstorch.core.left_out import LEFT_OUT, MISSING_METHODS, reason_for
from glasstorch.core.unknown_names import (
    UnknownName,
    as_glasstorch,
    as_torch,
    is_of_torch,
    nearest,
    offered_names,
    refuse_unknown_names,
    torch_names,
    why_missing,
)


def test_the_nearest_name_ignores_case_and_gives_up_where_nothing_is_near() -> None:
    assert nearest("crossentropyloss", ["CrossEntropyLoss", "MSELoss"]) == "CrossEntropyLoss"
    assert nearest("softmaks", ["log_softmax", "softmax"]) == "softmax"
    assert nearest("fft", ["relu", "Linear"]) is None
    assert nearest("einsum", ["sum"]) is None
    assert nearest("rnad", ["rand", "randn"]) == "rand"
    assert nearest("complie", ["complex", "compile"]) == "compile"  # of two that are as near, the same letters


def test_the_message_says_what_is_missing_the_nearest_and_where_the_list_is() -> None:
    error = UnknownName("glasstorch.nn", "Liner", lambda: ["Linear"])
    assert str(error) == (
        "module 'glasstorch.nn' has no attribute 'Liner': torch.nn.Liner is not in glasstorch; the nearest name is "
        "'Linear'; `python -m glasstorch --list` prints what there is"
    )
    assert error.name == "Liner"
    assert type(error).__name__ == "AttributeError"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert "nearest" not in str(UnknownName("glasstorch", "xyzzy", lambda: ["Linear"]))


def test_what_is_left_out_on_purpose_is_said_to_be() -> None:
    assert str(UnknownName("glasstorch.nn", "qat", lambda: ["cat"])) == (
        "module 'glasstorch.nn' has no attribute 'qat': torch.nn.qat is left out of glasstorch, because there are no "
        "quantized dtypes"
    )


def test_private_names_are_refused_without_advice() -> None:
    # Python itself asks modules for names such as __path__ and __wrapped__.
    assert (
        str(UnknownName("glasstorch", "__wrapped__", lambda: ["x"]))
        == "module 'glasstorch' has no attribute '__wrapped__'"
    )


def test_modules_offer_all_or_what_the_library_made() -> None:
    names = {"nearest": nearest, "b": as_torch, "_c": nearest, "Any": Any, "pytest": pytest, "annotations": 1}
    assert offered_names(names) == ["b", "nearest"]
    assert offered_names({"b": 1, "a": 2, "__all__": ["b"]}) == ["b"]
    assert as_torch("glasstorch.nn.init") == "torch.nn.init"


@pytest.mark.parametrize("module", ["nn", "nn.functional", "nn.init", "optim"])
def test_modules_of_the_library_refuse_unknown_names(module: str) -> None:
    import importlib

    found = importlib.import_module(f"glasstorch.{module}")
    with pytest.raises(AttributeError, match=f"torch.{module}.Liner is not in glasstorch"):
        _ = found.Liner


# A name of PyTorch that is missing, and a typing mistake ----------------------------------------------------------


def test_a_name_that_pytorch_has_is_told_from_a_typing_mistake() -> None:
    missing = (
        "PyTorch 2.13 has torch.while_loop, glasstorch does not; `python -m glasstorch --list` prints what there is"
    )
    assert why_missing("torch.while_loop", ["complex"]) == missing
    assert why_missing("torch.complie", ["complex"]) == (
        "torch.complie is not in glasstorch; the nearest name is 'compile', which PyTorch 2.13 has and glasstorch does "
        "not; `python -m glasstorch --list` prints what there is"
    )
    assert why_missing("torch.zeross", ["zeros"]).startswith(
        "torch.zeross is not in glasstorch; the nearest name is 'ze"
    )
    assert "nearest" not in why_missing("torch.onnx.ops", ["nn"])


def test_what_lies_in_a_module_that_is_left_out_has_its_reason() -> None:
    assert reason_for("torch.nn.quantized.Linear") == LEFT_OUT["torch.nn.quantized"]
    assert reason_for("torch.nn.Linear") is None
    assert why_missing("torch.nn.quantized.modules", []).endswith(
        "left out of glasstorch, because there are no quantized dtypes"
    )


def test_names_and_modules_of_pytorch_are_known() -> None:
    for path in ("torch.nn", "torch.nn.Linear", "torch.Tensor.to_sparse", "torch.distributed.fsdp", "torch.fx.Graph"):
        assert is_of_torch(path), path
    for path in ("torch.nn.Liner", "torch.TYPE_CHECKING", "torch.os", "torch.nn.functional.Tensor1", "glasstorch.nn"):
        assert not is_of_torch(path), path
    assert len(torch_names()["torch"]) > 900


@pytest.mark.parametrize("name", ["q_scale", "to_mkldnn"])
def test_a_method_that_tensors_lack_is_told_like_a_function(name: str) -> None:
    x = glasstorch.ones(2)
    for holder, subject in ((x, "'Tensor' object"), (glasstorch.Tensor, "type object 'Tensor'")):
        assert not hasattr(holder, name)
        assert getattr(holder, name, 3) == 3
        with pytest.raises(AttributeError) as raised:
            getattr(holder, name)
        assert str(raised.value).startswith(
            f"{subject} has no attribute '{name}': torch.Tensor.{name} is left out of glasstorch, because there "
        )
        assert raised.value.name == name
    parameter = glasstorch.nn.Parameter(x)
    with pytest.raises(
        AttributeError, match=f"'Parameter' object has no attribute '{name}': torch.Tensor.{name} is left"
    ):
        getattr(parameter, name)


def test_the_methods_that_tensors_lack_are_pytorchs_and_are_lacking(require: Any) -> None:
    theirs = require("torch").Tensor
    for name in MISSING_METHODS:
        assert hasattr(theirs, name), name
        assert not hasattr(glasstorch.Tensor, name), name
    assert sorted(MISSING_METHODS) == sorted(set(MISSING_METHODS))
    assert glasstorch.ones(2).__class__ is glasstorch.Tensor


@pytest.mark.parametrize(
    "path",
    ["torch.jit.script", "torch.library.custm_op", "torch.random.thread_safe_generators"]
    + [
        "torch.cuda.CUDAGraph",
        "torch.backends.xeon",
        "torch.masked.MaskedTensor",
    ]
    + ["torch.utils.data_loader", "torch.optim.lr_scheduler.StpLR", "torch.nn.utils.parametrize.nothing"],
)
def test_names_below_a_module_get_the_advice_too(path: str) -> None:
    module, _, name = path.rpartition(".")
    with pytest.raises(AttributeError, match="`python -m glasstorch --list` prints what there is"):
        getattr(import_module(as_glasstorch(module)), name)


def test_submodules_that_few_programs_use_are_imported_when_they_are_asked_for() -> None:
    late = refuse_unknown_names("glasstorch.backends", ["cudnn"])
    assert late("cudnn") is import_module("glasstorch.backends.cudnn")
    with pytest.raises(AttributeError, match="the nearest name is 'cudnn'"):
        late("cudn")


def test_the_list_has_every_module_of_pytorch_that_can_be_imported() -> None:
    modules = list(torch_modules())
    assert {"torch", "torch.nn.functional", "torch.jit", "torch.backends.cudnn", "torch.accelerator"} <= set(modules)
    assert "torch.distributed.fsdp" not in modules
    assert "torch.Tensor" not in modules
    for name in modules:
        import_module(as_glasstorch(name))


@pytest.mark.parametrize("path", ["torch.nn.utils.prune", "torch.utils.model_zoo", "torch.utils.tensorboard"])
def test_a_module_that_waits_for_its_import_is_not_called_missing(path: str) -> None:
    module, _, name = path.rpartition(".")
    for message in (why_missing(path, []), str(UnknownName(as_glasstorch(module), name, list))):
        assert message.endswith(
            f"{path} is a module that is not imported with the one it is in; write `import {path}` first"
        )


def test_what_cannot_be_imported_from_a_module_is_named_where_the_program_asks_for_it() -> None:
    for line, message in (
        ("from glasstorch.nn import Liner", "torch.nn.Liner is not in glasstorch; the nearest name is 'Linear'; "),
        ("from glasstorch import while_loop", "PyTorch 2.13 has torch.while_loop, glasstorch does not; "),
        ("from glasstorch.utils import bundled_inputs", "PyTorch 2.13 has torch.utils.bundled_inputs, glasstorch "),
        ("from glasstorch.cuda import strems", "torch.cuda.strems is not in glasstorch; the nearest name is 'streams'"),
        ("from glasstorch.nn.quantized import x", ""),
    ):
        with pytest.raises(ImportError) as raised:
            exec(line, {})
        assert message in str(raised.value)
        if message:
            module, name = line.split()[1::2]
            file = sys.modules[module].__file__
            assert str(raised.value).startswith(f"cannot import name {name!r} from {module!r} ({file}): ")
            assert (type(raised.value), raised.value.name, raised.value.path) == (ImportError, module, file)


def test_a_name_that_is_asked_for_otherwise_raises_the_error_of_an_attribute() -> None:
    assert getattr(glasstorch.nn, "Liner", None) is None
    with pytest.raises(AttributeError):
        exec("nn.Liner", {"nn": glasstorch.nn})


def test_a_module_that_its_package_has_deleted_is_still_imported_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    optimizer = import_module("glasstorch.optim.optimizer")
    monkeypatch.delattr(glasstorch.optim, "optimizer")
    space: dict[str, Any] = {}
    exec("from glasstorch.optim import optimizer", space)
    assert space["optimizer"] is optimizer
