"""Are the casts of weights discarded when the outermost block of autocast ends, and not before?"""

from workbook.exercises.asking import Ask, expect

WEIGHT = """
weight = torch.ones(1, 1, requires_grad=True)
def product():
    return (torch.ones(1, 1) @ weight).item()
def change():
    with torch.no_grad():
        weight.fill_(5)
def auto(**how):
    return torch.autocast("cpu", **how)
"""
OFF_INSIDE = "with auto():\n    product()\n    with auto(enabled=False):\n        product()"
ON_INSIDE = "with auto(enabled=False):\n    with auto():\n        product()"
TWO_OFF = "with auto():\n    product()\n    for _ in range(2):\n        with auto(enabled=False):\n            pass"
FAILS = "try:\n    with auto():\n        product()\n        raise KeyError\nexcept KeyError:\n    pass"


def test_after_the_outermost_block(ask: Ask) -> None:
    """a product with a weight that was changed between two blocks of autocast"""
    for blocks in (OFF_INSIDE, ON_INSIDE, TWO_OFF, FAILS):
        came = ask.run(f"{WEIGHT}\n{blocks}\nchange()\nwith auto():\n    after = product()\nafter")
        expect(came, 5.0, because="an outermost block must not use the casts of an earlier block")


def test_within_the_outermost_block(ask: Ask) -> None:
    """a product with a weight that was changed within a block, after another block inside it has ended"""
    for inner in ("auto()", "auto(enabled=False)"):
        blocks = f"with auto():\n    product()\n    with {inner}:\n        pass\n    change()\n    then = product()"
        came = ask.run(f"{WEIGHT}\n{blocks}\nthen")
        expect(came, 1.0, because="a cast is kept until the outermost block ends; the weight was 1 when it was cast")


def test_what_was_set_before(ask: Ask) -> None:
    """the settings of autocast after a block"""
    told = 'torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), torch.is_autocast_cache_enabled()'
    block = "with auto(dtype=torch.float16, cache_enabled=False):\n    pass"
    came = ask.run(f"{WEIGHT}\nbefore = ({told})\n{block}\nbefore == ({told})")
    expect(came, True, because="a block restores all settings when it ends")
