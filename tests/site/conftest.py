"""The built site, a site with everything that a page can hold, and a browser and axe to look at them."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from workbook.book import vendor
from workbook.book.build import build_site
from workbook.book.vendor import CACHE, Package, Vendored, fetch
from workbook.install import take

ROOT = Path(__file__).parents[2]
AXE = Package(
    package="axe-core",
    version="4.14.1",
    sha256="e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745",
    files={"axe.min.js": "axe.min.js"},
)
PATIENCE = 300_000  # milliseconds for one step of a browser: the machine may be busy
EVERYTHING = r"""# Everything

Inline $a_1 < b$, and alone:

$$\nabla_x \sum_i f_i(x) \quad \text{as wide as the formula } \int_0^1 \frac{a + b + c + d + e}{x^2 + y^2 + z^2}\,dx =
1$$

$$J = \begin{pmatrix} \frac{\partial y_1}{\partial x_1} & \cdots & \frac{\partial y_1}{\partial x_n} \\
\vdots & \ddots & \vdots \\ \frac{\partial y_m}{\partial x_1} & \cdots & \frac{\partial y_m}{\partial x_n}
\end{pmatrix}$$

> [!NOTE]
> A note.

> [!QUESTION]- Folded?
> Yes.

| a | wide | table | with | many | columns | that | does | not | fit | a | phone |
|---|---|---|---|---|---|---|---|---|---|---|---|
| `one_long_name` | `another_long_name` | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 |

```python
a_line_of_code = that_is_far_too_long_for_the_width_of_any_phone_and_must_scroll_in_its_own_box(1, 2, 3)
```

![The parts](assets/figures/three-parts.svg "A caption")
"""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The book's site, built by the first process of the session that asks for it."""
    own = tmp_path_factory.getbasetemp()
    path = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "site"
    with path.with_suffix(".lock").open("a") as lock:
        while not take(lock):
            time.sleep(0.2)
        if not path.exists():
            build_site(ROOT, target=path.with_suffix(".part")).rename(path)
    return path


def small_site(root: Path, pages: dict[str, str], found: Vendored | None = None) -> Path:
    """A site of these pages, by their paths without `.md`, in the book's own looks; without npm unless `found` says."""
    found = found or Vendored(vendor.files_of_python_packages(), "npm is not installed")
    shutil.copytree(ROOT / "chapters" / "assets", root / "chapters" / "assets")
    for name, text in pages.items():
        page = root / "chapters" / f"{name}.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(text, encoding="utf-8")
    hook = (ROOT / "workbook" / "book" / "hook.py").as_posix()
    nav = ", ".join(f"{name}.md" for name in pages)
    config = f"INHERIT: {(ROOT / 'mkdocs.yml').as_posix()}\nnav: [{nav}]\nhooks: [{hook}]\n"
    (root / "mkdocs.yml").write_text(config, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vendor, "vendored", lambda _: found)
        return build_site(root)


@pytest.fixture(scope="session")
def full(tmp_path_factory: pytest.TempPathFactory, require: Callable[[str], Any]) -> Path:
    """The page with everything, built with what comes from npm."""
    require("npm")
    found = vendor.vendored(ROOT)
    if found.missing:
        pytest.skip(found.missing)
    return small_site(tmp_path_factory.mktemp("full"), {"index": EVERYTHING}, found)


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page with everything, built on a machine without npm."""
    return small_site(tmp_path_factory.mktemp("bare"), {"index": EVERYTHING})


@pytest.fixture(scope="module")
def browser(require: Callable[[str], Any]) -> Iterator[Any]:
    """Debian's chromium, driven by Playwright."""
    program = require("chromium")
    require("playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"], timeout=PATIENCE)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def axe(require: Callable[[str], Any], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program that looks, from npm, kept where the book keeps what comes from there."""
    kept = ROOT / CACHE / f"{AXE.package}-{AXE.sha256[:12]}.js"
    if not kept.is_file():
        scratch = tmp_path_factory.mktemp("axe")
        if problem := fetch(require("npm"), AXE, scratch, scratch / "out"):
            pytest.skip(problem)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(scratch / "out" / "axe.min.js", scratch / kept.name)
        (scratch / kept.name).rename(kept)
    return kept.read_text(encoding="utf-8")
