"""How heavy are the book's pages, how quick are its search and its cells, and how long does a build take?

What a page weighs and what the search takes is asked of chromium, opened from disk, and what a cell takes of a page
that is served; without chromium and Playwright only the builds and the sizes of files are measured.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from workbook.serve import bind, in_background

WIDE = {"width": 1280, "height": 900}
INDEX = "search/search_index.js"
CHAPTER_PAGES = "[0-9][0-9]-*/*.html"
TALL = 60  # pages whose height is measured: those with the largest files
QUESTIONS = ("stride", "backward", "version counter", "caching allocator", "state_dict")
CELLS = "02-tensor-storage/one-buffer-many-views.html"
EXPLORABLES = "reference/explorables.md"
# While everything on that page is played: how many frames a second are drawn, and how often one takes over 50 ms.
PLAYED = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const figures = [...document.querySelectorAll("figure.explorable")];
  for (const figure of figures) { figure.scrollIntoView(); while (!figure.querySelector(".x-stage")) await frame(); }
  for (let rest = 0; rest < 30; rest++) await frame();
  let long = 0, frames = 0;
  new PerformanceObserver((list) => { long += list.getEntries().length; }).observe({ entryTypes: ["longtask"] });
  const begun = performance.now();
  for (const figure of figures) {
    figure.scrollIntoView();
    [...figure.querySelectorAll(".x-player button")].find((button) => button.textContent === "Play")?.click();
    const inputs = [...figure.querySelectorAll(".x-stage input")];
    for (let turn = 0; turn < 120; turn++, frames++) {
      const input = inputs[turn % inputs.length];
      if (turn % 3) { await frame(); continue; }
      if (input?.type === "range") {
        input.value = Number(input.value) < Number(input.max) ? Number(input.value) + 1 : input.min;
        input.dispatchEvent(new Event("input"));
      } else input?.click();
      await frame();
    }
  }
  return [frames / ((performance.now() - begun) / 1000), long];
}"""
OUTCOME = "cell => document.querySelectorAll('.cell-tools')[cell].dataset.mark"
SERVED = re.compile(r"The book is at (http://\S+)")
BUILD = """
import sys
from pathlib import Path
from workbook.book.build import build_site

root, target = map(Path, sys.argv[1:])
build_site(root, target=target)
"""
ASK = """async (questions) => {
  const { search } = JSON.parse(document.getElementById("__config").textContent);
  const worker = new Worker(new URL(search, document.baseURI));
  const answer = (message) => new Promise((answered) => {
    worker.addEventListener("message", (event) => answered(event.data), { once: true });
    worker.postMessage(message);
  });
  const times = [performance.now()];
  await answer({ type: 0, data: { ...__index, options: { suggest: true } } });
  times.push(performance.now());
  for (const question of questions) { await answer({ type: 2, data: question }); times.push(performance.now()); }
  return times;
}"""
# The most that some of these numbers may be.
MOST: dict[str, float] = {
    "from `make study` to the first page, unchanged, seconds": 5,
    "search index, kB for a section of the book": 45,
    "heaviest section without the search index, kB": 800,
    "tallest page, pixels at a width of 1280": 20_000,
    "explorables, tasks of over 50 ms meanwhile": 0,
    "first cell of a page, seconds": 3,
    "the next cell, beyond what it computes, seconds": 0.2,
}


def facts(root: Path) -> dict[str, float]:
    """The numbers by their names, with their units; empty where the book cannot be built."""
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        shutil.rmtree(root / ".cache" / "book" / "pages", ignore_errors=True)
        whole, unchanged = build_seconds(root, site), build_seconds(root, site)
        if whole is None or unchanged is None:
            return {}
        found = {"building the site, seconds": whole, "building the unchanged site, seconds": unchanged}
        found["from `make study` to the first page, unchanged, seconds"] = first_page_seconds(root)
        return found | sizes(site) | in_a_browser(root, site)


def build_seconds(root: Path, site: Path) -> float | None:
    """Seconds of one build, imports included; None where the book's tools are not installed."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(root), str(site)], cwd=root, capture_output=True, check=False
    )
    return time.perf_counter() - start if done.returncode == 0 else None


def first_page_seconds(root: Path) -> float:
    """Seconds from the command that `make study` runs until a page is answered, where nothing was changed."""
    study = [sys.executable, str(root / "workbook" / "bootstrap.py"), "study"]
    subprocess.run([*study, "--no-serve"], cwd=root, capture_output=True, check=True)
    start = time.perf_counter()
    command = [*study, "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=root) as served:
        assert served.stdout is not None, "it is a pipe"
        address = next(match[1] for line in served.stdout if (match := SERVED.match(line)))
        with urllib.request.urlopen(f"{address}/index.html", timeout=60) as answer:
            answer.read()
        took = time.perf_counter() - start
        served.send_signal(signal.SIGINT)
        served.stdout.read()
    return took


def sizes(site: Path) -> dict[str, float]:
    """What the files of a site tell: the size of the search's index, whole and for each section, and its entries."""
    index = (site / INDEX).read_text(encoding="utf-8")
    docs = json.loads(index[index.index("{") :])["docs"]
    pages: Counter[str] = Counter()
    for entry in docs:
        pages[entry["location"].partition("#")[0]] += len(json.dumps(entry))
    sections = len(list(site.glob(CHAPTER_PAGES)))
    return {
        "search index, kB": len(index) / 1000,
        "search index, kB for a section of the book": len(index) / 1000 / sections,
        "search index, kB of the largest page": max(pages.values()) / 1000,
        "search index, entries": len(docs),
    }


def in_a_browser(root: Path, site: Path) -> dict[str, float]:
    """What chromium tells: weights, heights, and the times of the search and of cells; empty without it."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None or importlib.util.find_spec("playwright") is None:
        return {}
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport=WIDE)
        heaviest = max(
            (weight(page, site, path) for path in site.glob(CHAPTER_PAGES)), key=lambda parts: sum(parts.values())
        )
        tall = sorted(site.rglob("*.html"), key=lambda path: path.stat().st_size, reverse=True)[:TALL]
        tallest = max(height(page, path) for path in tall)
        ready, answer = search_seconds(page, site)
        page.goto((site / EXPLORABLES).with_suffix(".html").as_uri(), wait_until="load")
        frames, long = page.evaluate(PLAYED)
        first, following = cell_seconds(page, root, site)
        browser.close()
    kinds = {f"heaviest section, kB of {kind}": size / 1000 for kind, size in sorted(heaviest.items())}
    return kinds | {
        "heaviest section without the search index, kB": sum(heaviest.values()) / 1000,
        "tallest page, pixels at a width of 1280": tallest,
        "explorables, frames drawn in a second of play": frames,
        "explorables, tasks of over 50 ms meanwhile": long,
        "search ready, seconds": ready,
        "search answers, milliseconds": answer * 1000,
        "first cell of a page, seconds": first,
        "the next cell, beyond what it computes, seconds": following,
    }


def weight(page: Any, site: Path, path: Path) -> Counter[str]:
    """The bytes that opening a page reads, by kind, without the search's index."""
    read: Counter[str] = Counter()

    def count(request: Any) -> None:
        file = Path(unquote(urlsplit(request.url).path))
        if request.url.startswith("file:") and file.is_file() and file != site / INDEX:
            kind = {".html": "HTML", ".woff2": "fonts", ".ttf": "fonts"}.get(file.suffix, "styles and programs")
            read[kind] += file.stat().st_size

    page.on("request", count)
    page.goto(path.as_uri(), wait_until="networkidle")
    page.remove_listener("request", count)
    return read


def height(page: Any, path: Path) -> float:
    """The height of a page in pixels."""
    page.goto(path.as_uri(), wait_until="load")
    return float(page.evaluate("document.documentElement.scrollHeight"))


def search_seconds(page: Any, site: Path) -> tuple[float, float]:
    """Seconds until the search can be asked, and the median of what an answer takes."""
    page.goto((site / "index.html").as_uri(), wait_until="networkidle")
    page.add_script_tag(path=site / INDEX)
    times = [time / 1000 for time in page.evaluate(ASK, QUESTIONS)]
    return times[1] - times[0], statistics.median(b - a for a, b in pairwise(times[1:]))


def cell_seconds(page: Any, root: Path, site: Path) -> tuple[float, float]:
    """Seconds from the click on Run to the outcome: of a page's first cell, and of another that does nothing."""
    server = bind(site, 0, root)
    with in_background(server) as address:
        page.goto(f"{address}{CELLS}#key={server.key}", wait_until="load")
        tools = page.locator(".cell-tools")
        times = []
        for cell in (0, 2):
            if cell:
                tools.nth(cell).get_by_role("button", name="Edit").click()
                page.locator("textarea").fill("pass")
                tools.nth(1).get_by_role("button", name="Run").click()  # so that nothing above is left
                page.wait_for_function(OUTCOME, arg=1)
            start = time.perf_counter()
            tools.nth(cell).get_by_role("button", name="Run").click()
            page.wait_for_function(OUTCOME, arg=cell)
            times.append(time.perf_counter() - start)
    return times[0], times[1]
