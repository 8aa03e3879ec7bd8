"""Does every place that fills in a tensor's fields fill in all of them? decisions/0022 says why there are four."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from glasstorch.core.tensor_impl import TensorImpl

PACKAGE = Path(__file__).parents[2] / "reference" / "glasstorch"
FIELDS = set(TensorImpl.__slots__) - {"__weakref__", "_parts"}  # only a sparse tensor has parts
PLACES = {
    "_tensor.py: tensor_of",
    "_tensor.py: make_view",
    "kernels/cpu/fast/pointwise/loops.py: shortest_unary",
    "kernels/cpu/fast/pointwise/loops.py: shortest_binary",
}


def places(package: Path) -> dict[str, set[str]]:
    """The attributes that a function sets on one variable, where they include most of a tensor's fields."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "._autograd_meta" not in text:
            continue
        for function in ast.parse(text).body:
            if isinstance(function, ast.FunctionDef):
                for attributes in assigned(function).values():
                    if len(attributes & FIELDS) > len(FIELDS) / 2:
                        found[f"{path.relative_to(package).as_posix()}: {function.name}"] = attributes
    return found


def assigned(function: ast.FunctionDef) -> dict[str, set[str]]:
    """The attributes that a function sets, by the variable."""
    found = defaultdict(set)
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            found[node.value.id].add(node.attr)
    return found


def test_every_place_fills_in_every_field() -> None:
    assert places(PACKAGE) == dict.fromkeys(PLACES, FIELDS)


def test_a_place_that_leaves_a_field_out_is_found(tmp_path: Path) -> None:
    *most, left_out = sorted(FIELDS - {"_autograd_meta"})
    lines = "".join(f"    t.{field} = 0\n" for field in (*most, "_autograd_meta"))
    (tmp_path / "made.py").write_text(
        f"def made():\n{lines}\n\ndef no_tensor(t):\n    t._offset = 0\n", encoding="utf-8"
    )
    assert places(tmp_path) == {"made.py: made": FIELDS - {left_out}}
