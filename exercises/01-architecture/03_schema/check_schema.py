"""Is every parameter found, with its type, name and default, and with whether it must be passed by name?"""

import random

from glasstorch.core.errors import SchemaError
from glasstorch.dispatch.schema import Argument
from workbook.exercises.asking import Ask, Came, Raises, expect

Row = tuple[str, str, str | None, bool]
TYPES = ("Tensor", "Tensor?", "Tensor[]", "Scalar", "int", "int?", "float[]?", "bool", "str", "ScalarType?", "int[3]")
NAMES = ("self", "other", "weight", "dim", "keepdim", "alpha", "out", "mean_0", "dtype", "_x")


def rows(came: Came) -> object:
    """The result as plain rows of type, name, default and keyword_only; anything else as it is."""
    if isinstance(came.value, tuple) and all(isinstance(value, Argument) for value in came.value):
        return tuple((str(a.type), a.name, a.default, a.keyword_only) for a in came.value)
    return came.value


def drawn(count: int) -> list[Row]:
    """This many random parameters without a default, the same in every run."""
    draw = random.Random(f"schema {count}")
    names = draw.sample(NAMES, count)
    return [(draw.choice(TYPES), name, None, False) for name in names]


def test_types_and_names(ask: Ask) -> None:
    """the parameters, each with its type and its name"""
    for accepted in (
        *([*drawn(count)] for count in range(1, 6)),
        [("Tensor(a!)", "self", None, False), ("Tensor", "other", None, False)],
        [("Tensor(a -> *)[]", "self", None, False)],
    ):
        came = ask("parse_arguments", ", ".join(f"{kind} {name}" for kind, name, _, _ in accepted))
        because = "the name is the last word, and the type is all the text before it, even with spaces in brackets"
        expect(rows(came), tuple(accepted), because=because)


def test_given_by_name(ask: Ask) -> None:
    """the parameters, some of which must be passed by name"""
    for count, star in ((1, 0), (2, 1), (4, 0), (4, 2), (5, 3)):
        accepted = [(kind, name, None, place >= star) for place, (kind, name, _, _) in enumerate(drawn(count))]
        texts = [f"{kind} {name}" for kind, name, _, _ in accepted]
        came = ask("parse_arguments", ", ".join([*texts[:star], "*", *texts[star:]]))
        expect(rows(came), tuple(accepted), because="the star is not a parameter; all after it must be passed by name")


def test_defaults(ask: Ask) -> None:
    """the parameters, some of which have a default"""
    for text, accepted in (
        ("int dim=-1", (("int", "dim", "-1", False),)),
        ("Tensor self, float eps=1e-05", (("Tensor", "self", None, False), ("float", "eps", "1e-05", False))),
        ('str mode="mean", bool flag=True', (("str", "mode", '"mean"', False), ("bool", "flag", "True", False))),
        ("int? dim=None", (("int?", "dim", "None", False),)),
        ('str sep="a=b"', (("str", "sep", '"a=b"', False),)),
    ):
        because = "a default is kept as it is written, and `=None` is a default, unlike a parameter that has none"
        expect(rows(ask("parse_arguments", text)), accepted, because=because)


def test_commas_in_brackets(ask: Ask) -> None:
    """the parameters of a text with a comma in brackets"""
    for text, accepted in (
        ("int[2] stride=[1, 1]", (("int[2]", "stride", "[1, 1]", False),)),
        ("int[] dim=[0,1], bool x=True", (("int[]", "dim", "[0,1]", False), ("bool", "x", "True", False))),
        ("int[] a=[], int[] b=[2, 3, 5]", (("int[]", "a", "[]", False), ("int[]", "b", "[2, 3, 5]", False))),
    ):
        expect(rows(ask("parse_arguments", text)), accepted, because="only a comma outside brackets ends a parameter")


def test_no_parameters(ask: Ask) -> None:
    """the parameters of an operator that has none"""
    expect(rows(ask("parse_arguments", "")), (), because="the empty text has no parameter, not one empty parameter")


def test_what_is_no_parameter(ask: Ask) -> None:
    """a refusal of a parameter that is not a type and a name"""
    for text, part in (
        ("Tensor", "Tensor"),
        ("Tensor self, int", "int"),
        ("int 2d", "int 2d"),
        ("Tensor x, Scalar y = 1", "Scalar y = 1"),
        ("Tensor self,, int dim", "''"),
    ):
        because = "a parameter is a type, a space and a name, and the name must be valid in Python"
        expect(ask("parse_arguments", text), Raises(SchemaError, part), because=because)


def test_a_name_twice(ask: Ask) -> None:
    """a refusal of two parameters with the same name"""
    for text in ("Tensor a, Tensor a", "int a, Tensor a", "Tensor x, Scalar a=1, int b, *, bool a=False"):
        because = "an argument that is passed by name could mean either of them"
        expect(ask("parse_arguments", text), Raises(SchemaError, "'a'"), because=because)
