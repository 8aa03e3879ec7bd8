"""Does a cell see what a function was asked and what it answered, without its source?"""

from __future__ import annotations

import pytest

import glasstorch as torch
from glasstorch.core import geometry
from glasstorch.core.keys import DispatchKey
from workbook.book.calls import called, recorded, short, show_calls, show_counterexamples

STRIDES = "glasstorch.core.geometry.contiguous_strides"


def test_the_calls_of_a_program_are_listed_with_their_results(capsys: pytest.CaptureFixture[str]) -> None:
    def program() -> None:
        for shape in ((2, 3), (2, 3), (4, 0, 2)):
            geometry.contiguous_strides(shape)

    show_calls(STRIDES, program)
    assert capsys.readouterr().out == (
        "contiguous_strides, as it was called\n\n"
        "contiguous_strides((2, 3)) -> (3, 1)   (2 times)\n"
        "contiguous_strides((4, 0, 2)) -> (2, 2, 1)\n"
    )


def test_calls_from_modules_that_have_the_function_under_a_name_of_their_own_are_seen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    x = torch.arange(6)
    show_calls("glasstorch.core.geometry.view_strides", lambda: x.view(2, 3).t().view(3, 2, 1))
    assert "view_strides((3, 2), (1, 3), (3, 2, 1)) -> (1, 3, 3)" in capsys.readouterr().out


def test_a_method_is_recorded_without_its_object(capsys: pytest.CaptureFixture[str]) -> None:
    block = "glasstorch.devices.blocks.Pool"
    from glasstorch.devices.blocks import Pool

    before = vars(Pool)["insert"]
    show_calls(f"{block}.insert", lambda: Pool("small_pool").insert(_block()), write=lambda value: type(value).__name__)
    assert capsys.readouterr().out.endswith("\n\nPool.insert(Block) -> NoneType\n")
    assert vars(Pool)["insert"] is before


def _block() -> object:
    from glasstorch.devices.blocks import Block, Pool

    return Block(0, 512, 0, Pool("small_pool"))


def test_the_function_is_put_back_when_the_program_fails() -> None:
    before = geometry.contiguous_strides
    said: list[str] = []
    with pytest.raises(TypeError), recorded(STRIDES, said.append, short):
        geometry.contiguous_strides(None)  # type: ignore[arg-type]
    assert said == ["contiguous_strides(None) raises TypeError"]
    assert geometry.contiguous_strides is before


def test_more_calls_than_are_wanted_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    show_calls(STRIDES, lambda: [geometry.contiguous_strides((size,)) for size in range(5)], most=2)
    assert capsys.readouterr().out.splitlines()[2:] == [
        "contiguous_strides((0,)) -> (1,)",
        "contiguous_strides((1,)) -> (1,)",
        "... and 3 more",
    ]


def test_a_program_that_never_calls_it_is_refused() -> None:
    with pytest.raises(LookupError, match="the program never calls it"):
        show_calls(STRIDES, lambda: None)


def test_counterexamples_say_where_a_guess_differs(capsys: pytest.CaptureFixture[str]) -> None:
    def guess(shape: tuple[int, ...]) -> tuple[int, ...]:
        if not shape:
            raise ValueError
        return tuple(torch.tensor(shape[i + 1 :]).prod().int().item() for i in range(len(shape)))

    show_counterexamples(STRIDES, guess, ((2, 3),), ((2, 0),), ((),))
    assert capsys.readouterr().out == (
        "contiguous_strides, and a guess\n\n"
        "contiguous_strides((2, 3)) -> (3, 1)   as guessed\n"
        "contiguous_strides((2, 0)) -> (1, 1)   guessed: (0, 1)\n"
        "contiguous_strides(()) -> ()           guessed: raises ValueError\n"
    )


def test_a_guess_that_is_right_everywhere_is_no_counterexample() -> None:
    with pytest.raises(AssertionError, match="right in all 1 calls"):
        show_counterexamples(STRIDES, geometry.contiguous_strides, ((2, 3),))


def test_values_are_written_the_same_on_every_machine() -> None:
    assert short(DispatchKey.AutogradCPU) == "AutogradCPU"
    assert short(short) == "short"
    assert short(object()) == "<object object>"
    assert short("x" * 200) == "'" + "x" * 56 + "..."
    assert called("f", (1, (2,)), {"key": DispatchKey.CPU}, short) == "f(1, (2,), key=CPU)"
