"""Does the decomposition compute what the kernel does, from simpler operators and without looking at elements?"""

import math
from itertools import product

import glasstorch as torch
from glasstorch.fx.experimental.proxy_tensor import make_fx
from workbook.exercises.asking import Ask, expect

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
DTYPES = (torch.bool, torch.uint8, torch.int32, torch.int64, *FLOATS)
SPECIAL = (0.0, -0.0, 1.0, 2.5, -1.0, 1e-30, math.inf, -math.inf, math.nan)
OPERATOR = torch.ops.aten.xlogy.Tensor


def close(found: object, wanted: object) -> bool:
    """Whether two results have the same dtype and shape, and elements that differ at most in their last bits."""
    if not isinstance(found, torch.Tensor) or not isinstance(wanted, torch.Tensor):
        return False
    if found.dtype is not wanted.dtype or found.shape != wanted.shape:
        return False
    tolerance = {torch.float16: 2e-3, torch.bfloat16: 1e-2}.get(wanted.dtype, 1e-6)
    return bool(torch.allclose(found, wanted, tolerance, 0, equal_nan=True))


def judge(ask: Ask, x: object, y: object, because: str) -> None:
    """Ask for a result, and compare it with the kernel's."""
    asked, wanted = "what the kernel of xlogy gives, in its dtype", torch.xlogy(x, y)
    expect(ask("xlogy", x, y), wanted, same=close, asked=asked, because=because)


def test_special_numbers(ask: Ask) -> None:
    """zeros, infinities and NaN"""
    because = "x of 0 gives 0, except where y is NaN, and every other result is that of x * log(y)"
    for x, y in product(SPECIAL, SPECIAL):
        judge(ask, torch.tensor([x]), torch.tensor([y]), because)


def test_ordinary_numbers(ask: Ask) -> None:
    """tensors of several sizes, which are broadcast"""
    torch.manual_seed(0)
    for left, right in (((4, 3), (4, 3)), ((4, 1), (3,)), ((), (2, 2)), ((0, 3), (3,)), ((2, 3), ())):
        judge(ask, torch.randn(left), torch.rand(right), "x and y are broadcast like the arguments of any operator")


def test_dtypes(ask: Ask) -> None:
    """each pair of dtypes"""
    for left, right in product(DTYPES, DTYPES):
        x, y = torch.tensor([0, 1, 3]).to(left), torch.tensor([2, 1, 0]).to(right)
        judge(ask, x, y, f"the kernel gives {torch.xlogy(x, y).dtype} for {left} and {right}")


def test_python_numbers(ask: Ask) -> None:
    """a Python number in the place of a tensor"""
    for dtype, number in product(DTYPES, (0, 2, 2.5, 0.0, math.nan, True)):
        tensor = torch.tensor([0, 1, 3]).to(dtype)
        because = f"with {dtype} and a Python number the kernel gives {torch.xlogy(tensor, number).dtype}"
        judge(ask, number, tensor, because)
        judge(ask, tensor, number, because)


def units_off(found: torch.Tensor, x: torch.Tensor, y: torch.Tensor, bits: int) -> float:
    """How far the results are from the exact ones, in units of the last place."""
    exact = x.double() * y.double().log()
    unit = torch.exp2(exact.abs().log2().floor() - bits)
    return float(((found.double() - exact).abs() / unit).max())


def test_half_precision_is_rounded_once(ask: Ask) -> None:
    """how far results in half precision are from the exact ones"""
    torch.manual_seed(0)
    for dtype, bits in ((torch.float16, 10), (torch.bfloat16, 7)):
        x, y = (torch.rand(500) + 0.5).to(dtype), (torch.rand(500) * 1.5 + 1.5).to(dtype)

        def off(found: torch.Tensor, x: torch.Tensor = x, y: torch.Tensor = y, bits: int = bits) -> bool:
            return found.dtype is x.dtype and units_off(found, x, y, bits) <= 0.51

        expect(
            ask("xlogy", x, y),
            True,
            read=off,
            asked=f"whether each result of {dtype} is at most half a unit of the last place from the exact one",
            because="float32 is rounded once, at the end; a logarithm in half precision has been rounded before",
        )


def test_it_can_be_recorded(ask: Ask) -> None:
    """the decomposition as it is recorded, with tensors without elements"""
    table = {OPERATOR: ask.get("xlogy")}

    def called(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.xlogy(x, y)

    def operators(x: torch.Tensor) -> list[object]:
        graph = make_fx(called, table, "fake")(x, x).graph
        return [node.target for node in graph.nodes if node.op == "call_function"]

    for dtype in (torch.float16, torch.float32, torch.int64):
        x = torch.tensor([0, 1, 3]).to(dtype)
        ask("xlogy", x, x).value  # noqa: B018
        try:
            found: object = operators(x)
        except Exception as error:  # noqa: BLE001
            found = f"{type(error).__name__}: {error}"
        writes = isinstance(found, list) and any(operator._schema.is_mutable for operator in found)
        came = found if isinstance(found, str) else "the operator itself" if OPERATOR in found else writes
        asked = f"whether the graph of xlogy for {dtype} has operators that write to their arguments"
        expect(came, False, asked=asked, because="a graph of simpler operators is recorded with fake tensors")
