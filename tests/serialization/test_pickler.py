"""Is an object pickled in PyTorch's words?"""

from __future__ import annotations

import gc
import io
import pickle
import pickletools
import weakref
import zipfile
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import glasstorch
from tests.serialization.exchange import facts, saved


def words(file: io.BytesIO) -> list[tuple[str, Any]]:
    """The instructions of the pickle in an archive, without those that store what was made and take it again.

    Numbers and tuples are left out too: two tensors may have one tuple as their strides, which is then pickled once.
    """
    with zipfile.ZipFile(file) as archive:
        program = archive.read("archive/data.pkl")
    found = [(opcode.name, argument) for opcode, argument, _ in pickletools.genops(program)]
    left_out = ("PUT", "GET", "MARK", "BININT1", "TUPLE", "TUPLE1")
    return [(name, argument) for name, argument in found if not name.endswith(left_out)]


VALUES: dict[str, Callable[[Any], Any]] = {
    "tensors": lambda t: {"a": t.ones(2), "b": t.arange(4).view(2, 2).t()},
    "a dtype without a class of storages": lambda t: t.ones(2).to(t.uint16),
    "a conjugate": lambda t: t.tensor([1j]).conj(),
    "a meta tensor": lambda t: t.empty(2, device="meta"),
    "a parameter": lambda t: t.nn.Parameter(t.ones(2)),
    "a layout, dtypes, devices": lambda t: [t.strided, t.float32, t.bool, t.device("cpu"), t.device("cuda", 1)],
    "a size": lambda t: t.Size([1, 2]),
    "a state dict": lambda t: t.nn.BatchNorm1d(2).state_dict(),
    "a class": lambda t: t.nn.Linear,
}


@pytest.mark.parametrize("name", VALUES)
def test_the_instructions_are_those_of_torch(require: Callable[[str], Any], name: str) -> None:
    ours, torchs = (words(saved(library, VALUES[name](library))) for library in (glasstorch, require("torch")))
    assert ours == torchs


def test_an_optimizer_is_pickled_word_for_word(require: Callable[[str], Any]) -> None:
    def state(library: Any) -> Any:
        parameter = library.ones(2, requires_grad=True)
        optimizer = library.optim.Adam([parameter])
        (parameter * 2).sum().backward()
        optimizer.step()
        return optimizer.state_dict()

    assert words(saved(glasstorch, state(glasstorch))) == words(saved(require("torch"), state(require("torch"))))


@pytest.mark.parametrize("old", [False, True])
def test_a_module_whose_pickler_is_in_c_can_pickle(torch: Any, old: bool) -> None:
    module = SimpleNamespace(__name__="another", Pickler=pickle.Pickler, Unpickler=pickle.Unpickler)
    module.dump, module.load = pickle.dump, pickle.load
    x = torch.arange(3.0)
    value = [x, x[1:], torch.nn.Parameter(x), torch.nn.Linear(1, 1)]
    file = saved(torch, value, pickle_module=module, _use_new_zipfile_serialization=not old)
    loaded = torch.load(file, pickle_module=module)
    assert facts(loaded[:3]) == facts(value[:3])
    assert repr(loaded[3]) == repr(value[3])
    loaded[0][1] = 7
    assert (loaded[1].tolist(), loaded[2].tolist()) == ([7, 2], [0, 7, 2])


def test_a_storage_that_is_shared_lazily_stays_so(torch: Any) -> None:
    x = torch.ones(3)
    y = x._lazy_clone()
    first, second = torch.load(saved(torch, [x, y]))
    first.zero_()
    assert (second.tolist(), y.tolist()) == ([1, 1, 1], [1, 1, 1])


def test_what_is_saved_without_gradients_is_loaded_with_them(torch: Any) -> None:
    with torch.no_grad():
        file = saved(torch, torch.ones(2, requires_grad=True))
    assert torch.load(file).requires_grad
    with torch.inference_mode():
        file.seek(0)
        assert torch.load(file).is_inference()


@pytest.mark.parametrize("old", [False, True])
def test_what_was_saved_and_loaded_is_freed_at_once(old: bool) -> None:
    gc.collect()
    gc.disable()
    try:
        x = glasstorch.ones(9)
        held = [weakref.ref(x.untyped_storage())]
        file = saved(glasstorch, x, _use_new_zipfile_serialization=not old)
        del x
        for weights_only in (True, False):
            file.seek(0)
            held.append(weakref.ref(glasstorch.load(file, weights_only=weights_only).untyped_storage()))
        assert [storage() for storage in held] == [None] * 3
    finally:
        gc.enable()


@pytest.mark.parametrize("zipped", [True, False])
def test_a_local_function_is_refused_with_the_error_of_pytorch(require: Callable[[str], Any], zipped: bool) -> None:
    def local() -> None:
        pass

    def refusal(torch: Any) -> Exception:
        with pytest.raises((AttributeError, pickle.PicklingError)) as raised:
            torch.save({"function": local}, io.BytesIO(), _use_new_zipfile_serialization=zipped)
        return raised.value

    ours, theirs = refusal(glasstorch), refusal(require("torch"))
    assert (type(ours), str(ours)) == (type(theirs), str(theirs))
