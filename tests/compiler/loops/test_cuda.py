"""Do kernels made of loops give on a CUDA device what the library's kernels give there, and are they fewer?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import glasstorch as torch
from glasstorch._inductor.compile_fx import compile_fx
from glasstorch.core.pytree import tree_leaves
from glasstorch.devices import runtime
from glasstorch.devices.driver import Driver
from tests.compiler.loops.test_backend import PROGRAMS, check, graph
from tests.devices.devices import GPU, made

F = torch.nn.functional
LEFT_OUT = ("nothing", "filled")  # empty values are run node by node; tensors of the CPU among those of the device
MORE: dict[str, Callable[[Any, Any], Any]] = {
    "everything": lambda x, y: (x.sum(), (x * y).amax(), x.argmax(), x.expand(500, 6, 10).exp().sum()),
    "long rows": lambda x, y: (x.view(1, 60).expand(40, 60).reshape(2, 1200) * 2).softmax(1),
    "longer than shared memory": lambda x, y: x.view(60, 1).expand(60, 300).reshape(1, 18000).exp().softmax(1),
    "places": lambda x, y: (*x.max(1), *y.min(0), x.argmin(1), x.var(0)),
    "nan": lambda x, y: torch.where(x > 0, x, torch.nan).amax(1) + torch.where(y > 9, y, torch.inf).amin(1),
}
CHOSEN = {**{name: program for name, program in PROGRAMS.items() if name not in LEFT_OUT}, **MORE}


@pytest.fixture(scope="module", params=["check", pytest.param(GPU, marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[Driver]:
    driver = made(request.param)
    runtime.use_driver(driver)
    try:
        yield driver
        driver.synchronize()
    finally:
        runtime.use_driver(None)


def inputs() -> tuple[Any, Any]:
    torch.manual_seed(3)
    return torch.randn(6, 10), torch.randn(6, 10)


def check_on_device(program: Callable[[Any, Any], Any]) -> None:
    """What a compiled graph gives on a device is what the program gives on the CPU."""
    x, y = inputs()
    compiled = graph(lambda x, y: tree_leaves(program(x, y)), x.cuda(), y.cuda())
    assert {kernel.device for kernel in compiled.kernels} == {"cuda:0"}
    found, wanted = compiled([x.cuda(), y.cuda()]), tree_leaves(program(x, y))
    for one, other in zip(found, wanted, strict=True):
        assert one.device.type == "cuda"
        assert one.stride() == other.stride()
        torch.testing.assert_close(one.cpu(), other, rtol=1e-5, atol=1e-6, equal_nan=True)


def test_programs(device: Driver) -> None:
    """All at once, as compiling is what takes long."""
    check_on_device(lambda x, y: [CHOSEN[name](x, y) for name in CHOSEN])


@pytest.mark.slow  # a second for each
@pytest.mark.parametrize("name", CHOSEN)
def test_program(name: str, device: Driver) -> None:
    check_on_device(CHOSEN[name])


def test_what_has_no_kernel_says_why(device: Driver) -> None:
    compiled = graph(lambda x: x.exp().cumsum(1) * 2, inputs()[0].cuda())
    assert any("a scan takes one element after the other" in line for line in compiled.externs)
    assert "aten_cumsum" in compiled.source_code


def test_a_graph_is_launched_as_fewer_kernels(device: Driver) -> None:
    if not device.simulated:
        pytest.skip("only the simulator counts launches")

    def program(x: Any, y: Any) -> Any:
        return F.softmax(torch.sin(x) * y + 1, -1)

    x, y = (one.cuda() for one in inputs())
    compiled = graph(program, x, y)
    with device.counting() as eager:  # type: ignore[attr-defined]
        program(x, y)
    with device.counting() as fused:  # type: ignore[attr-defined]
        compiled([x, y])
    assert len(eager) == 4
    assert [name for name, _ in fused] == ["kernel0"]
    assert fused[0][1].global_loads < sum(counts.global_loads for _, counts in eager)


def test_gradients(device: Driver) -> None:
    def program(x: Any, w: Any) -> list[Any]:
        return [F.layer_norm(F.gelu(x @ w), (5,)).log_softmax(-1)]

    torch.manual_seed(5)
    given, weights = [torch.randn(4, 3), torch.randn(3, 5)], torch.randn(4, 5)
    on_cpu = [one.requires_grad_() for one in given]
    on_device = [one.detach().cuda().requires_grad_() for one in given]
    wanted = torch.autograd.grad((program(*on_cpu)[0] * weights).sum(), on_cpu)
    found = compile_fx(program, on_device)(*on_device)[0]
    gradients = torch.autograd.grad((found * weights.cuda()).sum(), on_device)
    torch.testing.assert_close([one.cpu() for one in gradients], list(wanted), rtol=1e-4, atol=1e-5)


def test_kernels_of_both_devices_in_one_graph(device: Driver) -> None:
    x, y = inputs()[0].cuda(), torch.randn(6, 10)
    compiled = check(lambda x, y: (x.exp() + 1, y.exp() + 1, y.cuda() * 2 + x), x, y)
    assert {kernel.device for kernel in compiled.kernels} == {"cpu", "cuda:0"}


def test_another_driver_compiles_the_kernel_again(device: Driver) -> None:
    compiled = graph(lambda x: x * 2 + 1, inputs()[0].cuda())
    other = made("forward")
    try:
        runtime.use_driver(other)
        assert compiled([torch.ones(6, 10).cuda()])[0].tolist() == [[3] * 10] * 6
        other.synchronize()
    finally:
        runtime.use_driver(device)
    assert compiled([torch.ones(6, 10).cuda()])[0].tolist() == [[3] * 10] * 6
