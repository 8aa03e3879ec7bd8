"""Is a run the same if the program draws other random numbers in between and restores the generator?"""

import glasstorch as torch


def trained(looks, width):
    """The weights after some steps with noise; in each step, the program may draw more noise of this width."""
    torch.manual_seed(0)
    weights = torch.zeros(4)
    for _ in range(3):
        weights = weights + torch.randn(4)
        if looks:
            with torch.random.fork_rng():
                torch.randn(width)
    return weights


for width in (2, 4, 16, 17, 3):
    same = torch.equal(trained(False, width), trained(True, width))
    print(f"looking at {width:2} numbers: {'the same run' if same else 'another run'}")
    if not same:
        print(trained(False, width))
        print(trained(True, width))
        raise SystemExit("the generator was not restored to its earlier state")
