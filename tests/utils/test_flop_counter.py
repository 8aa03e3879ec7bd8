"""Are as many floating-point operations counted as PyTorch counts, in each module, forward and backward?"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import glasstorch
from glasstorch.utils import flop_counter
from glasstorch.utils.flop_counter import FlopCounterMode, flop_registry, register_flop_formula

aten = glasstorch.ops.aten


def perceptron(t: Any) -> Any:
    return t.nn.Sequential(t.nn.Linear(16, 32), t.nn.ReLU(), t.nn.Linear(32, 4))


def residual(t: Any) -> Any:
    class Residual(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = t.nn.Conv2d(3, 8, 3, stride=2, padding=1)
            self.norm = t.nn.BatchNorm2d(8)
            self.second = t.nn.Conv2d(8, 8, 3, padding=1, groups=4)
            self.skip = t.nn.Conv2d(3, 8, 1, stride=2)
            self.up = t.nn.ConvTranspose2d(8, 2, 2, stride=2)

        def forward(self, x: Any) -> Any:
            return self.up((self.second(self.norm(self.first(x)).relu()) + self.skip(x)).relu())

    return Residual()


def transformer(t: Any) -> Any:
    class Block(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.qkv, self.out = t.nn.LayerNorm(8), t.nn.Linear(8, 24), t.nn.Linear(8, 8)
            self.mlp = t.nn.Sequential(t.nn.Linear(8, 32), t.nn.GELU(), t.nn.Linear(32, 8))

        def forward(self, x: Any) -> Any:
            q, k, v = (part.view(2, 5, 2, 4).transpose(1, 2) for part in self.qkv(self.norm(x)).chunk(3, -1))
            attended = t.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(attended.transpose(1, 2).reshape(2, 5, 8))
            return x + self.mlp(x)

    class GPT(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding, self.head = t.nn.Embedding(11, 8), t.nn.Linear(8, 11, bias=False)
            self.blocks = t.nn.ModuleList([Block(), Block()])

        def forward(self, tokens: Any) -> Any:
            x = self.embedding(tokens)
            for block in self.blocks:
                x = block(x)
            return self.head(x)

    return GPT()


Program = Callable[[Any], Any]
PROGRAMS: dict[str, Program] = {
    "perceptron": lambda t: perceptron(t)(t.ones(2, 16)).sum().backward(),
    "perceptron forward": lambda t: perceptron(t)(t.ones(2, 16)),
    "residual": lambda t: residual(t)(t.ones(2, 3, 8, 8, requires_grad=True)).sum().backward(),
    "frozen": lambda t: residual(t).requires_grad_(False)(t.ones(2, 3, 8, 8, requires_grad=True)).sum().backward(),
    "gpt": lambda t: transformer(t)(t.zeros(2, 5, dtype=t.long)).sum().backward(),
    "encoder": lambda t: t.nn.TransformerEncoderLayer(8, 2, 16)(t.ones(5, 2, 8)).sum().backward(),
    "lstm": lambda t: t.nn.LSTM(3, 4)(t.ones(5, 2, 3))[0].sum().backward(),
    "cells": lambda t: t.nn.GRUCell(3, 4)(t.ones(5, 3)).sum().backward(),
    "beside modules": lambda t: (t.ones(2, 3) @ t.ones(3, 2), perceptron(t)(t.ones(200, 16))),
    "products": lambda t: (
        t.einsum("bij,bjk->bik", t.ones(2, 3, 4), t.ones(2, 4, 5)),
        t.baddbmm(t.ones(1, 3, 3), t.ones(2, 3, 4), t.ones(2, 4, 3)),
        t.addmm(t.ones(2), t.ones(3, 4), t.ones(4, 2)),
        t.ones(3, 4) @ t.ones(4),
    ),
    "none": lambda t: t.ones(2, 3) + 1,
    "conv1d": lambda t: t.nn.Conv1d(2, 4, 3)(t.ones(2, 2, 6)).sum().backward(),
}


def mode_of(library: Any) -> Any:
    return importlib.import_module(f"{library.__name__}.utils.flop_counter")


def counted(library: Any, program: Program, **options: Any) -> tuple[int, dict[str, dict[str, int]]]:
    with mode_of(library).FlopCounterMode(display=False, **options) as counter:
        program(library)
    counts = counter.get_flop_counts()
    return counter.get_total_flops(), {
        module: {str(operator): count for operator, count in of_module.items()} for module, of_module in counts.items()
    }


@pytest.mark.parametrize("name", PROGRAMS)
def test_counts_are_those_of_torch(name: str) -> None:
    oracle = pytest.importorskip("torch")
    ours, theirs = (counted(library, PROGRAMS[name]) for library in (glasstorch, oracle))
    assert ours == theirs
    assert (ours[0] > 0) == (name not in ("none", "lstm"))


@pytest.mark.parametrize("context", ["no_grad", "inference_mode"])
@pytest.mark.parametrize("model", [perceptron, residual, transformer])
def test_counts_without_gradients_are_those_of_torch(context: str, model: Any) -> None:
    oracle = pytest.importorskip("torch")
    sizes = {"perceptron": (2, 16), "residual": (2, 3, 8, 8), "transformer": (2, 5)}

    def program(t: Any) -> None:
        module = model(t).eval()
        with getattr(t, context)():
            x = t.zeros(sizes[model.__name__])
            module(x.long() if model is transformer else x)

    ours, theirs = (counted(library, program) for library in (glasstorch, oracle))
    assert ours == theirs
    assert ours[0] > 0


def test_composites_are_counted_in_their_parts_whether_or_not_autocast_is_on() -> None:
    oracle = pytest.importorskip("torch")
    for options in ({"enabled": False}, {"dtype": "bfloat16"}):

        def program(t: Any, options: dict[str, Any] = options) -> None:
            named = {name: getattr(t, value) if name == "dtype" else value for name, value in options.items()}
            model = perceptron(t)
            with t.inference_mode(), t.autocast("cpu", **named):
                model(t.ones(2, 16))
            with t.inference_mode():  # the kernels of autocast are registered now, and off
                model(t.ones(2, 16))

        ours, theirs = (counted(library, program) for library in (glasstorch, oracle))
        assert ours == theirs
        assert ours[0] > 0


def test_a_counter_may_be_used_again() -> None:
    counter = FlopCounterMode(display=False)
    for _ in range(2):
        with counter:
            PROGRAMS["perceptron"](glasstorch)
        assert counter.get_total_flops() == 5632


def test_attention_counts_by_the_formula_that_is_given_as_in_torch() -> None:
    oracle = pytest.importorskip("torch")
    results = []
    for library in (glasstorch, oracle):
        module, operators = mode_of(library), library.ops.aten

        def forward(q: Any, k: Any, v: Any, *rest: Any, of: Any = module, **named: Any) -> int:
            return int(of.sdpa_flop_count(q, k, v))

        def backward(g: Any, q: Any, k: Any, v: Any, *rest: Any, of: Any = module, **named: Any) -> int:
            return int(of.sdpa_backward_flop_count(g, q, k, v))

        formulas = {
            operators._scaled_dot_product_flash_attention_for_cpu: forward,
            operators._scaled_dot_product_flash_attention_for_cpu_backward: backward,
        }
        results.append(counted(library, PROGRAMS["gpt"], custom_mapping=formulas))
    assert results[0] == results[1]
    assert results[0][1]["GPT.blocks.0"]["aten._scaled_dot_product_flash_attention_for_cpu"] == 1600


def test_the_formula_of_attention_fits_the_kernel() -> None:
    kernel = aten._scaled_dot_product_flash_attention_for_cpu
    counter = FlopCounterMode(display=False, custom_mapping={kernel: flop_counter.sdpa_flop})
    q = glasstorch.ones(2, 3, 5, 4)
    with counter:
        glasstorch.nn.functional.scaled_dot_product_attention(q, q, q)
    assert counter.get_flop_counts() == {"Global": {kernel: 2400}}


# The formulas -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "shapes"),
    [
        ("conv_flop_count", ((2, 3, 8, 8), (4, 3, 3, 3), (2, 4, 6, 6))),
        ("conv_flop_count", ((2, 4, 6, 6), (4, 3, 3, 3), (2, 3, 8, 8), True)),
        ("sdpa_flop_count", ((2, 4, 5, 8), (2, 2, 7, 8), (2, 2, 7, 3))),
        ("sdpa_backward_flop_count", ((2, 4, 5, 3), (2, 4, 5, 8), (2, 2, 7, 8), (2, 2, 7, 3))),
        ("mm_flop", ((2, 3), (3, 4))),
        ("bmm_flop", ((7, 2, 3), (7, 3, 4))),
        ("baddbmm_flop", ((1,), (7, 2, 3), (7, 3, 4))),
        ("addmm_flop", ((1,), (2, 3), (3, 4))),
    ],
)
def test_a_formula_gives_what_that_of_torch_gives(formula: str, shapes: Any) -> None:
    oracle = mode_of(pytest.importorskip("torch"))
    assert getattr(flop_counter, formula)(*shapes) == getattr(oracle, formula)(*shapes) > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: flop_counter.mm_flop((2, 3), (4, 5)), r"got 3 and 4"),
        (lambda: flop_counter.bmm_flop((2, 2, 3), (3, 3, 5)), r"batch dimensions must match .* got 2 and 3"),
        (lambda: flop_counter.sdpa_flop_count((1, 2, 3, 4), (1, 2, 3, 5), (1, 2, 3, 4)), "are incompatible"),
        (lambda: flop_counter.sdpa_flop_count((1, 3, 3, 4), (1, 2, 3, 4), (1, 2, 3, 4)), r"query heads \(3\) must be"),
        (lambda: flop_counter.sdpa_backward_flop_count(*[(1, 2, 3, 4)] * 3, (1, 2, 3, 5)), "expected grad_out"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(call: Callable[[], int], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        call()


def test_a_users_operator_counts_by_its_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    with glasstorch.library.Library("flops", "DEF") as library:
        library.define("twice(Tensor x, Tensor[] others) -> Tensor")
        library.impl("twice", lambda x, others: x * 2, "CPU")
        twice = glasstorch.ops.flops.twice
        seen: list[Any] = []

        @register_flop_formula([twice])
        def formula(x: Any, others: Any, out_shape: Any = None) -> int:
            seen.append((x, others, out_shape))
            return 7

        try:
            with FlopCounterMode(display=False) as counter:
                twice(glasstorch.ones(2, 3), [glasstorch.ones(4)])
            assert counter.get_total_flops() == 7
            assert seen == [((2, 3), [(4,)], (2, 3))]
            with pytest.raises(RuntimeError, match=r"duplicate registrations for flops\.twice"):
                register_flop_formula(twice)(formula)
        finally:
            del flop_registry[twice]

        raw: list[Any] = []

        def with_tensors(x: Any, others: Any, out_val: Any = None) -> int:
            raw.append((x, out_val))
            return 3

        with_tensors._get_raw = True  # type: ignore[attr-defined]
        with FlopCounterMode(display=False, custom_mapping={twice: with_tensors}) as counter:
            result = twice(glasstorch.ones(2), [])
        assert counter.get_total_flops() == 3
        assert raw[0][1] is result


def test_what_is_no_operator_gets_no_formula() -> None:
    with pytest.raises(ValueError, match=r"expected each target to be OpOverloadPacket .* got aten\.mm\.default"):
        register_flop_formula(aten.mm.default)(lambda *shapes, **named: 0)


# The table --------------------------------------------------------------------------------------------------------

RESIDUAL = """\
Module                             FLOP    % Total
-----------------------------  --------  ---------
Residual                       113.664K    100.00%
 - aten.convolution             28.672K     25.23%
 - aten.convolution_backward    84.992K     74.77%
 Residual.first                 41.472K     36.49%
  - aten.convolution            13.824K     12.16%
  - aten.convolution_backward   27.648K     24.32%
 Residual.second                55.296K     48.65%
  - aten.convolution             9.216K      8.11%
  - aten.convolution_backward   46.080K     40.54%
 Residual.skip                  78.336K     68.92%
  - aten.convolution             1.536K      1.35%
  - aten.convolution_backward   76.800K     67.57%
 Residual.up                    12.288K     10.81%
  - aten.convolution             4.096K      3.60%
  - aten.convolution_backward    8.192K      7.21%
"""
SMALL = """\
Module           FLOP    % Total
-------------  ------  ---------
Sequential       2560    100.00%
 - aten.addmm    2560    100.00%
"""
NONE = """\
Module      FLOP    % Total
--------  ------  ---------
Global         0         0%
"""


@pytest.mark.parametrize(
    ("name", "depth", "text"),
    [("residual", 2, RESIDUAL), ("perceptron forward", 1, SMALL), ("none", None, NONE)],
)
def test_the_table_is_printed_as_torch_prints_it_with_tabulate(
    name: str, depth: int | None, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with FlopCounterMode(depth=depth):
        PROGRAMS[name](glasstorch)
    assert capsys.readouterr().out == text


@pytest.mark.parametrize("depth", [1, 2, 3, None])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_table_has_the_rows_of_torch(name: str, depth: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = pytest.importorskip("torch")
    rows: list[list[str]] = []

    def tabulate(values: list[list[str]], headers: list[str], colalign: Any) -> str:
        rows.extend([headers, *values])
        return ""

    monkeypatch.setitem(sys.modules, "tabulate", SimpleNamespace(tabulate=tabulate))
    tables = []
    for library in (glasstorch, oracle):
        with mode_of(library).FlopCounterMode(depth=depth, display=False) as counter:
            PROGRAMS[name](library)
        tables.append(counter.get_table())
    lines = tables[0].splitlines()
    ends = [len(dashes) for dashes in lines[1].split("  ")]
    width = ends[0]
    mine = [[line[:width].rstrip(), *line[width:].split()] for line in [lines[0].replace("% Total", "%"), *lines[2:]]]
    wanted = [[row[0], row[1].replace(".000", "") if row[1][-1].isdigit() else row[1], row[2]] for row in rows]
    wanted[0][2] = "%"
    assert mine == wanted


def test_a_table_may_be_asked_for_at_another_depth() -> None:
    with FlopCounterMode(depth=1, display=False) as counter:
        PROGRAMS["gpt"](glasstorch)
    assert "GPT.head" not in counter.get_table()
    assert "GPT.blocks.0.mlp" in counter.get_table(4)
    assert "GPT.blocks.0.mlp" not in counter.get_table(3)


@pytest.mark.parametrize("number", [0, 9, 999, 9999, 10_000, 1_010_000, 10**7, 10**10, 10**13, 10**17])
def test_units_are_those_of_torch(number: int) -> None:
    oracle = mode_of(pytest.importorskip("torch"))
    unit = flop_counter.get_suffix_str(number)
    assert unit == oracle.get_suffix_str(number)
    assert flop_counter.convert_num_with_suffix(number, unit) == oracle.convert_num_with_suffix(number, unit)
    for whole in (0, 3, number):
        assert flop_counter.convert_to_percent_str(number, whole) == oracle.convert_to_percent_str(number, whole)


def test_modules_need_not_be_named() -> None:
    with pytest.warns(UserWarning, match="mods argument is not needed anymore"):
        FlopCounterMode(perceptron(glasstorch))


def test_an_error_inside_ends_the_counting() -> None:
    counter = FlopCounterMode(display=False)
    with pytest.raises(ZeroDivisionError), counter:
        _ = 1 / 0
    before = counter.get_total_flops()
    PROGRAMS["perceptron"](glasstorch)
    assert counter.get_total_flops() == before == 0
