"""Does a call reach the overload that has all of its arguments, and is it refused if there is none?"""

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
    """the results of calls that pass arguments by name"""
    for call, accepted in (
        ("x.sum(dim=0)", [6.0, 6.0]),
        ("torch.mean(x, dim=1)", [1.5, 4.5]),
        ("x.sum(dim=0, keepdim=True)", [[6.0, 6.0]]),
        ("torch.add(x, 1, alpha=2)", [[3.0, 4.0], [7.0, 6.0]]),
        ("torch.div(x, 2, rounding_mode='floor')", [[0.0, 1.0], [2.0, 2.0]]),
        ("torch.sum(input=x, dim=0)", [6.0, 6.0]),
    ):
        because = "a call means the first overload that has a parameter for each of its arguments"
        expect(ask.run(f"{X}({call}).tolist()"), accepted, because=because)


def test_names_that_no_overload_has(ask: Ask) -> None:
    """a TypeError for a call with an argument name that no overload has"""
    for call in ("x.sum(dmi=0)", "torch.add(x, 1, beta=2)"):
        because = "an argument that fits no parameter raises a TypeError and is never ignored"
        expect(ask.run(f"{X}{REFUSED}ended(lambda: {call})"), "TypeError", because=because)
