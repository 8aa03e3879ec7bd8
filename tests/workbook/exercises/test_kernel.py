"""Is the kernel of a lab sheet ours, and does it touch none of the reader's settings?"""

from __future__ import annotations

import json
from pathlib import Path

from workbook.exercises.child import Job
from workbook.exercises.kernel import kernel_environment


def test_the_kernel_is_found_and_keeps_its_files_in_the_temporary_folder(tmp_path: Path) -> None:
    job = Job("lab", "/clone", str(tmp_path), "check_a.py", (), (), 20.0, 0.0)
    found = kernel_environment(job)
    spec = json.loads((Path(found["JUPYTER_PATH"]) / "kernels" / "workbook" / "kernel.json").read_text())
    assert spec["argv"][-4:] == ["workbook.exercises.kernel", str(tmp_path / "job.json"), "-f", "{connection_file}"]
    assert all(Path(value).is_relative_to(tmp_path) for value in found.values())
    assert {"IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"} <= set(found)
