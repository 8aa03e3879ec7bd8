"""Do the helpers of chapters quote what is there, and refuse what is not?"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

import pytest

from workbook.book import cells
from workbook.book.cells import Shown, compare_with_torch, quotation_of, show
from workbook.book.errors import BookError, last_line
from workbook.progress import Progress


@pytest.mark.parametrize("thing", [last_line, "workbook.book.errors.last_line"])
def test_a_function_is_quoted_with_its_file_and_name(thing: object) -> None:
    quote = quotation_of(thing)
    assert quote.caption == "workbook/book/errors.py, last_line"
    assert quote.blocks == (("python", inspect.getsource(last_line).rstrip()),)


@pytest.mark.parametrize(
    ("thing", "beginning"),
    [
        (BookError, "class BookError(Exception):"),
        (Progress.elapsed, "@property\ndef elapsed"),
        ("workbook.progress.Progress.__enter__", "def __enter__"),
        ("workbook.book.errors", '"""What went wrong'),
    ],
)
def test_classes_properties_methods_and_modules_are_quoted(thing: object, beginning: str) -> None:
    assert quotation_of(thing).blocks[0][1].startswith(beginning)


@pytest.mark.parametrize(
    ("thing", "error", "said"),
    [
        (len, TypeError, "builtin_function_or_method has no Python source\n  accepted: a function"),
        (42, TypeError, "int has no Python source"),
        (int, TypeError, "type has no Python source"),
        ("workbook.book.errors.nothing", LookupError, "workbook.book.errors has no nothing"),
        ("nowhere.at.all", LookupError, "no module named nowhere"),
    ],
)
def test_what_has_no_source_is_refused(thing: object, error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        show(thing)
    assert said in str(caught.value)


def test_a_row_of_a_yaml_table_is_quoted(capsys: pytest.CaptureFixture[str]) -> None:
    show("operators/native_functions.yaml", "add.Tensor")
    caption, _, rest = capsys.readouterr().out.partition("\n\n")
    assert caption == "glasstorch/operators/native_functions.yaml, add.Tensor"
    assert rest.startswith("- func: add.Tensor(Tensor self, Tensor other")
    assert rest.count("- func: ") == 1
    with pytest.raises(LookupError, match=r"has no row for 'add\.Tens'"):
        show("operators/native_functions.yaml", "add.Tens")


@pytest.mark.parametrize(
    ("path", "entry", "quoted"),
    [
        ("inplace_or_view_kernels.py", "select.int", 'row("select.int", views_first_of_three)'),
        ("autograd_kernels.py", "tanh_", 'in_place(AUTOGRAD, "tanh_", TanhBackward0, alone_of_one, keep=new_self)'),
        ("autograd_kernels.py", "mul_.Tensor", '@in_place_saving(AUTOGRAD, "mul_.Tensor", MulBackward0, two_of_two)'),
    ],
)
def test_a_row_of_a_python_table_is_quoted(
    path: str, entry: str, quoted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    show(f"autograd/generated/{path}", entry)
    assert capsys.readouterr().out == f"glasstorch/autograd/generated/{path}, {entry}\n\n{quoted}\n"
    with pytest.raises(LookupError, match="has no row for 'selec'"):
        show(f"autograd/generated/{path}", "selec")


@pytest.mark.parametrize(
    ("file", "name", "first", "last"),
    [
        ("lines.cuh", "shuffled_first", "// The value of the first lane in a group of `width` lanes.", "}"),
        ("geometry.cuh", "Geometry", "// Sizes and strides, the slowest dimension first.", "};"),
        (
            "rows.cuh",
            "members",
            "static __device__ int members()",
            "static __device__ int members() { return blockDim.x; }",
        ),
    ],
)
def test_cuda_is_quoted_by_name_with_its_comment(
    file: str, name: str, first: str, last: str, capsys: pytest.CaptureFixture[str]
) -> None:
    show(f"kernels/cuda/{file}", name)
    caption, _, text = capsys.readouterr().out.partition("\n\n")
    assert caption == f"glasstorch/kernels/cuda/{file}, {name}"
    assert text.startswith(first)
    assert text.rstrip().splitlines()[-1] == last


def test_a_name_that_cuda_does_not_define_is_an_error() -> None:
    with pytest.raises(LookupError, match=r"rows\.cuh has no definition of 'shuffled_first'"):
        show("kernels/cuda/rows.cuh", "shuffled_first")


def test_a_quotation_is_shown_in_a_notebook_as_markdown_with_its_role() -> None:
    data, metadata = Shown("quote", "a.py, C.__add__", (("python", "x = 1"),))._repr_mimebundle_()
    assert data == {
        "text/plain": "a.py, C.__add__\n\nx = 1",
        "text/markdown": "*a.py, C.\\_\\_add\\_\\_*\n\n```python\nx = 1\n```",
    }
    assert metadata == {"text/markdown": {"role": "quote"}}
    json.dumps([data, metadata])


# --- compare_with_torch -------------------------------------------------------------------------------------

RECORDED = (
    "PyTorch 2.13: Contiguous strides are products of the sizes behind them, counted in elements\n\n"
    "x = torch.empty(2, 3, 4)\n"
    "print(x.stride(), x.storage_offset(), x.is_contiguous(), x.untyped_storage().nbytes())"
    "\n\n(12, 4, 1) 0 True 96\n"
)


def test_without_torch_the_recorded_output_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cells, "torch_is_the_oracle", lambda: False)
    compare_with_torch("B001")
    compare_with_torch("print(1)", "2")
    assert capsys.readouterr().out == f"{RECORDED}PyTorch 2.13\n\nprint(1)\n\n2\n"


def test_with_torch_the_same_text_is_shown(require: Callable[[str], Any], capsys: pytest.CaptureFixture[str]) -> None:
    require("torch")
    compare_with_torch("B001")
    assert capsys.readouterr().out == RECORDED


def test_with_torch_another_output_fails(require: Callable[[str], Any]) -> None:
    require("torch")
    with pytest.raises(AssertionError) as caught:
        compare_with_torch("print(torch.ones(2))", "tensor([2., 2.])")
    assert "torch 2.13 does not print what is recorded" in str(caught.value)
    assert "-tensor([2., 2.])\n+tensor([1., 1.])" in str(caught.value)


def test_a_program_is_not_run_again_where_a_command_that_it_needs_is_missing(
    require: Callable[[str], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    require("torch")
    compare_with_torch("print(1)", "2", needs="no-such-command")
    assert capsys.readouterr().out == "PyTorch 2.13\n\nprint(1)\n\n2\n"
    with pytest.raises(AssertionError, match="does not print what is recorded"):
        compare_with_torch("print(1)", "2", needs="python3")


def test_an_unknown_behaviour_is_refused() -> None:
    with pytest.raises(BookError, match="no recorded behaviour 'B999'"):
        compare_with_torch("B999")
    with pytest.raises(TypeError, match="brings its own output"):
        compare_with_torch("B001", "42")
