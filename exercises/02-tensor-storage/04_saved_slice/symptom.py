"""Parts of a tensor are saved as bytes and read again. Do they come back as they were?"""

import glasstorch as torch


def to_bytes(tensor):
    """What is written to a file: the bytes of the elements, in order."""
    return bytes(tensor.contiguous().view(torch.uint8).tolist())


def from_bytes(data, dtype):
    """The tensor that is read from a file."""
    return torch.tensor(list(data), dtype=torch.uint8).view(dtype)


weights = torch.arange(12.0)
for first in (0, 4):
    part = weights[first : first + 4]
    back = from_bytes(to_bytes(part), torch.float32)
    print("saved", part.tolist())
    print("read ", back.tolist())
    if back.tolist() != part.tolist():
        raise SystemExit("what was read is not what was saved")
