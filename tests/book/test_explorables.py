"""Are the explorables' facts those of the library, and are they where a reader looks for them?"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import glasstorch as torch
from glasstorch.compiler.loops.backend import CompiledFxGraph
from glasstorch.dispatch.active_keys import compute_keys
from glasstorch.dispatch.trace import Trace, trace
from glasstorch.fx.experimental.proxy_tensor import make_fx
from glasstorch.utils._python_dispatch import TorchDispatchMode
from tests.book.small_book import ROOT
from workbook.book.cache import Cache
from workbook.book.explorables import dispatch, fusion, launch, passes
from workbook.book.explorables.__main__ import main
from workbook.book.explorables.catalogue import NAMES, data_script, drawn, explorable, loading, shown_in

SHOWN = re.compile(r"!\[[^\]]+\]\([./]*/assets/explorables/(\w+)\.svg")
SVG = "{http://www.w3.org/2000/svg}"


def test_the_committed_figures_are_fresh() -> None:
    assert main(["--check"]) == 0


@pytest.mark.parametrize(("path", "text"), drawn(ROOT).items(), ids=NAMES)
def test_a_figure_can_be_read_aloud_and_has_ids_of_its_own(path: Path, text: str) -> None:
    svg = ElementTree.fromstring(text)
    assert all(svg.findtext(f"{SVG}{part}") for part in ("title", "desc"))
    ids = [str(element.get("id")) for element in svg.iter() if element.get("id")]
    assert all(one.startswith(f"explorable-{path.stem}-") for one in ids)


def test_each_stands_in_a_section_and_all_on_one_page() -> None:
    page = (ROOT / "chapters" / "reference" / "explorables.md").read_text(encoding="utf-8")
    assert SHOWN.findall(page) == list(NAMES)
    sections = [path.read_text(encoding="utf-8") for path in (ROOT / "chapters").glob("0*/*.md")]
    assert {name for section in sections for name in SHOWN.findall(section)} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_data_is_a_script_with_the_same_bytes_each_time(name: str, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    script = data_script(name, cache, "key")
    assert script == data_script(name, cache, "key"), "what was kept is what was found"
    assert script == data_script(name, Cache(tmp_path / "other"), "key")
    assert json.loads(script.decode().partition(", ")[2].removesuffix(");\n")) == json.loads(
        json.dumps(explorable(name).data())
    )
    assert len(script) < 60_000, "a page has little room"


def test_a_page_loads_only_what_it_shows() -> None:
    page = '<figure class="figure explorable" data-explorable="strides">'
    assert shown_in(page + page) == ["strides"]
    lines = loading(["strides"], "02-tensor-storage").splitlines()
    assert [re.sub(r'.*(?:href|src)="([^"]*)".*', r"\1", line) for line in lines] == [
        f"../assets/explorables/{name}" for name in ("explorables.css", "kit.js", "strides.js")
    ]


# --- dispatch ---


class Handing(TorchDispatchMode):
    """A mode that hands each call on."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return function(*args, **(kwargs or {}))


CALLS: dict[str, Callable[[Any], Any]] = {
    "add.Tensor": lambda x: torch.add(x, x),
    "relu": torch.relu,
    "mm": lambda x: torch.mm(x, x),
    "sum": torch.sum,
    "native_layer_norm": lambda x: torch.native_layer_norm(x, [2], None, None, 1e-5),
    "linear": lambda x: torch.nn.functional.linear(x, x),
    "matmul": lambda x: torch.matmul(x, x),
    "reshape": lambda x: x.reshape(4),
    "expand": lambda x: x.expand(2, 2),
    "transpose.int": lambda x: x.transpose(0, 1),
}


def traced(name: str, device: str, on: tuple[bool, ...]) -> tuple[int, Trace]:
    """The key set of a real call in these modes, and the hops of it."""
    inference, autocast, _, python = on
    x = torch.ones(2, 2, device=device.lower())
    with ExitStack() as modes:
        if inference:
            modes.enter_context(torch.inference_mode())
        if autocast:
            modes.enter_context(torch.autocast(device.lower()))
        if python:
            modes.enter_context(Handing())
        keys = compute_keys(x.key_set)
        with trace() as hops:
            CALLS[name](x)
    return keys, hops


def settings() -> Iterator[tuple[str, str, tuple[bool, ...]]]:
    for name, device in product(CALLS, ("CPU", "Meta")):
        for inference, autocast, python in product((False, True), repeat=3):
            if not (device == "Meta" and autocast):
                yield name, device, (inference, autocast, False, python)


def test_paths_are_those_of_real_calls() -> None:
    for name, device, on in settings():
        operator = dispatch.with_kernels(dispatch.registrations()[name])
        keys, hops = traced(name, device, on)
        assert dispatch.key_set(device, on) == keys, (name, device, on)
        found = [(hop.key, hop.rule) for hop in dispatch.path(operator, keys)]
        real = [(hop.key.name, hop.rule) for hop in hops if hop.operator == f"aten::{name}"]
        assert found == real[: len(found)], (name, device, on)
        if found[-1][1] != "math kernel":
            assert found == real


def test_the_rows_of_a_path_and_the_set_say_what_was_passed_by() -> None:
    facts, choices = dispatch.data(), random.Random(18)
    for _ in range(200):
        one = choices.choice(facts["devices"])
        subset, mode = choices.randrange(len(one["ways"])), choices.randrange(1 << len(dispatch.MODES))
        on = tuple(bool(mode >> bit & 1) for bit in range(len(dispatch.MODES)))
        keys, operator = dispatch.key_set(one["name"], on), dispatch.with_kernels(one["places"], subset)
        assert one["sets"][mode] == dispatch.names_in(keys, one["name"])
        way, hops = facts["paths"][one["ways"][subset][mode]], list(dispatch.path(operator, keys))
        present = [row for row, key in enumerate(one["rows"]) if key in one["sets"][mode]]
        entries = [tuple(facts["entries"][number]) for number in one["tables"][subset]]
        assert [(one["rows"][row], *entries[row]) for row in way] == [(hop.key, hop.rule, hop.by) for hop in hops]
        passed = [one["rows"][row] for row in present if row < way[-1] and row not in way]
        assert passed == list(dict.fromkeys(key for hop in hops for key in hop.skipped)), "each of them once"


def test_registrations_for_other_devices_do_not_matter() -> None:
    choices = random.Random(18)
    for _ in range(200):
        device = choices.choice(dispatch.DEVICES)
        on = tuple(choices.random() < 0.5 for _ in dispatch.MODES)
        places = [place for place in dispatch.PLACES if choices.random() < 0.5]
        fewer = [place for place in places if place in dispatch.matter_to(device)]
        keys, all_of_them, some = dispatch.key_set(device, on), *map(dispatch.with_kernels, (places, fewer))
        assert list(dispatch.path(all_of_them, keys)) == list(dispatch.path(some, keys))
        assert [dispatch.entry(all_of_them, key) for key in dispatch.rows(device)] == [
            dispatch.entry(some, key) for key in dispatch.rows(device)
        ]


def test_a_traced_program_meets_the_tracer_first() -> None:
    real: list[tuple[str, str]] = []

    def program(x: Any) -> Any:
        with trace() as hops:
            result = torch.add(x, x)
        real[:] = real or [(hop.key.name, hop.rule) for hop in hops]
        return result

    torch.jit.trace(program, (torch.ones(2),))
    operator = dispatch.with_kernels(("CPU", "Meta", "Autograd"))
    keys = dispatch.key_set("CPU", (False, False, True, False))
    assert [(hop.key, hop.rule) for hop in dispatch.path(operator, keys)] == real


# --- a launch ---


def test_a_warp_fetches_whole_sectors() -> None:
    def fetched(**how: int) -> tuple[int, int, int]:
        warp = launch.Launch(n=1000, block=32, blocks=1, **how).warp(0)
        return warp["used"], len(warp["sectors"]), warp["lines"]

    assert fetched() == (128, 4, 1)
    assert fetched(stride=2) == (128, 8, 2)
    assert fetched(stride=32) == (128, 32, 32)
    assert fetched(offset=1) == (128, 5, 2)
    assert fetched(offset=8) == (128, 4, 2), "it begins with a sector, and not with a line"
    assert fetched(stride=0) == (4, 1, 1)
    assert fetched(size=8) == (256, 8, 2)


def test_threads_are_counted_to_the_end() -> None:
    assert launch.Launch(n=20_000, block=64, blocks=256).facts()["missed"] == 3616
    some = launch.Launch(n=100, block=48, blocks=3)
    assert [len(warp) for warp in some.warps()] == [32, 16] * 3
    assert some.facts()["beyond"] == 44
    assert [some.warp(number)["active"] for number in range(6)] == [32, 16, 32, 16, 4, 0]
    assert launch.Launch(n=100, block=48, blocks=3, guard=False).warp(5)["active"] == 16


def test_a_warp_goes_both_ways_only_where_its_threads_part() -> None:
    def parted(branch: str) -> int:
        return launch.Launch(n=1000, block=64, blocks=2, branch=branch).facts()["parted"]

    assert {branch: parted(branch) for branch in launch.BRANCHES} == {
        "none": 0,
        "i % 2": 4,
        "threadIdx.x % 32 < 16": 4,
        "threadIdx.x / 32 % 2": 0,
    }


# --- a graph under its passes ---


def kept(lines: list[passes.Line], but: str) -> list[str]:
    """The lines of a step that are there before it (but: new), or after it (but: gone)."""
    return [line.text for line in lines if line.mark != but]


@pytest.mark.parametrize("program", passes.PROGRAMS.values(), ids=passes.PROGRAMS)
def test_a_step_leads_from_one_graph_to_the_next(program: passes.Program) -> None:
    steps = list(passes.steps_of(program.function))
    stages = [lines for _, lines, _ in passes.stages_of(program.function)]
    assert len(steps) == len(stages) == len(passes.STAGES)
    for before, step, after in zip([stages[0], *stages[:-2]], steps[:-1], stages[:-1], strict=True):
        assert kept(step, "gone") == [line.text for line in after]
        assert kept(step, "new") == [line.text for line in before]
    assert kept(steps[-1], "gone") == [line.text for line in stages[-1]]


def test_why_a_line_went_is_true_of_its_graph() -> None:
    _, joint, _, common, dead, parts = passes.steps_of(passes.twice)
    assert not [line for line in joint if line.why]
    gone = {line.text: line.why for line in (*common, *dead) if line.why}
    assert gone["mul_1 = mul(primals_1, primals_2)"] == "computes what mul has computed"
    assert gone["sigmoid_1 = sigmoid(mul_1)"] == "computes what sigmoid has computed"
    assert gone["cos = cos(sigmoid)"] == "nothing uses it"
    again = [line.text for line in parts if line.why == "computed again"]
    assert again == ["mul = mul(primals_1, primals_2)", "sigmoid = sigmoid(mul)"]
    assert [line.text for line in parts if line.why == "kept by forward"] == [
        "primals_1: an input",
        "primals_2: an input",
    ]


def test_the_programs_that_are_shown_are_those_that_run() -> None:
    x = torch.arange(1.0, 5.0).view(2, 2)
    names = {"x": x, "w": x.flip(0), "silu": torch.nn.functional.silu}
    for program in passes.PROGRAMS.values():
        body = "\n    ".join(program.lines)
        found: dict[str, Any] = dict(names)
        exec(f"def shown(x, w):\n    {body}", found)
        assert torch.equal(found["shown"](x, names["w"]), program.function(x, names["w"]))


# --- fusion ---


def test_what_passes_through_memory_is_counted() -> None:
    million = 1_000_000
    chain, softmax = "(x * y + x).sigmoid() * y", "softmax(x, 1)"
    assert [fusion.facts(chain, way)["moved"] for way in fusion.WAYS] == [11 * 4 * million, 3 * 4 * million]
    one_by_one, fused = (fusion.facts(softmax, way) for way in fusion.WAYS)
    assert fused["moved"] == 2 * 4 * million, "x is read and the result is written"
    assert one_by_one["moved"] == 6 * 4 * million + 4 * 4000, "a row's maximum and sum are written and read"
    assert [one["place"] for one in fused["buffers"]] == ["argument", "variable", "row", "variable", "result"]
    assert [phase for _, phase in fused["nests"][0]["loops"]] == [0, 1, 1, 2]
    assert (one_by_one["workspace"] > 0, fused["workspace"]) == (True, 0)


def test_each_program_is_what_its_code_says() -> None:
    names = {"softmax": torch.softmax, "layer_norm": torch.nn.functional.layer_norm}
    for code, (_, function) in fusion.PROGRAMS.items():
        x, y = torch.randn(8, 1000), torch.rand(8, 1000)
        if ".t()" in code:
            x, y = torch.randn(8, 8), torch.rand(8, 8)
        wanted = eval(code.removesuffix(" of long rows"), {**names, "x": x, "y": y})
        torch.testing.assert_close(function(x, y), wanted)


@pytest.mark.parametrize("way", fusion.WAYS)
def test_the_text_of_a_nest_is_part_of_what_is_compiled(way: str) -> None:
    for code in fusion.PROGRAMS:
        kernel = fusion.scheduled(fusion.lowered(code), way)
        text = kernel.text()
        for nest in fusion.facts(code, way)["nests"]:
            assert "\n".join(f"    {line}" for line in nest["code"]) in text


def test_the_fused_way_is_that_of_a_compiled_graph() -> None:
    for code, (sizes, function) in fusion.PROGRAMS.items():
        compiled = CompiledFxGraph(make_fx(function, tracing_mode="fake")(torch.zeros(sizes), torch.zeros(sizes)))
        for nest in fusion.facts(code, "fused")["nests"]:
            assert "\n".join(f"    {line}" for line in nest["code"]) in compiled.cpp_code
