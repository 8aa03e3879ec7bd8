"""Can the bytes of every part of a tensor be read correctly, and do writes to them reach the tensor?"""

import random

import numpy as np

from workbook.exercises.asking import Ask, expect

KINDS = {"uint8": 1, "int16": 2, "float16": 2, "int32": 4, "float32": 4, "int64": 8, "float64": 8}


def parts() -> list[tuple[str, str, str, np.ndarray]]:
    """Programs that make a part of a tensor, the dtypes of the tensor and its view, and the part in NumPy."""
    draw, found = random.Random("02.4"), []
    for _ in range(40):
        wide, narrow = sorted(draw.sample(list(KINDS), 2), key=KINDS.__getitem__, reverse=True)
        rows, columns = draw.randint(2, 6), draw.randint(2, 6)
        whole = np.arange(rows * columns).astype(wide).reshape(rows, columns)
        row, column = draw.randrange(rows), draw.randrange(columns)
        text = f"whole = torch.arange({rows * columns}).to(torch.{wide}).view({rows}, {columns})\n"
        for index, part in ((f"{row}:", whole[row:]), (f"{row}:, {column}:", whole[row:, column:])):
            found.append((f"{text}part = whole[{index}]", wide, narrow, part))
    return sorted(found, key=lambda one: one[3].nbytes)  # so that the first one that fails is small


def test_the_bytes_of_a_part(ask: Ask) -> None:
    """the bytes of a part of a tensor, read as a dtype with smaller elements, and the part after they are set to 0"""
    for program, _, narrow, part in parts():
        seen = f"seen = part.view(torch.{narrow})\nread = seen.contiguous().view(torch.uint8).tolist()\nseen.fill_(0)"
        bytes_of_rows = np.ascontiguousarray(part).view("uint8").reshape(len(part), -1)
        accepted = bytes_of_rows.tolist(), np.zeros_like(part).tolist()
        because = "these are the bytes of the part, and a write to the view changes the tensor, whose memory it shares"
        expect(ask.run(f"{program}\n{seen}\nread, part.tolist()"), accepted, because=because)


def test_bytes_that_are_read_as_larger_elements(ask: Ask) -> None:
    """a part of a tensor of bytes, read as a dtype with larger elements"""
    for kind, size in KINDS.items():
        part = np.arange(48, dtype="uint8")[2 * size : 4 * size]
        came = ask.run(f"torch.arange(48).to(torch.uint8)[{2 * size}:{4 * size}].view(torch.{kind}).tolist()")
        expect(came, part.view(kind).tolist(), because="these are the numbers that NumPy reads from the same bytes")
