"""Is what the map of the house says of the folders read from their sources?"""

from __future__ import annotations

import pytest

from workbook.book.rooms import imports_of, layer_faults, mirrors_of, reading_order


def test_the_lowest_folder_uses_none_but_for_type_checkers() -> None:
    assert imports_of("core") == ["_tensor"]
    assert "kernels" not in imports_of("autograd")
    assert "autograd" not in imports_of("kernels")
    assert "core" in imports_of("dispatch")


def test_a_reading_order_has_neither_remarks_nor_marks() -> None:
    order = reading_order("dispatch")
    assert order.startswith("schema, ")
    assert "(" not in order
    assert "`" not in order


def test_a_folder_without_an_order_is_named() -> None:
    with pytest.raises(LookupError, match=r"glasstorch\.dispatch\.trace has no such line"):
        reading_order("dispatch.trace")


def test_a_file_of_pytorch_has_its_counterparts() -> None:
    found = mirrors_of("TensorImpl.h")
    assert found["core/tensor_impl.py"] == "What does a tensor consist of?"
    assert list(found) == sorted(found)


def test_a_shortcut_through_the_layers_is_a_fault_and_a_use_of_a_lower_one_is_none() -> None:
    up, down = "from glasstorch.autograd.engine import execute\n", "from glasstorch.core.keys import DispatchKey\n"
    (fault,) = layer_faults({"core/shortcut.py": up, "autograd/engine.py": down})
    assert fault.startswith("glasstorch/core/shortcut.py:1: core must not import autograd.engine")
