"""What has changed is noted first; then the rules are tried in their order."""

from collections.abc import Sequence

from glasstorch.compiler.shapes import Marks


def kinds_of(sizes: Sequence[int], seen: list[int | None], marks: Marks, dynamic: bool | None) -> list[str]:
    kinds = []
    for i, size in enumerate(sizes):
        if seen[i] != size:
            seen[i] = None
        if i in marks.dynamic:
            kinds.append("DYNAMIC")
        elif size < 2:
            kinds.append("STATIC")
        elif i in marks.weak:
            kinds.append("DYNAMIC")
        elif i in marks.static or dynamic is False:
            kinds.append("STATIC")
        elif dynamic:
            kinds.append("DUCK")
        else:
            kinds.append("DYNAMIC" if seen[i] is None else "STATIC")
    return kinds
