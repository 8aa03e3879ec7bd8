"""Does a call reach the overload that has all of its arguments, and is it refused where none has?"""

from workbook.exercises.asking import Ask, expect

X = "x = torch.tensor([[1.0, 2.0], [5.0, 4.0]])\n"
REFUSED = """
def ended(call):
    try:
        return call().tolist()
    except TypeError:
        return "TypeError"
"""


def test_named_arguments(ask: Ask) -> None:
    """what calls give that name one of their arguments"""
    for call, accepted in (
        ("x.sum(dim=0)", [6.0, 6.0]),
        ("torch.mean(x, dim=1)", [1.5, 4.5]),
        ("x.sum(dim=0, keepdim=True)", [[6.0, 6.0]]),
        ("torch.add(x, 1, alpha=2)", [[3.0, 4.0], [7.0, 6.0]]),
        ("torch.div(x, 2, rounding_mode='floor')", [[0.0, 1.0], [2.0, 2.0]]),
        ("torch.sum(input=x, dim=0)", [6.0, 6.0]),
    ):
        because = "the first overload that has a place for every argument of the call is the one that is meant"
        expect(ask.run(f"{X}({call}).tolist()"), accepted, because=because)


def test_names_that_no_overload_has(ask: Ask) -> None:
    """how calls end that name an argument which no overload has"""
    for call in ("x.sum(dmi=0)", "torch.add(x, 1, beta=2)"):
        because = "an argument without a place is a TypeError, and is never left out"
        expect(ask.run(f"{X}{REFUSED}ended(lambda: {call})"), "TypeError", because=because)
