"""Does one compiled graph serve all batch sizes, with the results and gradients of eager mode?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch as torch
from glasstorch.compiler import aot
from glasstorch.compiler.boxed import make_boxed_func
from glasstorch.compiler.loops import backend, machine_code
from glasstorch.compiler.partition import default_partition
from glasstorch.devices.cpp_compiler import CompileError
from tests.compiler.symbolic_programs import PROGRAMS, chain_of

BATCHES = (4, 6, 3, 9, 7, 2, 8, 5)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """For each compilation below a captured graph, whether it is one "with symbols" or "for numbers"."""
    found: list[str] = []
    original = aot._graphs_of

    def noted(fn: Any, args: Any, options: Any, symbols: Any = None) -> Any:
        run = original(fn, args, options, symbols)
        found.append("for numbers" if symbols is None else "with symbols")
        return run

    monkeypatch.setattr(aot, "_graphs_of", noted)
    return found


def check(f: Callable[[Any], Any], compiled: Callable[[Any], Any], batch: int, marked: bool = False) -> None:
    """A call with its gradient, compiled and not."""
    torch.manual_seed(batch)
    x = torch.randn(batch, 12, requires_grad=True)
    if marked:
        torch._dynamo.mark_dynamic(x, 0)
    wanted, found = f(x), compiled(x)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
    if wanted.requires_grad:
        gradients = [torch.autograd.grad((one * one).sum(), [x])[0] for one in (found, wanted)]
        torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", PROGRAMS)
def test_two_compilations_serve_all_batch_sizes(name: str, made: list[str]) -> None:
    f = PROGRAMS[name]
    compiled = torch.compile(f, backend="aot_eager", fullgraph=True)
    for batch in BATCHES:
        check(f, compiled, batch)
    assert made == ["for numbers", "with symbols"]


@pytest.mark.parametrize(
    "names", [["chain", "softmax", "linear"], ["norm", "sum", "total"], ["views", "joined", "length"]]
)
def test_one_text_in_cpp_serves_all_batch_sizes(
    names: list[str], made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []
    original = machine_code.machine_code
    monkeypatch.setattr(
        machine_code, "machine_code", lambda text, *rest: (texts.append(text), original(text, *rest))[1]
    )
    f = chain_of([PROGRAMS[name] for name in names])
    compiled = torch.compile(f, backend="inductor", fullgraph=True)
    for batch in BATCHES:
        check(f, compiled, batch, marked=True)
    assert made == ["with symbols"]
    assert len(texts) == 2  # forward and backward
    assert all("int64_t s" in text for text in texts)


def test_another_program_has_other_symbols(made: list[str]) -> None:
    """Functions of sizes keep results, and symbols of two programs have the same names."""
    for name in ("log_softmax", "largest"):
        compiled = torch.compile(PROGRAMS[name], dynamic=True)
        for batch in (4, 7):
            check(PROGRAMS[name], compiled, batch)
    assert made == ["with symbols"] * 2


def test_what_a_compiler_decides_about_a_size_is_checked(made: list[str]) -> None:
    ways: list[bool] = []

    def compiler(module: Any, examples: Any) -> Any:
        ways.append(bool(next(one.shape[0] for one in examples if isinstance(one, torch.Tensor)) > 6))
        return make_boxed_func(module.forward)

    def of_ways(module: Any, examples: Any) -> Any:
        run = aot.compile_flat(module, examples, compiler, compiler, default_partition)
        return lambda *values: run(values)

    compiled = torch.compile(PROGRAMS["chain"], backend=of_ways)
    for batch in BATCHES:
        check(PROGRAMS["chain"], compiled, batch)
    assert made == ["for numbers", "with symbols", "with symbols"]
    assert ways == [False, False, False, False, True, True]


@pytest.mark.parametrize("refused", ["the compiler", "the graph"])
def test_a_graph_that_needs_numbers_is_made_for_each(
    refused: str, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object) -> None:
        raise CompileError("no compiler was found")

    monkeypatch.setattr(backend, "tell_once", lambda why: None)
    monkeypatch.setattr(backend, "compiled", refuse)
    f = PROGRAMS["chain"] if refused == "the compiler" else lambda x: (x * 2)[1:].t()
    compiled = torch.compile(f)
    for batch in (4, 6, 3, 6, 3):
        check(f, compiled, batch)
    assert made == ["for numbers"] * 3


@pytest.mark.slow  # hundreds of compilations
@pytest.mark.parametrize("backend_name", ["aot_eager", "aot_eager_decomp_partition", "inductor"])
@pytest.mark.parametrize("seed", range(40))
def test_generated_programs(backend_name: str, seed: int) -> None:
    from random import Random

    random = Random(seed)
    f = chain_of(random.choices([*PROGRAMS.values()], k=random.randint(2, 5)))
    compiled = torch.compile(f, backend=backend_name)
    marked = random.random() < 0.5
    for batch in random.sample(range(2, 13), 5):
        check(f, compiled, batch, marked)
