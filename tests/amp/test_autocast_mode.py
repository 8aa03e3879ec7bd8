"""Does a block of autocast, or a decorated function, do what it does in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.devices.devices import Devices
from tests.nn.side_by_side import assert_same

Require = Callable[[str], Any]


def mm(lib: Any, *dtypes: str) -> str:
    x, y = (lib.ones(2, 2, dtype=getattr(lib, name)) for name in (dtypes or ("float32", "float32")))
    return str((x @ y).dtype)


def nested(lib: Any) -> list[str]:
    said = [mm(lib)]
    with lib.autocast("cpu"):
        said.append(mm(lib))
        with lib.autocast("cpu", dtype=lib.float16):
            said.append(mm(lib))
            with lib.autocast("cpu", enabled=False):
                said.append(mm(lib))
                with lib.autocast("cpu"):
                    said.append(mm(lib))
        said.append(mm(lib, "float32", "float16"))
    return [*said, mm(lib)]


def given_a_dtype(lib: Any) -> list[str]:
    with lib.autocast("cpu", lib.float16, True, False):
        return [mm(lib), str(lib.is_autocast_cache_enabled()), str(lib.get_autocast_dtype("cpu"))]


def left_by_an_error(lib: Any) -> list[Any]:
    try:
        with lib.autocast("cpu", dtype=lib.float16, cache_enabled=False):
            raise KeyError("x")
    except KeyError:
        return [lib.is_autocast_enabled("cpu"), str(lib.get_autocast_dtype("cpu")), lib.is_autocast_cache_enabled()]


def decorated(lib: Any) -> list[Any]:
    @lib.autocast("cpu")
    def product(lib: Any) -> str:
        """Doc."""
        return mm(lib)

    class Model(lib.nn.Module):
        @lib.autocast("cpu", dtype=lib.float16)
        def forward(self) -> str:
            return mm(lib)

    return [product(lib), product.__name__, product.__doc__, Model()(), mm(lib)]


def entered_twice_in_turn(lib: Any) -> list[str]:
    block, said = lib.autocast("cpu"), []
    for _ in range(2):
        with block:
            said.append(mm(lib))
        said.append(mm(lib))
    return said


def by_hand(lib: Any) -> list[str]:
    before = lib.is_autocast_enabled("cpu")
    lib.set_autocast_enabled("cpu", True)
    said = [mm(lib)]
    lib.set_autocast_enabled("cpu", before)
    return [*said, mm(lib)]


def facts(lib: Any) -> list[Any]:
    block = lib.amp.autocast("cpu", dtype=lib.float16)
    return [block.device, str(block.fast_dtype), block._enabled, block._cache_enabled, lib.autocast is lib.amp.autocast]


@pytest.mark.parametrize(
    "program",
    [
        nested,
        given_a_dtype,
        left_by_an_error,
        decorated,
        entered_twice_in_turn,
        by_hand,
        facts,
        lambda lib: lib.autocast("cpu", dtype=lib.float32)._enabled,
        lambda lib: lib.autocast("cuda")._enabled,
        lambda lib: lib.autocast("cuda", enabled=False)._enabled,
        lambda lib: lib.autocast("cpu")(3),
        lambda lib: lib.cuda.amp.autocast()._enabled,
        lambda lib: lib.cpu.amp.autocast(dtype=lib.float16).device,
        lambda lib: mm(lib) if lib.cpu.amp.autocast()(lambda: 1)() else None,
        lambda lib: lib.amp.custom_fwd(device_type=1),
        lambda lib: lib.amp.custom_bwd(device_type=1),
        lambda lib: lib.cuda.amp.autocast_mode._cast([1], lib.float16),
        lambda lib: lib.cuda.amp.amp_definitely_not_available(),
    ],
)
def test_a_program_does_what_it_does_in_pytorch(program: Callable[[Any], Any], require: Require) -> None:
    assert_same(program, require("torch"))


@pytest.mark.parametrize("device", ["meta", "foo", 3])
def test_other_devices_are_refused(device: Any, require: Require) -> None:
    assert_same(lambda lib: lib.autocast(device), require("torch"), words=device == 3)


def test_a_function_that_calls_itself_leaves_autocast_off() -> None:
    @glasstorch.autocast("cpu")
    def sum_of_products(depth: int) -> list[str]:
        return [mm(glasstorch), *(sum_of_products(depth - 1) if depth else [])]

    assert sum_of_products(2) == ["torch.bfloat16"] * 3
    assert mm(glasstorch) == "torch.float32"


def test_a_warning_names_the_line_of_the_program() -> None:
    for make in (
        lambda: glasstorch.autocast("cpu", dtype=glasstorch.float32),
        lambda: glasstorch.cpu.amp.autocast(),
        lambda: glasstorch.cpu.amp.GradScaler(),
    ):
        with pytest.warns() as warned:
            make()
        assert warned[0].filename == __file__


# Custom Functions -----------------------------------------------------------------------------------------------------


def custom(lib: Any, cast_inputs: str | None, on: bool) -> list[Any]:
    seen: list[Any] = []
    cast = None if cast_inputs is None else getattr(lib, cast_inputs)

    class Product(lib.autograd.Function):
        @staticmethod
        @lib.amp.custom_fwd(device_type="cpu", cast_inputs=cast)
        def forward(ctx: Any, a: Any, b: Any, options: Any) -> Any:
            seen.append([str(a.dtype), str(b.dtype), lib.is_autocast_enabled("cpu"), str(options["scale"].dtype)])
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        @lib.amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, grad: Any) -> Any:
            a, b = ctx.saved_tensors
            result = grad @ b.t()
            seen.append([str(grad.dtype), str(result.dtype), lib.is_autocast_enabled("cpu"), ctx._fwd_used_autocast])
            return result, a.t() @ grad, None

    a, b = (lib.ones(2, 2, requires_grad=True) for _ in range(2))
    with lib.autocast("cpu", enabled=on):
        result = Product.apply(a, b, {"scale": lib.ones(1)})
    result.sum().backward()
    return [*seen, str(result.dtype), str(a.grad.dtype), a.grad.tolist()]


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("cast_inputs", [None, "float32", "bfloat16"])
def test_a_custom_function_runs_forward_and_backward_alike(cast_inputs: Any, on: bool, require: Require) -> None:
    assert_same(lambda lib: custom(lib, cast_inputs, on), require("torch"))


def test_what_is_cast_for_a_custom_function(require: Require) -> None:
    def program(lib: Any) -> list[Any]:
        cast = lib.amp.autocast_mode._cast

        def dtype_of(value: Any) -> Any:
            return str(cast(value, "cpu", lib.float16).dtype)

        x = lib.ones(2)
        nested = cast({"a": [x, (x, "text", b"b", 3)]}, "cpu", lib.float16)
        lazily = cast(iter([x]), "cpu", lib.float16)
        return [
            *(dtype_of(x.to(getattr(lib, name))) for name in ("float32", "float64", "int64", "bfloat16")),
            str(cast(x, "cuda", lib.float16).dtype),
            str(cast(np.ones(2, np.float32), "cpu", lib.float16).dtype),
            str(nested["a"][1][0].dtype),
            type(nested["a"][1]).__name__,
            nested["a"][1][1:],
            isinstance(lazily, Iterator),
            str(next(lazily).dtype),
        ]

    assert_same(program, require("torch"))


def test_the_old_decorators_for_cuda_warn_and_work(require: Require) -> None:
    def program(lib: Any) -> Any:
        class Double(lib.autograd.Function):
            @staticmethod
            @lib.cuda.amp.custom_fwd(cast_inputs=lib.float16)
            def forward(ctx: Any, x: Any) -> Any:
                return x * 2

            @staticmethod
            @lib.cuda.amp.custom_bwd
            def backward(ctx: Any, grad: Any) -> Any:
                return grad * 2

        x = lib.ones(2, requires_grad=True)
        Double.apply(x).sum().backward()
        return x.grad.tolist()

    assert_same(program, require("torch"))


def test_autocast_for_cuda_casts_to_float16(cuda: Devices) -> None:
    x = glasstorch.ones(2, 2, device="cuda", requires_grad=True)
    with glasstorch.autocast("cuda"):
        y = x @ x
        assert y.dtype is glasstorch.float16
    with glasstorch.autocast("cuda", dtype=glasstorch.bfloat16):
        assert (x @ x).dtype is glasstorch.bfloat16
    y.sum().backward()
    assert x.grad.dtype is glasstorch.float32
    assert not glasstorch.cuda.amp.amp_definitely_not_available()


def test_the_end_of_a_block_lets_errors_pass_and_says_so(torch: Any) -> None:
    block = torch.autocast("cpu")
    block.__enter__()
    assert block.__exit__(None, None, None) is False
    with pytest.raises(KeyError), torch.autocast("cpu"):
        raise KeyError("of the program")
