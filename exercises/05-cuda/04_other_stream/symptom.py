"""A tensor is read on another stream, and deleted at once. Is its memory kept until it was read?"""

import glasstorch as torch


def summed_on(side, numbers):
    """Begin the sum on a stream; the numbers are deleted before it has run."""
    x = torch.tensor(numbers, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        total = x.sum()
    x.record_stream(side)
    return total


# The device runs its work late, and begins with the first stream that has work, in this order.
for order in ("reverse", "forward"):
    torch.cuda.use_simulator(order=order, check_streams=False)
    side = torch.cuda.Stream()
    total = summed_on(side, [1.0] * 1000)
    torch.cuda.current_stream().synchronize()
    later = torch.zeros(1000, device="cuda")
    torch.cuda.current_stream().synchronize()
    side.synchronize()
    print(f"{order:8} the sum of a thousand ones is {total.item()}")
    if total.item() != 1000:
        raise SystemExit("the sum is that of numbers which were written after the tensor was deleted")
