"""How does the kernel of a lab sheet run under the guard?

    python -m workbook.exercises.kernel JOB.json -f CONNECTION

It leads a process group of its own (Jupyter starts it so): it leaves its number where the command finds it, to end
it with the rest.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from workbook.exercises.child import Job, protect
from workbook.exercises.process import python

NAME = "workbook"


def kernel_environment(job: Job) -> dict[str, str]:
    """Write the kernel's specification, and return its location."""
    folder = job.file("jupyter")
    spec = folder / "kernels" / NAME
    spec.mkdir(parents=True)
    command = [*python("-m", "workbook.exercises.kernel"), str(job.file("job.json")), "-f", "{connection_file}"]
    text = json.dumps({"argv": command, "display_name": NAME, "language": "python"})
    (spec / "kernel.json").write_text(text, encoding="utf-8")
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    return {"JUPYTER_PATH": str(folder), **dict.fromkeys(names, str(job.file("tmp") / "jupyter"))}


def main(arguments: list[str]) -> Any:
    """Run the kernel until the lab sheet is done."""
    job = Job.read(Path(arguments[0]))
    (job.file("groups") / str(os.getpid())).touch()
    from ipykernel.kernelapp import IPKernelApp

    app = IPKernelApp.instance()
    app.initialize([*arguments[1:], "--HistoryManager.enabled=False"])  # type: ignore[no-untyped-call]
    sys.path.insert(0, str(job.work))  # a notebook imports what lies beside it
    protect(job, "kernel")
    job.begun.touch()
    app.start()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main(sys.argv[1:])
