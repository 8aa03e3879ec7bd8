"""Do the explorables show what the library does, by mouse and by keyboard, wide and narrow, and without a program?"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import glasstorch as torch
from tests.site.conftest import ROOT, small_site
from tests.site.looking import TOUCHED, WATCH, Watched, look, watched
from workbook.book.explorables import dispatch, fusion, launch, passes, versions
from workbook.book.explorables.catalogue import NAMES
from workbook.serve import bind, in_background

pytestmark = pytest.mark.ci

PAGE = "reference/explorables"
BUTTONS = {"dispatch": "no_grad", "versions": "y.add_(1)"}  # of the explorables without a slider
TO_SECTIONS = re.compile(r"\[([^\]]+)\]\(\.\./\d[^)]*\)")
CHANGES = "([name, before]) => document.querySelector(`[data-explorable=${name}] .x-said`).innerText !== before"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page with all explorables, built alone."""
    text = (ROOT / "chapters" / f"{PAGE}.md").read_text(encoding="utf-8")
    return small_site(tmp_path_factory.mktemp("played"), {"index": "# Home\n", PAGE: TO_SECTIONS.sub(r"\1", text)})


@pytest.fixture(scope="module")
def window(browser: Any, played: Path) -> Iterator[Watched]:
    """The page from disk, once all explorables stand; nothing went wrong on it until the end."""
    with watched(browser) as seen:
        seen.open(played / f"{PAGE}.html")
        for name in NAMES:
            comes_near(seen, name)
        seen.page.evaluate(WATCH)
        yield seen
        assert seen.problems == []


def figure_of(window: Watched, name: str) -> Any:
    """The place of an explorable."""
    return window.page.locator(f'figure[data-explorable="{name}"]')


def comes_near(window: Watched, name: str) -> None:
    """Scroll to an explorable and wait until it stands."""
    figure_of(window, name).scroll_into_view_if_needed()
    window.page.wait_for_selector(f'figure[data-explorable="{name}"] > .x-stage')


def shown(figure: Any) -> Any:
    """What an explorable says that it shows."""
    return figure.evaluate("figure => figure.explorable.shown()")


def press(figure: Any, name: str) -> None:
    """Press a button by the keyboard."""
    figure.get_by_role("button", name=name, exact=True).press("Enter")


def said(figure: Any) -> str:
    """What its line says."""
    return str(figure.locator(".x-said").inner_text())


def test_pages_of_explorables_fit_and_satisfy_axe(browser: Any, played: Path, axe: str) -> None:
    assert look(browser, [played / f"{PAGE}.html"], axe=axe) == {}


def test_without_its_program_the_static_figure_stays(browser: Any, played: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((played / f"{PAGE}.html").as_uri())
    assert page.locator("figure.explorable svg.glass-figure").count() == len(NAMES)
    context.close()
    broken = played.parent / "broken"
    shutil.copytree(played, broken)
    for name in NAMES:
        script = broken / "assets" / "explorables" / f"{name}.js"
        script.write_text(f'GlassExplorable.define("{name}", () => {{ throw new Error("no"); }});', encoding="utf-8")
    with watched(browser) as seen:
        seen.open(broken / f"{PAGE}.html")
        for name in NAMES:
            figure_of(seen, name).scroll_into_view_if_needed()
            while not any(f"explorable {name}: " in problem for problem in seen.problems):
                seen.page.wait_for_timeout(20)
        assert seen.page.locator("figure.explorable svg.glass-figure").count() == len(NAMES)
        assert len(seen.problems) == len(NAMES)


def test_the_data_of_an_explorable_are_loaded_when_it_comes_near(browser: Any, played: Path) -> None:
    with watched(browser) as seen:
        asked: list[str] = []
        seen.page.on("request", lambda request: asked.append(Path(request.url).name))
        seen.open(played / f"{PAGE}.html")
        first, last = NAMES[0], NAMES[-1]
        seen.page.wait_for_selector(f'figure[data-explorable="{first}"] > .x-stage')
        assert f"{first}.data.js" in asked
        assert f"{last}.data.js" not in asked
        comes_near(seen, last)
        assert asked.count(f"{last}.data.js") == 1
        assert seen.problems == []


def test_explorables_are_played_with_on_a_served_page(browser: Any, played: Path) -> None:
    with in_background(bind(played, 0)) as address, watched(browser) as seen:
        seen.page.goto(f"{address}{PAGE}.html", wait_until="load")
        for name in NAMES:
            comes_near(seen, name)
            figure = figure_of(seen, name)
            before = said(figure)
            if name in BUTTONS:
                press(figure, BUTTONS[name])
            else:
                figure.get_by_role("slider").first.press("ArrowRight")
            seen.page.wait_for_function(CHANGES, arg=[name, before])
        assert [one for one in seen.problems if not one.startswith(f"asked for {address}")] == []


# --- strides ---


def facts_of(code: str) -> dict[str, Any]:
    """What the library says of an expression."""
    tensor = eval(code, {"torch": torch})
    return {
        "code": code,
        "sizes": list(tensor.shape),
        "strides": list(tensor.stride()),
        "offset": tensor.storage_offset(),
        "values": tensor.flatten().tolist(),
        "contiguous": tensor.is_contiguous(),
    }


def strides_of(code: str) -> list[int] | None:
    """The strides of a view, or None where it raises."""
    try:
        return list(eval(code, {"torch": torch}).stride())
    except RuntimeError:
        return None


def test_two_hundred_tensors_are_the_librarys(window: Watched) -> None:
    choices = [random.Random(seed).random() for seed in range(200)]
    figure = figure_of(window, "strides")
    found = figure.evaluate("(figure, choices) => figure.explorable.wander(choices)", choices)
    assert len(found) == 200
    views: list[tuple[str, Any]] = []
    for one in found:
        views += [(one["code"] + code, strides) for code, strides in one.pop("views")]
        assert one == facts_of(one["code"])
    assert views == [(code, strides_of(code)) for code, _ in views]
    assert len({strides is None for _, strides in views}) == 2


def test_strides_are_played_with_by_the_keyboard(window: Watched) -> None:
    figure = figure_of(window, "strides")
    assert shown(figure) == facts_of("torch.arange(12).view(3, 4)")
    press(figure, "x[:, ::2]")
    assert shown(figure) == facts_of("torch.arange(12).view(3, 4)[:, ::2]")
    assert said(figure) == (
        "x has sizes (3, 2), strides (4, 2), offset 0; it is not contiguous. "
        "Found: a tensor that is not contiguous and that view still turns into one line."
    )
    assert figure.evaluate("figure => figure.contains(document.activeElement)"), "the focus stays"
    press(figure, "Undo")
    press(figure, "x[:, 1:]")
    press(figure, "x.view(9)")
    assert said(figure) == (
        ".view(9) is impossible, and raises: the first steps along its dimensions lead element 3 to cell 4, "
        "and it lies in cell 5. reshape would copy."
    )
    assert shown(figure) == facts_of("torch.arange(12).view(3, 4)[:, 1:]")
    press(figure, "x.flip(0)")
    assert said(figure).startswith(".flip(0) is no view: its stride would be -4")
    slider = figure.get_by_role("slider", name="Element")
    slider.press("Home")
    window.page.evaluate(TOUCHED)
    slider.press("ArrowRight")
    assert said(figure) == "Element [0, 1] lies at 1 + 0·4 + 1·1 = cell 2, and is 2."
    assert window.page.evaluate(TOUCHED) <= 8, "a step changes two marks, two lines and the slider"


# --- dispatch ---


def test_two_hundred_calls_go_the_ways_of_the_dispatcher(window: Watched) -> None:
    choices = random.Random(18)
    calls = [
        {
            "device": choices.choice(dispatch.DEVICES),
            "kernels": [place for place in dispatch.PLACES if choices.random() < 0.4],
            "modes": [mode for mode in dispatch.MODES if choices.random() < 0.4],
        }
        for _ in range(200)
    ]
    found = figure_of(window, "dispatch").evaluate("(figure, calls) => figure.explorable.ways(calls)", calls)
    for call, way in zip(calls, found, strict=True):
        keys = dispatch.key_set(str(call["device"]), tuple(mode in call["modes"] for mode in dispatch.MODES))
        hops = dispatch.path(dispatch.with_kernels(call["kernels"]), keys)
        assert way == [[hop.key, hop.rule, hop.by] for hop in hops]
    assert len({str(way) for way in found}) > 30


def test_the_table_is_played_with_by_the_keyboard(window: Watched) -> None:
    figure = figure_of(window, "dispatch")
    window.page.evaluate(TOUCHED)
    press(figure, "no_grad")
    assert said(figure).startswith("Nothing changes in the set or on the way. The call goes to AutogradCPU (autograd")
    assert said(figure).endswith("Found: a switch that changes neither the set nor the way.")
    assert window.page.evaluate(TOUCHED) <= 8, "the table is not drawn anew"
    figure.get_by_role("combobox", name="Operator").select_option("linear")
    assert shown(figure) == [["AutogradCPU", "math kernel"]]
    figure.get_by_role("button", name="CPU", exact=True).press("Space")
    assert shown(figure) == [["AutogradCPU", "backend fallback"], ["CPU", "kernel"]]
    assert "The operator has no autograd kernel: the fallback of autograd calls the next kernel" in said(figure)
    assert "Found: a registration that leaves a call without any autograd kernel" in said(figure)
    figure.get_by_role("radio", name="CPU").press("ArrowRight")
    assert shown(figure) == [["AutogradCUDA", "math kernel"]], "on another device the composite kernel stays"
    press(figure, "CompositeImplicitAutograd")
    assert shown(figure) == [["AutogradCUDA", "backend fallback"], ["CUDA", "missing"]]
    assert "No kernel is there, so the call raises." in said(figure)
    assert figure.locator(".x-tasks .done").count() == 3


# --- versions ---


def test_every_program_leaves_what_the_library_leaves(window: Watched) -> None:
    programs = random.Random(19).sample(list(versions.all_programs()), 100)
    found = figure_of(window, "versions").evaluate("(figure, programs) => figure.explorable.states(programs)", programs)
    for program, state in zip(programs, found, strict=True):
        assert {name: value for name, value in state.items() if value is not None} == versions.state_of(program)
    assert len({str(state["ends"]) for state in found}) > 15


def test_writes_are_played_with_by_the_keyboard(window: Watched) -> None:
    figure = figure_of(window, "versions")
    assert figure.get_by_role("button", name="z.sum().backward()").get_attribute("aria-disabled") == "true"
    press(figure, "part.mul_(10)")
    assert shown(figure) == [], "there is no part yet"
    press(figure, "y.add_(1)")
    assert said(figure) == "The version goes from 0 to 1. The node of y is AddBackward0 now."
    press(figure, "z = y * y")
    assert said(figure) == "The version stays 1. z's node saves y at version 1."
    press(figure, "z.sum().backward()")
    assert said(figure).startswith("w.grad is [12, 20, 28, 36]. Finite differences say the same.")
    press(figure, "y.data.sub_(1)")
    assert said(figure) == "The version stays 1. And yet the memory has been written."
    window.page.evaluate(TOUCHED)
    press(figure, "z.sum().backward()")
    assert window.page.evaluate(TOUCHED) <= 40, "a step draws the memory and the lists anew, and nothing else"
    assert said(figure).startswith("w.grad is [8, 16, 24, 32]. Finite differences say [12, 20, 28, 36], and nothing")
    press(figure, "Undo")
    press(figure, "part = y[1:3]")
    press(figure, "part.mul_(10)")
    assert (
        said(figure)
        == "The version goes from 1 to 2. The node of y is CopySlices now. The node of part is AsStridedBackward0 now."
    )
    press(figure, "z.sum().backward()")
    assert said(figure).startswith("RuntimeError: ... is at version 2; expected version 1 instead.")
    press(figure, "Start again")
    press(figure, "part = y[1:3]")
    press(figure, "y.detach().mul_(3)")
    press(figure, "y.sum().backward()")
    assert "and nothing was raised. Found: a wrong gradient by way of y" in said(figure)
    assert figure.locator(".x-tasks .done").count() == 5


# --- a launch ---


def test_two_hundred_launches_are_those_of_the_model(window: Watched) -> None:
    choices = random.Random(18)
    launches = [
        launch.Launch(
            n=choices.randint(1, launch.MOST_ELEMENTS),
            block=choices.choice(launch.BLOCKS),
            blocks=choices.randint(1, launch.MOST_BLOCKS),
            guard=choices.random() < 0.7,
            size=choices.choice(list(launch.SIZES.values())),
            stride=choices.choice(launch.STRIDES),
            offset=choices.choice(launch.OFFSETS),
            branch=choices.choice(list(launch.BRANCHES)),
        )
        for _ in range(200)
    ]
    warps = [choices.randrange(len(one.warps())) for one in launches]
    asked = [[asdict(one), number] for one, number in zip(launches, warps, strict=True)]
    found = figure_of(window, "launch").evaluate("(figure, asked) => figure.explorable.facts(asked)", asked)
    assert found == [[one.facts(), one.warp(number)] for one, number in zip(launches, warps, strict=True)]


def test_a_launch_is_played_with_by_the_keyboard(window: Watched) -> None:
    figure = figure_of(window, "launch")
    assert said(figure).startswith("192 threads for 180 elements: 12 threads have nothing to do. In warp 0, 32 threads")
    settle = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"

    def told() -> str:
        window.page.evaluate(settle)
        return said(figure)

    press(figure, "if (i < n)")
    assert "12 threads read and write behind the end" in told()
    press(figure, "if (i < n)")
    blocks = figure.get_by_role("slider", name="Blocks")
    window.page.evaluate(TOUCHED)
    blocks.press("ArrowLeft")
    assert "128 threads for 180 elements: 52 elements without a thread." in told()
    assert window.page.evaluate(TOUCHED) <= 56, "a step draws the picture anew, and nothing else"
    assert figure.locator("svg *").count() < 40, "however many threads there are"
    figure.get_by_role("combobox", name="step").select_option("8")
    assert "32 threads read 128 bytes out of 32 sectors of 32 bytes, in 8 lines: 13 % of 1024 bytes are used." in told()
    figure.get_by_role("combobox", name="step").select_option("1")
    figure.get_by_role("combobox", name="from").select_option("1")
    assert "out of 5 sectors of 32 bytes, in 2 lines: 80 % of 160 bytes are used." in told()
    figure.get_by_role("combobox", name="branch").select_option("i % 2")
    assert "the warp goes both ways, one after the other" in told()
    figure.get_by_role("combobox", name="branch").select_option("threadIdx.x / 32 % 2")
    assert "both ways" not in told()
    assert figure.locator(".x-tasks .done").count() == 4


def test_keys_reach_every_control(window: Watched) -> None:
    window.page.evaluate("document.querySelector('article h1').scrollIntoView()")
    for name in NAMES:
        figure = figure_of(window, name)
        controls = figure.locator("button, input, select")
        unreachable = controls.evaluate_all("all => all.filter(one => one.tabIndex < 0 || one.disabled).length")
        assert unreachable == 0
        nameless = controls.evaluate_all(
            "all => all.filter(one => !(one.textContent || one.labels?.length || one.ariaLabel)).length"
        )
        assert nameless == 0


# --- a graph under its passes ---


def test_each_step_shows_the_lines_of_the_library_and_the_tasks_can_be_done(window: Watched) -> None:
    figure = figure_of(window, "passes")
    for key, program in passes.PROGRAMS.items():
        for step, lines in enumerate(passes.steps_of(program.function)):
            figure.evaluate("(figure, [key, step]) => figure.explorable.go(key, step)", [key, step])
            assert shown(figure) == [key, passes.STAGES[step][0]]
            assert figure.evaluate("figure => figure.explorable.lines()") == [line.text for line in lines]
    assert figure.locator(".x-tasks li.done").count() == figure.locator(".x-tasks li").count() == 5


# --- fusion ---


def test_each_expression_shows_the_librarys_text_in_both_ways(window: Watched) -> None:
    figure = figure_of(window, "fusion")
    expression = figure.get_by_role("combobox", name="Expression")
    for code in fusion.PROGRAMS:
        expression.select_option(code)
        for way in fusion.WAYS:
            figure.get_by_role("radio", name=way).press("Space")
            wanted = fusion.facts(code, way)
            now = shown(figure)
            assert (now["code"], now["way"], now["moved"]) == (code, way, wanted["moved"])
            assert now["nests"] == len(wanted["nests"])
            assert now["text"] == wanted["nests"][0]["code"]
            assert f"{wanted['moved'] / 1e6:.1f} million bytes in memory" in said(figure)


def test_fusion_is_played_with_by_the_keyboard(window: Watched) -> None:
    figure = figure_of(window, "fusion")
    figure.get_by_role("combobox", name="Expression").select_option("(x * y + x).sigmoid() * y")
    figure.get_by_role("radio", name="one by one").press("Space")
    nest = figure.get_by_role("slider", name="Nest")
    nest.press("Home")
    assert said(figure).startswith("4 nests read and write 44.0 million bytes in memory. Nest 1 has one loop")
    nest.press("ArrowRight")
    assert "Nest 2 has one loop: it reads x and buf2 and writes buf3." in said(figure)
    figure.get_by_role("radio", name="one by one").press("ArrowRight")
    assert said(figure).startswith("One nest reads and writes 12.0 million bytes in memory. Nest 1 has 4 loops")
    figure.get_by_role("combobox", name="Expression").select_option("softmax(x, 1)")
    assert "4 loops, in 3 phases: it reads x and writes buf5." in said(figure)
    figure.get_by_role("combobox", name="Expression").select_option("x / x.sum()")
    assert figure.locator(".x-tasks .done").count() == 3
