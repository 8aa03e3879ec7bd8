"""Does the search lead to what explains a word, quickly, and keep to itself what a reader is to find out?"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.site.looking import watched
from workbook.book.contents import sections
from workbook.book.searching import API, BOOK, EXERCISES, OPERATORS, kind_of

ROOT = Path(__file__).parents[2]
PAGE_LIMIT = 45_000  # characters of the index for one page
LIMIT = 22_000  # and of the whole index, for each section: a book of more sections has more to find

# What a reader types, and the page that has to be among the first three.
QUESTIONS = {
    "stride": "02-tensor-storage/one-buffer-many-views",
    "strides": "02-tensor-storage/one-buffer-many-views",
    "storage offset": "02-tensor-storage/one-buffer-many-views",
    "contiguous": "02-tensor-storage/what-a-kernel-may-assume",
    "channels last": "07-nn-and-training/how-a-convolution-is-computed",
    "view": "02-tensor-storage/when-a-view-is-impossible",
    "reshape copy": "02-tensor-storage/when-a-view-is-impossible",
    "broadcasting": "00-start/glossary",
    "backward": "00-start/one-backward",
    "autograd engine": "04-autograd/the-engine-step-by-step",
    "ready queue": "04-autograd/the-engine-step-by-step",
    "version counter": "02-tensor-storage/one-buffer-many-views",
    "saved tensors": "04-autograd/nodes-edges-and-what-is-saved",
    "grad_fn": "04-autograd/the-graph-is-built-by-running",
    "no_grad": "04-autograd/modes-and-their-memory",
    "in-place": "04-autograd/versions-and-in-place-errors",
    "dispatch key": "03-dispatcher/a-call-is-a-set-of-keys",
    "key set": "03-dispatcher/a-call-is-a-set-of-keys",
    "fallthrough": "03-dispatcher/one-entry-of-the-table",
    "CompositeImplicitAutograd": "03-dispatcher/one-entry-of-the-table",
    "redispatch": "03-dispatcher/a-kernel-that-wins",
    "register a kernel": "03-dispatcher/a-kernel-that-wins",
    "type promotion": "00-start/glossary",
    "native_functions.yaml": "01-architecture/from-a-row-to-an-operator",
    "pybind11": "01-architecture/the-bridge",
    "__torch_function__": "03-dispatcher/subclasses-and-modes",
    "caching allocator": "05-cuda/the-caching-allocator",
    "fragmentation": "05-cuda/the-caching-allocator",
    "stream": "05-cuda/streams-and-events",
    "event": "05-cuda/streams-and-events",
    "kernel launch": "05-cuda/what-a-launch-is",
    "warps": "05-cuda/what-a-launch-is",
    "fusion": "06-jit/fusion-measured",
    "tracing": "06-jit/tracing-is-a-dispatch-key",
    "common subexpression": "06-jit/a-pass-is-a-function",
    "state_dict": "07-nn-and-training/what-a-module-is",
    "dataloader workers": "07-nn-and-training/workers-and-their-seeds",
    "amp": "07-nn-and-training/mixed-precision",
    "GradScaler": "07-nn-and-training/mixed-precision",
    "hooks": "07-nn-and-training/hooks-and-their-order",
    "pickle": "07-nn-and-training/saving-and-loading",
    "flash attention": "07-nn-and-training/attention-three-ways",
    "fourier transform": "07-nn-and-training/choosing-a-convolution-algorithm",
    "im2col": "07-nn-and-training/how-a-convolution-is-computed",
    "adam": "07-nn-and-training/optimizers-as-tensor-programs",
    "peak of memory": "07-nn-and-training/what-a-profile-counts",
    "profiler": "07-nn-and-training/the-loop-under-the-profiler",
    "cumsum": "reference/operators/scans",
    "BatchNorm2d": "reference/api/nn-modules-batchnorm",
    "row-major": "exercises/02.1-strides",
}
CHINESE = re.compile(r"In the documents: (.+)\.\*$", re.MULTILINE)  # the documents' words, in the glossary

# Asks the program that the search box asks, with the index that it is given.
ASK = """async (questions) => {
  const { search } = JSON.parse(document.getElementById("__config").textContent);
  const worker = new Worker(new URL(search, document.baseURI));
  const answer = (message) => new Promise((answered) => {
    worker.addEventListener("message", (event) => answered(event.data.data), { once: true });
    worker.postMessage(message);
  });
  const began = performance.now();
  await answer({ type: 0, data: { ...__index, options: { suggest: true } } });
  const ready = performance.now() - began;
  const found = {};
  for (const question of questions) {
    const { items } = await answer({ type: 2, data: question });
    found[question] = items.slice(0, 10).map((page) => page[0]);
  }
  return [found, ready];
}"""


@pytest.fixture(scope="module")
def index(site: Path) -> list[dict[str, Any]]:
    """The entries of the search."""
    docs = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    assert isinstance(docs, list)
    return docs


def answers(browser: Any, site: Path, questions: list[str]) -> dict[str, list[dict[str, Any]]]:
    """The best entry of each of the first pages that are found."""
    with watched(browser) as window:
        window.open(site / "index.html")
        window.page.add_script_tag(path=site / "search" / "search_index.js")
        found, _ = window.page.evaluate(ASK, questions)
        assert window.problems == []
    assert isinstance(found, dict)
    return found


@pytest.mark.ci
def test_what_a_reader_types_leads_to_the_page_that_explains_it(browser: Any, site: Path) -> None:
    assert len(QUESTIONS) >= 40
    found = answers(browser, site, [*QUESTIONS, "stridse", "the"])
    missed = {}
    for question, page in QUESTIONS.items():
        first = [entry["location"].partition("#")[0].removesuffix(".html") for entry in found[question][:3]]
        if page not in first:
            missed[question] = first
    assert missed == {}
    assert found["stridse"] == []
    unsaid = [word for word in ("broadcasting", "hooks", "warps") if not all(found[word][0]["terms"].values())]
    assert unsaid == []  # Material tells the reader that a word is missing, where only its stem stands


@pytest.mark.ci
def test_each_word_of_the_documents_leads_to_the_glossary(browser: Any, site: Path) -> None:
    told = CHINESE.findall((ROOT / "chapters" / "00-start" / "glossary.md").read_text(encoding="utf-8"))
    wanted = [word for words in told for word in words.split(", ")]
    assert len(wanted) >= 40
    found = answers(browser, site, [*wanted, "向传"])
    pages = {word: [entry["location"].partition("#")[0] for entry in entries] for word, entries in found.items()}
    assert [word for word in wanted if "00-start/glossary.html" not in pages[word][:3]] == []
    assert pages["向传"]  # the middle of 反向传播


def test_the_book_weighs_most_and_the_modules_least(index: list[dict[str, Any]]) -> None:
    ordered = []
    for kind in (BOOK, EXERCISES, OPERATORS, API):
        weights = {entry.get("boost", 1.0) for entry in index if kind_of(entry["location"]) == kind}
        assert len(weights) == 1
        ordered.append(weights.pop())
    assert ordered == sorted(set(ordered), reverse=True)


def test_the_index_is_small(index: list[dict[str, Any]], site: Path) -> None:
    sizes: Counter[str] = Counter()
    for entry in index:
        sizes[entry["location"].partition("#")[0]] += len(json.dumps(entry))
    assert {page: size for page, size in sizes.items() if size > PAGE_LIMIT} == {}
    whole = (site / "search" / "search_index.js").stat().st_size
    assert whole < LIMIT * len(list(sections(ROOT)))


def test_of_the_reference_only_names_and_questions_are_found(index: list[dict[str, Any]]) -> None:
    operators = [entry for entry in index if kind_of(entry["location"]) == OPERATORS]
    assert {entry["title"] for entry in operators} >= {"cumsum", "add", "linalg_solve"}
    assert {entry["text"] for entry in operators} == {""}
    modules = {entry["title"]: entry for entry in index if kind_of(entry["location"]) == API}
    storage = modules["core.storage"]
    assert "Storage" in storage["text"]
    assert "def " not in storage["text"]
    assert max(len(entry["text"]) for entry in modules.values()) < 1500


def test_what_a_reader_is_to_find_out_is_not_in_the_index(index: list[dict[str, Any]], site: Path) -> None:
    from workbook.book.notebook_checks import read_notebook
    from workbook.book.render import is_answer, is_question, text_of

    checked = 0
    for section in sections(ROOT):
        page = section.path.removesuffix(".md") + ".html"
        text = " ".join(entry["text"] for entry in index if entry["location"].startswith(page))
        cells = read_notebook(ROOT / "chapters" / section.path)["cells"]
        for cell, following in zip(cells, [*cells[1:], None], strict=True):
            if not is_question(cell):
                continue
            printed = [text_of(output["text"]) for output in cell["outputs"] if output["output_type"] == "stream"]
            told = [following["source"]] if following is not None and is_answer(following) else []
            for line in (line.strip() for said in (*printed, *told) for line in said.splitlines()):
                if len(line) > 40 and "`" not in line and "[" not in line:
                    checked += 1
                    assert line not in text, f"{page}: {line}"
    assert checked > 50
    marker = "you write this in"
    withheld = [path for path in site.glob("0*/*.html") if marker in path.read_text(encoding="utf-8")]
    assert withheld
    assert [entry["location"] for entry in index if marker in entry["text"].lower()] == []
    hints = [entry["location"] for entry in index if entry["location"].endswith(("#hints", "#begin"))]
    assert hints == []
