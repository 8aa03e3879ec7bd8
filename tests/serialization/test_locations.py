"""Does a storage come to the device where it was, or where it is sent?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import glasstorch
from glasstorch.core.device import device
from glasstorch.devices import runtime
from glasstorch.serialization import locations
from tests.devices.devices import made
from tests.serialization.exchange import facts, saved


@pytest.fixture
def two_devices() -> Iterator[None]:
    """Two simulated CUDA devices."""
    runtime.use_driver(made("forward"))
    yield
    runtime.use_driver(None)


@pytest.mark.parametrize(
    "to", ["cpu", device("cpu"), {"cpu": "cpu"}, {"cuda:0": "cpu"}, lambda storage, location: None]
)
def test_what_was_on_the_cpu_stays_there(to: Any) -> None:
    x = glasstorch.arange(3)
    loaded = glasstorch.load(saved(glasstorch, [x, x[1:]]), map_location=to)
    assert [value.tolist() for value in loaded] == [[0, 1, 2], [1, 2]]


@pytest.mark.parametrize("to", ["meta", "device"])
def test_what_goes_to_meta_is_not_read(torch: Any, to: str) -> None:
    file = saved(torch, [torch.arange(6.0).view(2, 3).t(), torch.nn.Parameter(torch.ones(2))])
    loaded = torch.load(file, map_location="meta" if to == "meta" else torch.device("meta"))
    assert [(str(x.device), tuple(x.shape), x.stride()) for x in loaded] == [
        ("meta", (3, 2), (1, 3)),
        ("meta", (2,), (1,)),
    ]


def test_a_dict_and_a_function_can_lead_to_meta(torch: Any) -> None:
    x = [torch.arange(3)]
    for to in ({"cpu": "meta"}, lambda storage, location: torch.UntypedStorage(storage.nbytes(), device="meta")):
        assert torch.load(saved(torch, x), map_location=to)[0].is_meta


def test_a_function_is_given_each_storage_once(torch: Any) -> None:
    x, asked = torch.arange(3), []

    def to(storage: Any, location: str) -> Any:
        asked.append((storage.nbytes(), location))
        return storage

    loaded = torch.load(saved(torch, [x, x[1:], torch.ones(2)]), map_location=to)
    assert asked == [(24, "cpu"), (8, "cpu")]
    assert loaded[1].tolist() == [1, 2]


@pytest.mark.parametrize("old", [False, True])
def test_tensors_of_a_device_are_saved_with_their_location(two_devices: None, old: bool) -> None:
    x = glasstorch.arange(4.0, device="cuda:1")
    value = [x, x[1:], glasstorch.ones(2, device="cuda:0")]
    file = saved(glasstorch, value, _use_new_zipfile_serialization=not old)
    loaded = glasstorch.load(file)
    assert [str(tensor.device) for tensor in loaded] == ["cuda:1", "cuda:1", "cuda:0"]
    assert [tensor.tolist() for tensor in loaded] == [[0, 1, 2, 3], [1, 2, 3], [1, 1]]
    loaded[0][1] = 7
    assert loaded[1][0] == 7
    file.seek(0)
    assert [str(tensor.device) for tensor in glasstorch.load(file, map_location={"cuda:1": "cuda:0"})] == ["cuda:0"] * 3
    file.seek(0)
    assert [str(tensor.device) for tensor in glasstorch.load(file, map_location="cpu")] == ["cpu"] * 3
    file.seek(0)
    moved = glasstorch.load(
        file, map_location=lambda storage, location: storage.cuda(0) if location[-1] == "1" else None
    )
    assert [str(tensor.device) for tensor in moved] == ["cuda:0"] * 3


def test_torch_loads_a_tensor_of_a_device_on_the_cpu(two_devices: None, require: Any) -> None:
    torch = require("torch")
    file = saved(glasstorch, glasstorch.arange(4.0, device="cuda:1"))
    assert torch.load(file, map_location="cpu").tolist() == [0, 1, 2, 3]
    file.seek(0)
    with pytest.raises(RuntimeError, match=r"Attempting to deserialize object on a CUDA device but torch\.cuda\.is_av"):
        torch.load(file)


def test_a_device_that_does_not_exist_is_refused(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "is_available", lambda: False)
    file = saved(torch, torch.ones(1))
    with pytest.raises(RuntimeError, match=r"but torch\.cuda\.is_available\(\) is False\. If you are running on a C"):
        torch.load(file, map_location="cuda")
    file.seek(0)
    with pytest.raises(RuntimeError, match=r"don't know how to restore data location of .*UntypedStorage \(tagged w"):
        torch.load(file, map_location="tpu")


def test_the_index_of_a_device_is_checked(two_devices: None) -> None:
    validate = glasstorch.serialization.validate_cuda_device
    assert (validate("cuda"), validate("cuda:1")) == (0, 1)
    with pytest.raises(RuntimeError, match=r"on CUDA device 2 but torch\.cuda\.device_count\(\) is 2"):
        validate("cuda:2")
    with pytest.raises(RuntimeError, match="The HPU device module is not registered"):
        glasstorch.serialization.validate_hpu_device("hpu:0")


def test_a_package_names_and_restores_storages_of_its_own(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    serialization = torch.serialization
    home, name = (locations, "_packages") if torch is glasstorch else (serialization, "_package_registry")
    monkeypatch.setattr(home, name, list(getattr(home, name)))
    restored: list[str] = []

    def tag(storage: Any) -> str | None:
        return "attic" if storage.nbytes() == 12 else None

    def restore(storage: Any, location: str) -> Any:
        if location != "attic":
            return None
        restored.append(location)
        return storage

    serialization.register_package(5, tag, restore)
    value = [torch.ones(3), torch.ones(2)]
    assert serialization.location_tag(value[0].untyped_storage()) == "attic"
    assert serialization.location_tag(value[1].untyped_storage()) == "cpu"
    assert facts(torch.load(saved(torch, value))) == facts(value)
    assert restored == ["attic"]
    assert serialization.default_restore_location(value[0].untyped_storage(), "cpu").nbytes() == 12


def test_a_storage_that_nobody_knows_has_no_location(torch: Any) -> None:
    class Device:
        type = "moon"

    class Storage:
        device = Device()

    with pytest.raises(RuntimeError, match="don't know how to determine data location of"):
        torch.serialization.location_tag(Storage())
