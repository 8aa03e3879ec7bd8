"""Does a factory function reach the backend of the device that it is told?"""

from __future__ import annotations

import pytest

import glasstorch
from glasstorch.devices import runtime
from glasstorch.dispatch.operator import registry
from glasstorch.dispatch.trace import trace
from glasstorch.kernels.backend_select import device_position


def test_the_place_of_the_device_is_that_of_the_schema() -> None:
    checked = 0
    for operator in registry.operators.values():
        position = device_position(operator.text)
        if position is not None:
            assert operator.schema.arguments[position].name == "device"
            checked += 1
    assert checked > 15


# The strided tensors that it is called with do not say that a sparse one is to be made.
OF_PARTS = {"aten::_sparse_coo_tensor_with_dims_and_tensors"}


def test_every_factory_without_tensors_has_a_kernel_here_and_no_other_operator_has() -> None:
    for operator in registry.operators.values():
        has_tensor = any(a.type.is_tensor_like for a in operator.schema.arguments)
        takes_device = any(a.name == "device" for a in operator.schema.arguments)
        wanted = operator.name in OF_PARTS or (takes_device and not has_tensor)
        assert operator.has_kernel_for("BackendSelect") == wanted, operator.name


@pytest.mark.parametrize(("device", "backend"), [(None, "CPU"), ("cpu", "CPU"), ("meta", "Meta")])
def test_empty_goes_through_backend_select_to_its_device(device: str | None, backend: str) -> None:
    with trace() as hops:
        glasstorch.empty(3, device=device)
    assert [hop.key.name for hop in hops] == ["BackendSelect", backend]


def test_a_factory_on_cuda_says_where_no_device_is_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_driver", None)
    monkeypatch.setattr(runtime, "find_spec", lambda name: None)
    monkeypatch.delenv(runtime.VARIABLE, raising=False)
    with pytest.raises(RuntimeError, match=r"No CUDA GPUs are available.*glasstorch.cuda.use_simulator\(\)"):
        glasstorch.empty(3, device="cuda")
