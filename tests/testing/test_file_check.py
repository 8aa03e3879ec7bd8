"""Does FileCheck find, refuse and report as PyTorch's does?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch import testing

Require = Callable[[str], Any]

TEXT = "one two\nthree one\nfour\nfive five\n"
LONG = "a\nb\nc\nd\ne\none\nf\ng\nh\ni\nj\nk\n" * 2

PROGRAMS: list[Callable[[Any], object]] = [
    lambda check: check().check("one").check("three").check("five").run(TEXT),
    lambda check: check().check("zzz").run(TEXT),
    lambda check: check().check("one").check("zzz").run(TEXT),
    lambda check: check().check("three").check("two").run(TEXT),
    lambda check: check().check("").run(TEXT),
    lambda check: check().check("\n").run("abc"),
    lambda check: check().check("a \"word\" isn't\t'quoted'?\\").run(TEXT),
    lambda check: check().check_not("zzz").run(TEXT),
    lambda check: check().check_not("five").run(TEXT),
    lambda check: check().check_not("two").check("three").run(TEXT),
    lambda check: check().check_not("four").check("three").run(TEXT),
    lambda check: check().check_not("a").check_not("b").run("b"),
    lambda check: check().check("one").check_same("two").run(TEXT),
    lambda check: check().check("one").check_same("three").run(TEXT),
    lambda check: check().check_same("three").run(TEXT),
    lambda check: check().check("one").check_next("three").run(TEXT),
    lambda check: check().check("one").check_next("four").run(TEXT),
    lambda check: check().check_next("one").run(TEXT),
    lambda check: check().check_next("one").run("x"),
    lambda check: check().check_count("one", 2).run(TEXT),
    lambda check: check().check_count("one", 3).run(TEXT),
    lambda check: check().check_count("one", 1, exactly=True).run(TEXT),
    lambda check: check().check_count("one", 1, exactly=True).check("three").run(TEXT),
    lambda check: check().check_count("zz", 0, True).run(TEXT),
    lambda check: check().check_count("one", 2).check_not("one").run(TEXT),
    lambda check: check().check_dag("four").check_dag("one").check("five").run(TEXT),
    lambda check: check().check_dag("four").check_dag("zz").run(TEXT),
    lambda check: check().check_not("two").check_dag("four").check_dag("three").run(TEXT),
    lambda check: check().check_regex("f.*r").run(TEXT),
    lambda check: check().check_regex("f.*z").run(TEXT),
    lambda check: check().check_source_highlighted("two").run("one two x\n    ~~~  \n"),
    lambda check: check().check_source_highlighted("two").run("one two x\n   ~~~~  \n"),
    lambda check: check().check_source_highlighted("zz").run("one two x\n   ~~~~  \n"),
    lambda check: check().run(TEXT),
    lambda check: check().run("# CHECK: two\n# CHECK-NEXT: one\n", "one two\nthree\none"),
    lambda check: check().run("# CHECK: two\n# CHECK-NEXT: four\n", TEXT),
    lambda check: check().run("# CHECK-NOT: zz\n# CHECK-COUNT-2: five\n # CHECK-DAG: zz", TEXT),
    lambda check: check().run("# CHECK-COUNT-EXACTLY-2: five\n#CHECK-SAME: five\n# CHECK-REGEX: f", TEXT),
    lambda check: check().run("# CHEK: two\n", TEXT),
    lambda check: check().run("# CHECK-FOO: two\n", TEXT),
    lambda check: check().check("one").check("zzz").run(LONG),
    lambda check: check().check("one").check_not("k").run(LONG),
    lambda check: check().check("one").check("one").check_same("f").run(LONG),
]


def said(program: Callable[[Any], object], library: Any) -> str | None:
    """What the check says of a failure, and None where there is none."""
    try:
        program(library.testing.FileCheck)
    except RuntimeError as error:
        return str(error)
    return None


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_check_passes_or_fails_in_pytorchs_words(program: Callable[[Any], object], require: Require) -> None:
    assert said(program, glasstorch) == said(program, require("torch"))


@pytest.mark.parametrize("text", ["one two\nno", "one two", "one two\n    ~~", "one two\n   ~~~", "one two\n   ~~~~"])
def test_what_is_not_highlighted_is_refused(text: str, require: Require) -> None:
    def highlighted(check: Any) -> None:
        check().check_source_highlighted("two").run(text)

    for library in (glasstorch, require("torch")):
        message = said(highlighted, library)
        assert message is not None
        assert message.startswith("Expected to")


def test_bad_checks_are_refused() -> None:
    with pytest.raises(RuntimeError, match="is not a regular expression"):
        testing.FileCheck().check_regex("(").run(TEXT)
    with pytest.raises(RuntimeError, match="doesn't do anything"):
        testing.FileCheck().check_count("one", 0)
    with pytest.raises(TypeError, match="expected a str, got 3"):
        testing.FileCheck().check(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="got 0 arguments"):
        testing.FileCheck().run()


def test_a_graph_is_checked_as_its_text() -> None:
    graph = glasstorch.jit.trace(lambda x: x * 2 + 1, glasstorch.ones(2)).graph
    testing.FileCheck().check("graph(").check("aten::mul").check_next("prim::Constant").check("return").run(graph)


def test_checks_that_were_never_run_are_told(capsys: pytest.CaptureFixture[str], require: Require) -> None:
    told = []
    for library in (glasstorch, require("torch")):
        library.testing.FileCheck().check("a").check_count("b", 2, exactly=True)
        told.append(capsys.readouterr().out)
    assert "CHECK-COUNT-2: b" in told[0]
    assert told[1] in ("", told[0])  # PyTorch writes past Python's sys.stdout, where this may not see it
