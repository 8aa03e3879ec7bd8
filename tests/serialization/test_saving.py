"""Does torch load what we save, and do we load what torch saves?"""

from __future__ import annotations

import collections
import io
import math
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from tests.serialization.exchange import exchanged, facts, saved, sharing

DTYPES = (
    *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16"),
    *("float32", "float64", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2"),
)


def with_attribute(value: Any) -> Any:
    """The value, with an attribute of its own."""
    value.note = {"kept": [1]}
    return value


def views(x: Any) -> list[Any]:
    """A tensor, twice, and views of it."""
    return [x, x.t()[1:], x[0], x]


VALUES: dict[str, Callable[[Any], Any]] = {
    "a conjugate": lambda t: t.tensor([1 + 2j, 3j]).conj(),
    "a negative": lambda t: t.tensor([1 + 2j, 3j]).conj().imag,
    "a meta tensor": lambda t: t.empty(2, 3, device="meta").t(),
    "a number": lambda t: t.tensor(3.0),
    "views": lambda t: views(t.arange(12.0).view(3, 4)),
    "an expanded tensor": lambda t: t.ones(1).expand(5),
    "empty tensors": lambda t: [t.zeros(0), t.zeros(0, 3)],
    "a leaf": lambda t: t.ones(2, requires_grad=True),
    "what was computed": lambda t: t.ones(2, requires_grad=True).detach().requires_grad_(),
    "a parameter": lambda t: t.nn.Parameter(t.ones(2)),
    "a frozen parameter": lambda t: t.nn.Parameter(t.ones(2), requires_grad=False),
    "a parameter with an attribute": lambda t: with_attribute(t.nn.Parameter(t.ones(2))),
    "a buffer": lambda t: t.nn.Buffer(t.ones(2)),
    "a tensor with an attribute": lambda t: with_attribute(t.ones(2)),
    "devices": lambda t: [t.device("cpu"), t.device("cuda", 1), t.device("cuda:0"), t.device("meta")],
    "a size": lambda t: t.Size([1, 2]),
    "a layout": lambda t: t.strided,
    "a random state": lambda t: t.Generator().manual_seed(3).get_state(),
    "numbers": lambda t: [1, -1, 255, 256, 70000, 1 << 40, -(1 << 200), 0.1, math.inf, 1j, True, None],
    "texts": lambda t: ["", "a", "ü", "\ud800", b"a\xff", bytearray(b"b")],
    "containers": lambda t: [(), (1,), (1, 2, 3), (1, 2, 3, 4), [], {}, {1: 2, "a": (3,)}, {1, 2}, set()],
    "an ordered dict": lambda t: collections.OrderedDict(a=1, b=t.ones(1)),
    "a counter": lambda t: collections.Counter("aab"),
    "one list twice": lambda t: [[1]] * 2,
    "a state dict": lambda t: t.nn.BatchNorm1d(3).state_dict(),
}


@pytest.mark.parametrize("name", VALUES)
def test_it_is_the_same_in_the_other_library(require: Callable[[str], Any], name: str) -> None:
    for way, (loaded, expected) in exchanged(require("torch"), VALUES[name]).items():
        assert facts(loaded) == facts(expected), way
        assert sharing(loaded) == sharing(expected), way


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_is_the_same_in_the_other_library(require: Callable[[str], Any], name: str) -> None:
    def make(library: Any) -> Any:
        dtype = getattr(library, name)
        return [dtype, library.tensor([0, 1, 1, 0]).to(dtype)[1:]]

    for way, (loaded, expected) in exchanged(require("torch"), make).items():
        assert facts(loaded) == facts(expected), way


MODULES: dict[str, Callable[[Any], Any]] = {
    "Linear": lambda t: t.nn.Linear(2, 3),
    "LSTM": lambda t: t.nn.LSTM(2, 3, num_layers=2),
    "GRUCell": lambda t: t.nn.GRUCell(2, 3),
    "MultiheadAttention": lambda t: t.nn.MultiheadAttention(4, 2),
    "TransformerEncoderLayer": lambda t: t.nn.TransformerEncoderLayer(4, 2, 8),
    "an activation of torch's": lambda t: t.nn.TransformerEncoderLayer(4, 2, 8, activation=t.relu),
    "Transformer": lambda t: t.nn.Transformer(4, 2, 1, 1, 4, batch_first=True),
    "Sequential": lambda t: t.nn.Sequential(t.nn.Conv2d(1, 2, 3), t.nn.ReLU(), t.nn.ModuleList([t.nn.BatchNorm2d(2)])),
    "ParameterDict": lambda t: t.nn.ParameterDict({"a": t.ones(1)}),
    "CrossEntropyLoss": lambda t: t.nn.CrossEntropyLoss(weight=t.ones(2)),
    "Embedding": lambda t: t.nn.Embedding(3, 2, padding_idx=0),
}


@pytest.mark.parametrize("name", MODULES)
def test_a_whole_module_is_one_of_the_other_library(require: Callable[[str], Any], name: str) -> None:
    torch = require("torch")
    for writer, reader in ((glasstorch, torch), (torch, glasstorch), (glasstorch, glasstorch)):
        module = MODULES[name](writer)
        loaded = reader.load(saved(writer, module), weights_only=False)
        assert type(loaded) is type(MODULES[name](reader))
        assert repr(loaded) == repr(module)
        state = {name: value.tolist() for name, value in module.state_dict().items()}
        assert {name: value.tolist() for name, value in loaded.state_dict().items()} == state
        assert [name for name, _ in loaded.named_parameters()] == [name for name, _ in module.named_parameters()]


def test_a_loaded_module_computes_and_trains(require: Callable[[str], Any]) -> None:
    torch = require("torch")
    module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    loaded = glasstorch.load(saved(torch, module), weights_only=False)
    x = [[1.0, 2.0], [3.0, 4.0]]
    assert loaded(glasstorch.tensor(x)).tolist() == pytest.approx(module(torch.tensor(x)).detach().numpy(), rel=1e-5)
    loaded(glasstorch.tensor(x)).sum().backward()
    assert all(parameter.grad is not None for parameter in loaded.parameters())


OPTIMIZERS = (
    *("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "NAdam", "RAdam", "Adamax", "ASGD", "Rprop"),
    "Adafactor",
)


def trained(library: Any, name: str, steps: int) -> tuple[Any, Any]:
    """A small module and its optimizer after a few steps."""
    module = library.nn.Linear(2, 2)
    with library.no_grad():
        for number, parameter in enumerate(module.parameters()):
            parameter.copy_(library.arange(float(parameter.numel())).view_as(parameter) / 4 + number)
    optimizer = getattr(library.optim, name)(module.parameters(), lr=0.125)
    train(library, module, optimizer, steps)
    return module, optimizer


def train(library: Any, module: Any, optimizer: Any, steps: int) -> None:
    """Take steps towards a smaller output."""
    for _ in range(steps):
        optimizer.zero_grad()
        (module(library.tensor([[1.0, -2.0]])) ** 2).sum().backward()
        optimizer.step()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_goes_on_in_the_other_library(require: Callable[[str], Any], name: str) -> None:
    torch = require("torch")
    for writer, reader in ((glasstorch, torch), (torch, glasstorch)):
        module, optimizer = trained(writer, name, 2)
        file = saved(writer, {"model": module.state_dict(), "optimizer": optimizer.state_dict()})
        checkpoint = reader.load(file)
        other, resumed = trained(reader, name, 0)
        other.load_state_dict(checkpoint["model"])
        resumed.load_state_dict(checkpoint["optimizer"])
        train(writer, module, optimizer, 2)
        train(reader, other, resumed, 2)
        for mine, others in zip(module.parameters(), other.parameters(), strict=True):
            assert others.flatten().tolist() == pytest.approx(mine.flatten().tolist(), rel=1e-4)


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_a_whole_optimizer_and_its_scheduler_go_both_ways(require: Callable[[str], Any], name: str) -> None:
    torch = require("torch")
    for writer, reader in ((glasstorch, torch), (torch, glasstorch), (glasstorch, glasstorch)):
        module, optimizer = trained(writer, name, 2)
        schedule = writer.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
        checkpoint = reader.load(saved(writer, [module, optimizer, schedule.state_dict()]), weights_only=False)
        assert type(checkpoint[1]) is getattr(reader.optim, name)
        assert checkpoint[1].param_groups[0]["params"][0] is checkpoint[0].weight
        resumed = reader.optim.lr_scheduler.StepLR(checkpoint[1], 1, gamma=0.5)
        resumed.load_state_dict(checkpoint[2])
        for library, network, stepped, schedules in (
            (writer, module, optimizer, schedule),
            (reader, *checkpoint[:2], resumed),
        ):
            train(library, network, stepped, 1)
            schedules.step()
        assert checkpoint[0].weight.tolist() == pytest.approx(module.weight.detach().numpy(), rel=1e-5)
        assert resumed.get_last_lr() == schedule.get_last_lr() == [0.0625]


def test_a_generator_goes_on_with_the_same_numbers(require: Callable[[str], Any]) -> None:
    torch = require("torch")
    for writer, reader in ((glasstorch, torch), (torch, glasstorch), (glasstorch, glasstorch)):
        generator = writer.Generator().manual_seed(5)
        writer.rand(3, generator=generator)
        loaded = reader.load(saved(writer, generator), weights_only=False)
        assert reader.rand(4, generator=loaded).tolist() == writer.rand(4, generator=generator).tolist()


def test_functions_classes_and_named_results_are_those_of_the_other_library(require: Callable[[str], Any]) -> None:
    torch = require("torch")
    assert glasstorch.load(saved(torch, [torch.relu, torch.nn.Linear]), weights_only=False) == [
        glasstorch.relu,
        glasstorch.nn.Linear,
    ]
    assert torch.load(saved(glasstorch, [glasstorch.nn.functional.relu, glasstorch.nn.LSTM]), weights_only=False) == [
        torch.nn.functional.relu,
        torch.nn.LSTM,
    ]
    for way, (loaded, expected) in exchanged(torch, lambda t: t.max(t.eye(2), 0), weights_only=False).items():
        assert facts(loaded) == facts(expected), way
        assert loaded.indices.tolist() == [0, 1], way


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_every_protocol_of_pickle_goes_both_ways(require: Callable[[str], Any], protocol: int) -> None:
    options = {"weights_only": False, "pickle_protocol": protocol}
    made = lambda t: [t.nn.Linear(1, 1).eval(), t.ones(2), t.float32]  # noqa: E731
    for way, (loaded, _) in exchanged(require("torch"), made, **options).items():
        assert repr(loaded[0]) == "Linear(in_features=1, out_features=1, bias=True)", way
        assert loaded[1].tolist() == [1, 1], way


def test_the_old_format_goes_both_ways(require: Callable[[str], Any]) -> None:
    def make(library: Any) -> Any:
        x = library.arange(6.0).view(2, 3)
        return {"x": x, "y": x.t(), "z": library.ones(2, dtype=library.int16), "e": library.zeros(0)}

    for way, (loaded, expected) in exchanged(require("torch"), make, _use_new_zipfile_serialization=False).items():
        assert facts(loaded) == facts(expected), way
        assert sharing(loaded) == sharing(expected), way


def test_a_module_in_the_old_format_goes_both_ways(require: Callable[[str], Any]) -> None:
    options = {"weights_only": False, "_use_new_zipfile_serialization": False}
    for way, (loaded, _) in exchanged(require("torch"), lambda t: t.nn.Linear(1, 1), **options).items():
        assert repr(loaded) == "Linear(in_features=1, out_features=1, bias=True)", way


# Facts of both libraries ---------------------------------------------------------------------------------------------


def test_the_same_bytes_cannot_be_saved_with_two_dtypes(torch: Any) -> None:
    x = torch.zeros(2, dtype=torch.complex64)
    with pytest.raises(RuntimeError, match="Cannot save multiple tensors or storages that view the same data as diff"):
        torch.save([x, torch.view_as_real(x)], io.BytesIO())


def test_a_storage_is_loaded_as_a_typed_one(torch: Any) -> None:
    typed = torch.storage.TypedStorage(
        wrap_storage=torch.ones(2).untyped_storage(), dtype=torch.float32, _internal=True
    )
    loaded = torch.load(saved(torch, [torch.ones(2).untyped_storage(), typed]))
    assert [type(storage).__name__ for storage in loaded] == ["TypedStorage", "TypedStorage"]
    assert [storage.dtype for storage in loaded] == [torch.uint8, torch.float32]


def test_hooks_are_not_saved_and_a_warning_says_so(torch: Any) -> None:
    x = torch.ones(1, requires_grad=True)
    x.register_hook(lambda grad: None)
    with pytest.warns(UserWarning, match="will not be serialized"):
        file = saved(torch, x)
    (torch.load(file) * 1).sum().backward()


def test_a_subclass_is_loaded_as_what_it_is_if_it_is_allowed(torch: Any) -> None:
    kind = subclass_of(torch)
    value = with_attribute(torch.ones(2).as_subclass(kind))
    with pytest.raises(pickle.UnpicklingError, match=rf"Unsupported global: GLOBAL \S+\.{kind.__name__} was not"):
        torch.load(saved(torch, value))
    with torch.serialization.safe_globals([kind]):
        loaded = torch.load(saved(torch, value))
    assert (type(loaded), loaded.note, loaded.tolist()) == (kind, {"kept": [1]}, [1, 1])


class Slotted(glasstorch.Tensor):
    """A tensor with a field of its own, besides attributes."""

    __slots__ = ("unit",)
    unit: str


def subclass_of(library: Any) -> type:
    """A subclass of a library's Tensor that pickle finds in this file."""
    name = f"TensorOf{library.__name__}"
    made: type = globals().setdefault(name, type(name, (library.Tensor,), {"__module__": __name__}))
    return made


def test_what_a_subclass_keeps_in_slots_is_saved() -> None:
    x = glasstorch.ones(2).as_subclass(Slotted)
    x.unit, x.note = "m", 1
    loaded = glasstorch.load(saved(glasstorch, x), weights_only=False)
    assert (type(loaded), loaded.unit, loaded.note, loaded.tolist()) == (Slotted, "m", 1, [1, 1])


def test_what_cannot_be_pickled_leaves_the_file_as_it_was(torch: Any, tmp_path: Path) -> None:
    file = io.BytesIO()
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError)):
        torch.save(lambda: None, file)
    assert file.getvalue() == b"" or torch.__name__ == "torch"


@pytest.mark.parametrize("f", [3, None, object()])
def test_a_file_is_a_path_or_has_write(torch: Any, f: Any) -> None:
    with pytest.raises(AttributeError, match="expected 'f' to be string, path, or a file-like object with"):
        torch.save(1, f)


def test_what_is_skipped_has_its_place_in_the_file(torch: Any, tmp_path: Path) -> None:
    x = torch.arange(1000.0)
    with torch.serialization.skip_data():
        torch.save(x, tmp_path / "skipped.pt")
        file = saved(torch, x)
    torch.save(x, tmp_path / "whole.pt")
    sizes = [path.stat().st_size for path in (tmp_path / "skipped.pt", tmp_path / "whole.pt")]
    assert abs(sizes[0] - sizes[1]) < 256  # the names of the folders in it differ by two letters
    assert torch.load(file).sum() == torch.load(tmp_path / "skipped.pt").sum() == 0
    with torch.serialization.skip_data():
        assert torch.load(tmp_path / "whole.pt").shape == (1000,)
        with pytest.raises(RuntimeError, match="Cannot use skip_data=True"):
            torch.save(x, io.BytesIO(), _use_new_zipfile_serialization=False)


def test_the_records_are_those_of_torch(require: Callable[[str], Any]) -> None:
    torch = require("torch")
    ours, others = (
        zipfile.ZipFile(saved(library, [library.ones(3), library.zeros(0)])) for library in (glasstorch, torch)
    )
    assert ours.namelist() == others.namelist()
    for name in ours.namelist():
        if not name.endswith(("data.pkl", "serialization_id")):
            assert ours.read(name) == others.read(name), name
    assert ours.testzip() is None


def test_the_byte_order_comes_last_where_it_is_disabled(torch: Any) -> None:
    names = zipfile.ZipFile(saved(torch, 1, _disable_byteorder_record=True)).namelist()
    assert names[-3:] == ["archive/version", "archive/byteorder", "archive/.data/serialization_id"]
