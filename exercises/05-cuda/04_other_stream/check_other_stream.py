"""Is memory given out again as soon as all streams that used it are done, and not before?"""

import itertools

from workbook.exercises.asking import Ask, expect

DEVICE = """
torch.cuda.use_simulator(memory=64 << 20, check_streams=False)
own = torch.cuda.current_stream()
others = [torch.cuda.Stream() for _ in range(3)]
x = torch.ones(1000, device="cuda")
place = x.data_ptr()
def used(on):
    on.wait_stream(own)
    with torch.cuda.stream(on):
        x.sum()
    x.record_stream(on)
def again():
    return torch.empty(1000, device="cuda").data_ptr() == place
"""


def uses() -> list[tuple[str, list[int], str, bool]]:
    """Uses of the tensor by streams, these streams, the waits, and whether the memory may be given out after them."""
    found = []
    for users in (list(some) for count in range(4) for some in itertools.combinations(range(3), count)):
        for late in (None, *users):
            use = "\n".join(f"used(others[{user}])" for user in users)
            done = [f"others[{user}].synchronize()" for user in users if user != late]
            found.append((use, users, "\n".join(["own.synchronize()", *done]), late is None))
    return found


def test_when_memory_is_given_out_again(ask: Ask) -> None:
    """which users of a tensor are done when it is deleted, and whether its memory is given out after the waits"""
    for use, users, wait, free in uses():
        came = ask.run(
            f"{DEVICE}\n{use}\ndel x\ndone = [others[one].query() for one in {users}]\n{wait}\ndone, again()"
        )
        because = "deleting a tensor waits for no stream, and its memory may be given out when all its users are done"
        expect(came, ([False] * len(users), free), because=because)


def test_a_block_forgets_who_used_it(ask: Ask) -> None:
    """whether memory is given out again, where its user is done and a user of an earlier tensor in it is not"""
    came = ask.run(
        f"""{DEVICE}
used(others[0])
del x
others[0].synchronize()
x = torch.ones(1000, device="cuda")
with torch.cuda.stream(others[0]):
    torch.ones(10, device="cuda")
used(others[1])
del x
own.synchronize()
others[1].synchronize()
again()"""
    )
    expect(came, True, because="the first stream is busy with other work and has not used the second tensor")
