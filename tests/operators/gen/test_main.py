"""Is the generated code fresh, and does the command say so when it is not?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from glasstorch.operators.gen import __main__ as gen
from glasstorch.operators.gen.model import DERIVATIVES, NATIVE_FUNCTIONS

REFERENCE = Path(gen.__file__).parents[3]


def run(*arguments: str, home: Path = REFERENCE) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "glasstorch.operators.gen", *arguments],
        cwd=home,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_the_committed_code_is_what_the_declarations_give() -> None:
    done = run("--check")
    assert (done.returncode, done.stderr) == (0, "")
    assert "all fresh" in done.stdout


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place of its own for what the command writes, with two files, one of them stale."""
    (tmp_path / "fresh.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "stale.py").write_text("x = 1\n", encoding="utf-8")
    files = {tmp_path / "fresh.py": "x   =   1\n", tmp_path / "stale.py": "x = 2\n"}
    monkeypatch.setattr(gen, "PACKAGE", tmp_path)
    monkeypatch.setattr(gen, "render", lambda: files)
    return tmp_path


def test_checking_names_the_stale_files_and_writes_nothing(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gen.main(["--check"]) == 1
    assert (package / "stale.py").read_text(encoding="utf-8") == "x = 1\n"
    said = capsys.readouterr().err
    assert "gen: stale: stale.py\n" in said
    assert "run `python -m glasstorch.operators.gen` and commit what it writes" in said


def test_generating_writes_what_has_changed_and_then_all_is_fresh(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (package / "fresh.py").stat().st_mtime_ns
    assert gen.main([]) == 0
    assert (package / "stale.py").read_text(encoding="utf-8") == "x = 2\n"
    assert (package / "fresh.py").stat().st_mtime_ns == before
    assert gen.main(["--check"]) == 0
    assert capsys.readouterr().out.splitlines() == ["gen: 2 files, 1 written: stale.py", "gen: 2 files, all fresh"]


def test_a_schema_that_does_not_parse_is_told_with_its_line_and_without_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "native_functions.yaml"
    broken.write_text(
        NATIVE_FUNCTIONS.read_text(encoding="utf-8") + "\n- func: half_done(Tensor self\n  variants: method\n",
        encoding="utf-8",
    )
    last = len(broken.read_text(encoding="utf-8").splitlines()) - 1
    render = gen.render
    monkeypatch.setattr(gen, "render", lambda: render(broken, DERIVATIVES))
    assert gen.main(["--check"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"gen: native_functions.yaml:{last}: cannot read the schema 'half_done(Tensor self'")
    assert "Traceback" not in said


def test_generating_does_not_import_the_generated_code() -> None:
    code = "import sys; from glasstorch.operators.gen.__main__ import main; main(['--check']); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.orig_argv[1:3] = ['-m', 'glasstorch.operators.gen']; {code}"],
        cwd=REFERENCE, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "glasstorch.operators.gen.model" in done.stdout
    assert "glasstorch.operators.generated.functions" not in done.stdout
