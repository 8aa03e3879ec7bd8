"""Do plain kernels stand alone, and does each fast one say all that its row asks for?"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from glasstorch.dispatch.fast import FAST

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "reference" / "glasstorch"
ROOM = LIBRARY / "kernels" / "cpu" / "fast"
PLAIN = sorted(path for path in LIBRARY.rglob("*.py") if ROOM not in path.parents)
FAST_PACKAGE = "glasstorch.kernels.cpu.fast."
SHARED = ("blocks.py", "pointwise/threads.py")
MODULES = sorted(path for path in ROOM.rglob("*.py") if path.name not in ("__init__.py", "thresholds.py"))
THRESHOLDS = re.findall(r"^([A-Z_0-9]+) = ", (ROOM / "thresholds.py").read_text(encoding="utf-8"), re.MULTILINE)


def name(path: Path) -> str:
    return path.relative_to(LIBRARY).as_posix()


def test_nothing_plain_imports_what_is_fast() -> None:
    for path in PLAIN:
        imports = re.findall(
            r"^\s*(?:from|import) .*kernels\.cpu\.fast.*", path.read_text(encoding="utf-8"), re.MULTILINE
        )
        assert not imports, name(path)


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_fast_module_is_named_as_what_is_plain(path: Path) -> None:
    """A folder of them is named as a folder of plain ones; but for what several fast modules share."""
    inside = path.relative_to(ROOM)
    homes = [ROOM.parent / inside, ROOM.parents[1] / inside, ROOM.parent / inside.with_suffix("")]
    if inside.parent.name:
        homes += [ROOM.parent / inside.parent / "__init__.py"]
    assert any(home.exists() for home in homes) or inside.as_posix() in SHARED, (
        f"{name(path)} stands before no plain file"
    )


def in_the_room(function: Callable[..., object]) -> bool:
    """Whether a function is defined in the room, or was made from one that is."""
    cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    return (getattr(function, "__module__", None) or "").startswith(FAST_PACKAGE) or any(
        callable(c) and in_the_room(c) for c in cells
    )


def test_every_fast_function_lies_in_the_room_and_says_all_that_its_row_asks_for() -> None:
    assert FAST
    for one in FAST:
        assert in_the_room(one.function), one.name
        assert not in_the_room(one.plain), one.name
        assert one.when, one.name
        assert one.exact == "bits" or (isinstance(one.exact, float) and 0 < one.exact <= 64), one.name


def test_every_benchmark_that_a_row_names_is_one() -> None:
    import glasstorch
    from benchmarks.__main__ import FILES

    known = {contest.name for contests in FILES.values() for contest in contests({"glasstorch": glasstorch})}
    assert {one.benchmark for one in FAST} <= known


def test_every_threshold_is_read_and_none_stands_elsewhere() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in MODULES}
    for threshold in THRESHOLDS:
        assert any(f"thresholds.{threshold}" in text for text in texts.values()), f"nothing reads {threshold}"
    for path, text in texts.items():
        numbers = re.findall(r"^([A-Z_0-9]+(?:_FROM|_UP_TO|_BLOCK|_ELEMENTS))\b.*= ", text, re.MULTILINE)
        assert not numbers, f"{name(path)} has thresholds of its own: {numbers}"
