"""Does a generator that is set back to a state repeat the numbers that followed it?"""

import itertools

from workbook.exercises.asking import Ask, expect

SAVED = """
g = torch.Generator().manual_seed(5)
def draw(count):
    return torch.randn(count, generator=g).tolist()
draw({before})
state = g.get_state()
first = draw(5)
draw({between})
g.set_state(state)
"""


def test_normal_numbers_come_again(ask: Ask) -> None:
    """whether a generator that is set back to a state repeats its normal numbers"""
    for before, between in itertools.product((0, 1, 2, 3, 16, 17), (0, 1, 2, 16)):
        program = SAVED.format(before=before, between=between)
        came = ask.run(f"{program}\ndraw(5) == first")
        expect(came, True, because="the state alone determines the numbers that follow it")


def test_a_state_in_another_generator(ask: Ask) -> None:
    """the seed of a generator that was set to the state of another one"""
    came = ask.run(f"{SAVED.format(before=3, between=2)}\nh = torch.Generator()\nh.set_state(state)\nh.initial_seed()")
    expect(came, 5, because="the seed from which a stream began is part of its state")
