"""Does the comparison of two checkouts name the rows that are slower here, and no others?"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import against

CONTESTS = '''
class Contest:
    """A row whose time is known."""

    def __init__(self, name, seconds):
        self.name, self.seconds, self.runs = name, {{"glasstorch": seconds}}, {{"numpy": None, "glasstorch": None}}

    def measure(self):
        assert list(self.runs) == ["glasstorch"]
        return self


def contests(modules):
    """One after another."""
    assert list(modules) == ["glasstorch"]
    for name, seconds in {rows!r}.items():
        yield Contest(name, seconds)


FILES = {{"made up": contests}}
'''


def checkout(folder: Path, rows: dict[str, float]) -> Path:
    """A checkout with an empty library, whose benchmarks have these rows."""
    for package, name, text in (
        ("reference/glasstorch", "__init__.py", ""),
        ("benchmarks", "__init__.py", ""),
        ("benchmarks", "__main__.py", CONTESTS.format(rows=rows)),
    ):
        (folder / package).mkdir(parents=True, exist_ok=True)
        (folder / package / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The other checkout; the one that is compared with it is in force as this one."""
    here = checkout(tmp_path / "here", {"a [0]": 2.0, "b": 1.0, "c": 1.2, "new": 1.0})
    monkeypatch.setattr(against, "ROOT", here)
    return checkout(tmp_path / "there", {"a [0]": 1.0, "b": 1.0, "c": 1.0, "old": 1.0})


def test_rows_above_the_limit_are_measured_again_and_named(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert against.main([str(there), "--rows", "[a-c]*", "--rows", "new", "--rows", "old", "--pairs", "2"]) == 1
    said = capsys.readouterr()
    first, _, again = said.out.partition("Above 1.05 and measured again:")
    rows = [line.split(" | ") for line in first.splitlines() if line.endswith("00 |")]
    assert [(row[0].strip("| "), row[-1]) for row in rows] == [("a [0]", "2.000 |"), ("c", "1.200 |"), ("b", "1.000 |")]
    assert "Only here: new\n" in first
    assert "Only there: old\n" in first
    assert "| a [0] |" in again
    assert "| b |" not in again
    assert again.endswith("3 rows, 2 above 1.05: a [0]; c\n")
    assert said.err.count("pair 1 of 2") == 1 + against.AGAIN


def test_a_row_that_was_disturbed_once_is_not_named(
    there: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first of its pairs is slow here, the next is not yet enough for the median, the third is."""
    figures = iter([1.0, 1.3, 1.0, 1.0, 1.0, 1.0])  # there, then here, since each round has one pair
    monkeypatch.setattr(against, "measured", lambda root, rows: {"b": next(figures)})
    assert against.main([str(there), "--pairs", "1"]) == 0
    said = capsys.readouterr()
    assert said.out.endswith("1 rows, 0 above 1.05\n")
    assert said.err.count("pair 1 of 1") == 3


def test_which_goes_first_alternates(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    def measured(root: Path, rows: list[str]) -> dict[str, float]:
        order.append(root.name)
        return {"b": 1.0}

    monkeypatch.setattr(against, "measured", measured)
    list(against.in_pairs(there, ["*"], 3))
    assert order == ["there", "here", "here", "there", "there", "here"]


def test_this_checkout_can_be_compared_with_itself(capsys: pytest.CaptureFixture[str]) -> None:
    rows = ("--rows", "*m.transpose(0, 1)*", "--rows", against.IMPORT_MEMORY)
    assert against.main([str(against.ROOT), *rows, "--pairs", "1", "--limit", "1000"]) == 0
    said = capsys.readouterr().out
    assert "| `m.transpose(0, 1)`, a view |" in said
    assert f"| {against.IMPORT_MEMORY} |" in said
    assert said.endswith("2 rows, 0 above 1000\n")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nowhere"], "is no checkout: expected the folders reference/glasstorch and benchmarks in it"),
        (["THERE", "--pairs", "0"], "--pairs: expected 1 or more, got 0"),
        (["THERE", "--rows", "none"], "no row of both checkouts matches none"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    there: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    with pytest.raises(SystemExit) as refused:
        against.main([str(there) if argument == "THERE" else argument for argument in arguments])
    assert refused.value.code == 2
    assert problem in capsys.readouterr().err


def test_a_checkout_that_does_not_run_is_named_with_its_error(there: Path) -> None:
    (there / "benchmarks" / "__main__.py").write_text("1 / 0\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"there cannot be measured\n(?s:.)*ZeroDivisionError"):
        against.main([str(there), "--rows", "b", "--pairs", "1"])
