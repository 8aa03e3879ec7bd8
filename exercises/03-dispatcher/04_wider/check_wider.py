"""Is the dtype of a result correct for every pair of kinds of operands?"""

from workbook.exercises.asking import Ask, expect

# Category (bool, integer, floating point) and width, from the weakest dtype to the strongest
DTYPES = {"bool": (0, 1), "int32": (1, 4), "int64": (1, 8), "float32": (2, 4), "float64": (2, 8)}
NUMBERS = {"True": "bool", "3": "int64", "0.5": "float32"}


def operands() -> dict[str, tuple[int, str]]:
    """Operands as programs write them: the class of each, 2 for a tensor with dimensions, 0 for a number; its dtype."""
    found = {text: (0, dtype) for text, dtype in NUMBERS.items()}
    found |= {f"torch.tensor(1, dtype=torch.{dtype})": (1, dtype) for dtype in DTYPES}
    return found | {f"torch.ones(2, dtype=torch.{dtype})": (2, dtype) for dtype in DTYPES}


def common(a: tuple[int, str], b: tuple[int, str]) -> str:
    """The common dtype of two operands, by the rule in PyTorch's documentation."""
    if a[0] == b[0]:
        return max(a[1], b[1], key=DTYPES.__getitem__)
    (_, weaker), (_, stronger) = sorted((a, b))
    return weaker if DTYPES[weaker][0] > DTYPES[stronger][0] else stronger


def test_the_dtype_of_two_operands(ask: Ask) -> None:
    """the dtype of a sum, and the dtype that result_type returns"""
    every = operands()
    for first, a in every.items():
        for second, b in every.items():
            if a[0] or b[0]:
                wanted = f"torch.{common(a, b)}"
                came = ask.run(f"a, b = {first}, {second}\nstr((a + b).dtype), str(torch.result_type(a, b))")
                because = "a tensor without dimensions changes the dtype only if its category is higher"
                expect(came, (wanted, wanted), because=because)
