"""How do the chapters open in JupyterLab?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import typer

from workbook import commands
from workbook.commands import CommandError

# What JupyterLab shows for a file that is double-clicked; jupytext reads the Markdown.
OVERRIDES = {
    "@jupyterlab/docmanager-extension:plugin": {
        "defaultViewers": {"markdown": "Jupytext Notebook", "myst": "Jupytext Notebook"}
    }
}
FIRST = Path("chapters") / "00-start"


def open_lab(path: Path | None, *, browser: bool) -> None:
    """Run JupyterLab on the clone until Ctrl-C."""
    for package in ("jupyterlab", "jupytext"):
        if find_spec(package) is None:
            raise commands.missing(ModuleNotFoundError(name=package), "book")
    root = commands.root()
    target = (path or root / FIRST).resolve()
    if not target.exists() or not target.is_relative_to(root):
        raise CommandError(
            f"{path} is not in {root}\n"
            f"  name a chapter or a notebook of this clone, for example {FIRST.as_posix()}"
        )
    settings = write_settings(root)
    environment = commands.environment()
    environment["JUPYTER_CONFIG_PATH"] = os.pathsep.join(
        filter(None, [str(settings), environment.get("JUPYTER_CONFIG_PATH")])
    )
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={root}"]
    command.append(f"--LabApp.default_url=/lab/tree/{target.relative_to(root).as_posix()}")
    if not browser:
        command.append("--no-browser")
    print("JupyterLab starts; Ctrl-C twice stops it.", flush=True)
    try:
        code = subprocess.call(command, cwd=root, env=environment)
    except KeyboardInterrupt:
        code = 0
    raise typer.Exit(code)


def write_settings(root: Path) -> Path:
    """The folder with our settings for JupyterLab. They are the clone's own: the reader's are not changed."""
    folder = root / ".cache" / "jupyter"
    overrides = folder / "labconfig" / "default_setting_overrides.json"
    overrides.parent.mkdir(parents=True, exist_ok=True)
    overrides.write_text(json.dumps(OVERRIDES, indent=1) + "\n", encoding="utf-8")
    return folder
