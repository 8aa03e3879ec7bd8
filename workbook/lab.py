"""How do the chapters open in JupyterLab?"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NoReturn

from workbook import commands
from workbook.commands import CommandError

# Our settings for JupyterLab: text chapters open as notebooks (jupytext reads them), and nothing calls out for news.
OVERRIDES = {
    "@jupyterlab/docmanager-extension:plugin": {
        "defaultViewers": {"markdown": "Jupytext Notebook", "myst": "Jupytext Notebook"}
    },
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
}
QUIET = ("--ServerApp.log_level=WARN", "--LabApp.extension_manager=readonly")
FIRST = Path("chapters") / "00-start"


def open_lab(path: Path | None, *, browser: bool) -> NoReturn:
    """Run JupyterLab on the clone until Ctrl-C."""
    commands.need("book", "jupyterlab", "jupytext")
    root = commands.root()
    target = (path or root / FIRST).resolve()
    if not target.exists() or not target.is_relative_to(root):
        raise CommandError(
            f"{path} is not in {root}\n  name a chapter or a notebook of this clone, for example {FIRST.as_posix()}"
        )
    settings = write_settings(root)
    environment = commands.clean_environment()
    search = [str(settings), environment.get("JUPYTER_CONFIG_PATH")]
    environment["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, search))
    options = [f"--ServerApp.root_dir={root}", f"--LabApp.default_url=/lab/tree/{target.relative_to(root).as_posix()}"]
    if not browser:
        options.append("--no-browser")
    if os.name != "nt" and os.geteuid() == 0:
        options.append("--allow-root")  # in a container one is root; the server answers this machine only
    print("JupyterLab starts in the browser, or at the address below. Ctrl-C twice stops it.")
    commands.finish(["-m", "jupyterlab", *QUIET, *options], environment)


def write_settings(root: Path) -> Path:
    """The folder with our settings for JupyterLab. They are the clone's own: the reader's are not changed."""
    folder = root / ".cache" / "jupyter"
    overrides = folder / "labconfig" / "default_setting_overrides.json"
    overrides.parent.mkdir(parents=True, exist_ok=True)
    overrides.write_text(json.dumps(OVERRIDES, indent=1) + "\n", encoding="utf-8")
    return folder
