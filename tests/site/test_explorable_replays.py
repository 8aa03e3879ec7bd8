"""Can a recorded pass and a recorded allocator be played from disk, by mouse and by keyboard, wide and narrow?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.site.conftest import small_site
from tests.site.looking import COLOURS, PHONE, TOUCHED, WATCH, WIDE, Watched, look, violations, watched
from workbook.book.explorables import allocator, engine

pytestmark = pytest.mark.ci

NAMES = ("engine", "allocator")
TEXT = "# Replays\n\n" + "\n\n".join(f'![A recording](assets/explorables/{name}.svg "A caption")' for name in NAMES)


@pytest.fixture(scope="module")
def replays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of one page with the two replays, as its file."""
    return small_site(tmp_path_factory.mktemp("replays"), {"index": TEXT}) / "index.html"


@pytest.fixture
def window(browser: Any, replays: Path) -> Iterator[Watched]:
    """The page from disk, with both replays on it; nothing went wrong on it until the end."""
    with watched(browser) as seen:
        seen.open(replays)
        for name in NAMES:
            seen.page.locator(f'figure[data-explorable="{name}"]').scroll_into_view_if_needed()
            seen.page.wait_for_selector(f'figure[data-explorable="{name}"] > .x-stage')
        yield seen
        assert seen.problems == []


def figure_of(window: Watched, name: str) -> Any:
    """The place of a replay."""
    return window.page.locator(f'figure[data-explorable="{name}"]')


def said(figure: Any) -> str:
    """What its status line says."""
    return str(figure.locator(".x-said[role=status]").inner_text())


def press(figure: Any, name: str) -> None:
    """Press a button by the keyboard."""
    figure.get_by_role("button", name=name, exact=True).press("Enter")


def pick(figure: Any, value: str, group: int = 0) -> None:
    """Choose one of several by the keyboard: in the first group a program, in the second its setting."""
    figure.locator("fieldset").nth(group).locator(f'input[value="{value}"]').press(" ")


def as_said(told: str) -> str:
    """A step's words as a sentence."""
    first = told.split(" ", maxsplit=1)[0]
    return (told[0].upper() + told[1:] if first in ("the", "nothing", "all", "what") else told) + "."


def test_a_pass_is_played_step_by_step_and_says_what_the_engine_did(window: Watched) -> None:
    figure = figure_of(window, "engine")
    window.page.evaluate(WATCH)
    for program in engine.PROGRAMS:
        pick(figure, program)
        steps = engine.steps_of(engine.PROGRAMS[program], engine.CALLS["freed"])
        shown = [said(figure)]
        for _ in steps[1:]:
            window.page.evaluate(TOUCHED)
            press(figure, "Forward")
            shown.append(said(figure))
            assert window.page.evaluate(TOUCHED) <= 45, "a step changes what it tells, and draws no node anew"
        assert shown == [as_said(step["told"]) for step in steps]
    assert figure.get_by_role("button", name="Forward", exact=True).get_attribute("aria-disabled") == "true"
    last = steps[-1]
    assert said(figure).endswith("Trying to backward through the graph a second time.")
    failed = figure.locator(".x-hit").nth(last["node"] or 0)
    assert "fails" in str(failed.get_attribute("aria-label"))
    assert figure.locator(".x-failing").count() == 1
    figure.get_by_role("slider", name="Step").press("Home")
    assert said(figure) == "y.backward() is called."
    assert figure.locator(".x-failing").count() == 0


def test_a_node_tells_its_record_and_a_graph_that_is_retained_can_be_used_twice(window: Watched) -> None:
    figure = figure_of(window, "engine")
    pick(figure, "leaves")
    figure.evaluate("figure => figure.explorable.go(6)")
    node = figure.get_by_role("button", name="a, MulBackward0")
    label = "a, MulBackward0, waits for 1, holds 1, has saved 8 bytes"
    assert node.get_attribute("aria-label") == label
    node.press("Enter")
    assert node.get_attribute("aria-pressed") == "true"
    record = figure.locator(".x-record").inner_text()
    assert "over 2 edges: from y, b" in record
    assert "other = 3" in record
    assert said(figure).startswith("node of a: MulBackward0, made as number 1; gradients come: over 2 edges")
    assert figure.evaluate("figure => figure.contains(document.activeElement)"), "the focus stays"
    assert figure.locator(".x-queue").inner_text().strip() == "nothing"
    figure.evaluate("figure => figure.explorable.go(8)")
    assert [line.split()[0] for line in figure.locator(".x-queue li").all_inner_texts()] == ["v", "a"]
    press(figure, "retain_graph=True")
    figure.get_by_role("slider", name="Step").press("End")
    assert said(figure) == "Nothing is ready any more: the pass is over. w.grad is 36, v.grad is 12."


def test_a_replay_plays_by_itself_and_can_be_paused(window: Watched) -> None:
    figure = figure_of(window, "engine")
    press(figure, "Play")
    window.page.wait_for_function(
        "() => document.querySelector('figure[data-explorable=engine]').explorable.step.kind === 'run'"
    )
    press(figure, "Pause")
    kind = figure.evaluate("figure => figure.explorable.step.kind")
    assert figure.get_by_role("button", name="Play", exact=True).count() == 1
    assert kind in ("run", "deliver")


def test_the_allocator_is_played_in_every_scenario_and_setting(window: Watched) -> None:
    figure = figure_of(window, "allocator")
    window.page.evaluate(WATCH)
    frame = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    for key, scenario in allocator.SCENARIOS.items():
        pick(figure, key)
        for setting in scenario.settings:
            pick(figure, setting, group=1)
            steps = allocator.steps_of(scenario, setting)
            assert figure.evaluate("figure => figure.explorable.length") == len(steps)
            window.page.evaluate(TOUCHED)
            press(figure, "Forward")
            assert said(figure) == as_said(steps[1]["told"])
            assert window.page.evaluate(TOUCHED) <= 56, "a step draws the blocks anew, and nothing else"
            figure.get_by_role("slider", name="Step").press("End")
            assert said(figure) == as_said(steps[-1]["told"])
            window.page.evaluate(frame)
            drawn = figure.locator(".x-block:not(.gone)").count()
            legend = len(allocator.STATES)
            assert drawn - legend == sum(len(segment["blocks"]) for segment in steps[-1]["segments"])
            numbers = figure.locator(".x-numbers dd").all_inner_texts()
            assert numbers[4] == f"{steps[-1]['reserved'] // allocator.MIB} MiB"


def test_what_a_stream_has_still_to_do_is_shown_and_read_aloud(window: Watched) -> None:
    figure = figure_of(window, "allocator")
    pick(figure, "across")
    figure.evaluate("figure => figure.explorable.go(6)")
    assert said(figure) == "x is gone, and its block waits for an event on the stream side."
    assert "read x" in figure.locator(".x-streams").inner_text()
    window.page.wait_for_selector('svg[aria-label*="x 4 MiB waits for a stream"]')


def test_replays_fit_and_satisfy_axe_at_the_start_and_in_the_middle(
    browser: Any, window: Watched, replays: Path, axe: str
) -> None:
    assert look(browser, [replays], axe=axe) == {}
    pick(figure_of(window, "allocator"), "across")
    for scheme in ("light", "dark"):
        window.page.emulate_media(color_scheme=scheme)
        for passed, memory in ((5, 6), (9, 9), (14, 3)):  # nodes that run, wait and are ready; blocks that wait
            figure_of(window, "engine").evaluate("(figure, step) => figure.explorable.go(step)", passed)
            figure_of(window, "allocator").evaluate("(figure, step) => figure.explorable.go(step)", memory)
            assert violations(window, axe, COLOURS) == []


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_nothing_is_wider_than_the_page_in_the_middle_of_a_replay(window: Watched, size: Any) -> None:
    window.page.set_viewport_size(size)
    for name, value in (("engine", "latest"), ("allocator", "training"), ("allocator", "across")):
        figure = figure_of(window, name)
        pick(figure, value)
        for step in range(0, figure.evaluate("figure => figure.explorable.length"), 4):
            figure.evaluate("(figure, step) => figure.explorable.go(step)", step)
            assert window.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
