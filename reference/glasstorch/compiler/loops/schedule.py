"""Which loops run as one?

Mirrors: torch/_inductor/scheduler.py (Scheduler.fuse_nodes, can_fuse, score_fusion_memory)
Differs: loops are taken once, in order, each into the group with which it shares the most memory, where inductor tries
    all pairs in rounds. Why each pair was joined or not is kept as text.

A group is one nest of loops. If some of its loops reduce, the others visit either all of its dimensions or those that
are left, and it runs in phases: `(a pass over the reduced dimensions, then what is left)`, as often as needed. Softmax
of rows is one group of three phases, in which a row stays in the cache.

# Note [What may share a nest]
A loop that reads what another loop of the nest writes must read it in the same place of the nest: then each element is
written before it is read, whatever the order of the nest's dimensions. What is gathered by a reduction can be read only
in a later phase. There are later phases only if the reduced dimensions are the inner ones, and if what several phases
look at takes no more than MOST_KEPT bytes: that is the cost of two passes, which softmax and layer norm need, against
one that computes twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Final

from glasstorch.compiler.loops.ir import POSITIONS, Access, Buffer, Extern, Item, Loop
from glasstorch.compiler.loops.nest import Dims, Placed, common, natural, refined
from glasstorch.core.symbols import about

LONGEST: Final = 1 << 15  # elements of a row that one thread alone gathers, if it is all there is
MOST_KEPT: Final = 1 << 19  # bytes of a row that is visited more than once: it stays in the second cache


@dataclass(eq=False, slots=True)
class Group:
    """Loops that run as one. `phases` says for each in which phase it runs."""

    dims: Dims
    members: list[Placed]
    phases: list[int] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """ "flat" without reductions, "rows" if an inner dimension is reduced, "columns" if none, or "all"."""
        return kind_of(self.dims, self.members)

    @property
    def device(self) -> str:
        return self.members[0].write.buffer.device

    def reads(self) -> set[Buffer]:
        return {read.buffer for member in self.members for read in member.reads if read.buffer.made_by != POSITIONS}

    def writes(self) -> set[Buffer]:
        return {member.write.buffer for member in self.members}


def kind_of(dims: Dims, members: Sequence[Placed]) -> str:
    if not any(dims.reduced):
        return "flat"
    if all(dims.reduced) and prod(dims.sizes) > LONGEST and not any(member.loop.scans for member in members):
        return "all"
    return "rows" if dims.reduced[-1] else "columns"


@dataclass(slots=True)
class Schedule:
    """Groups and externs in the order in which they run, and what was tried."""

    order: list[Group | Extern]
    tried: list[str]


def schedule(items: Sequence[Item]) -> Schedule:
    """Put loops into groups."""
    order: list[Group | Extern] = []
    tried: list[str] = []
    made_at: dict[Buffer, int] = {}
    users: dict[Buffer, list[int]] = {}  # the places in `order` that read or write a buffer
    for item in items:
        if isinstance(item, Extern):
            _remember(made_at, item, len(order))
            order.append(item)
            continue
        if not prod(item.write.buffer.sizes):
            continue
        place = _join(item, order, made_at, users, tried)
        made_at[item.write.buffer] = place
        for buffer in {item.write.buffer, *(read.buffer for read in item.reads)}:
            users.setdefault(buffer, []).append(place)
    return Schedule(merged(order, tried), tried)


def merged(order: Sequence[Group | Extern], tried: list[str]) -> list[Group | Extern]:
    """The schedule with groups put into later ones that share memory with them, where nothing between waits for them.

    The first loop of a chain may have found no group to join, and its readers one that it would fit into.
    """
    left = list(order)
    for place in reversed(range(len(left))):
        group = left[place]
        if not isinstance(group, Group):
            continue
        target = _later(left, place, group, tried)
        if target is not None:
            left[target[0]] = target[1]
            del left[place]
    return left


def _later(order: Sequence[Group | Extern], place: int, group: Group, tried: list[str]) -> tuple[int, Group] | None:
    """The first later group that a group can be put into, with it; none beyond one that reads what the group writes."""
    written = group.writes()
    for i in range(place + 1, len(order)):
        other = order[i]
        waits = not written.isdisjoint(other.reads() if isinstance(other, Group) else other.reads)
        if isinstance(other, Group):
            both = written | group.reads()
            score = sum(buffer.nbytes for buffer in other.reads() & both)
            if score:
                joined = join(group, other.dims, other.members)
                why = joined if isinstance(joined, str) else "merged"
                tried.append(f"{_names(group)} with {_names(other)}: {score} bytes in common{_cost(joined)}; {why}")
                if isinstance(joined, Group):
                    return i, joined
        if waits:
            return None
    return None


def _remember(made_at: dict[Buffer, int], item: Extern, place: int) -> None:
    made_at.update((buffer, place) for buffer, _ in item.gives)


def _join(
    loop: Loop,
    order: list[Group | Extern],
    made_at: dict[Buffer, int],
    users: dict[Buffer, list[int]],
    tried: list[str],
) -> int:
    """Put a loop into the group with which it shares most, or into one of its own; the group's place."""
    dims, placed = natural(loop)
    earliest = max((made_at.get(read.buffer, 0) for read in loop.reads), default=0)
    near = {place for read in loop.reads for place in users.get(read.buffer, ()) if place >= earliest}
    found: list[tuple[int, int, Group]] = []
    for place in sorted(near):
        group = order[place]
        assert isinstance(group, Group)
        score = shared(group, loop)
        joined = join(group, dims, [placed])
        why = joined if isinstance(joined, str) else "joined" if not found else "could join"
        tried.append(f"{loop.write.buffer.name} with {_names(group)}: {score} bytes in common{_cost(joined)}; {why}")
        if isinstance(joined, Group):
            found.append((score, place, joined))
    if not found:
        order.append(Group(dims, [placed], [0]))
        return len(order) - 1
    _, place, joined = max(found, key=lambda one: one[:2])
    order[place] = joined
    return place


def _cost(joined: Group | str) -> str:
    """How often a row is visited, if more than once, and what that asks of the cache."""
    if isinstance(joined, str) or joined.kind != "rows" or not max(joined.phases):
        return ""
    kept = bytes_of_a_row(joined.dims, joined.members, joined.phases)
    return f", {max(joined.phases) + 1} phases that share {kept} bytes of a row"


def _names(group: Group) -> str:
    return "(" + ", ".join(member.write.buffer.name for member in group.members) + ")"


def shared(group: Group, loop: Loop) -> int:
    """The bytes of memory that need not be read, or written and read, if the loop joins the group."""
    both = {read.buffer for read in loop.reads} & (group.reads() | group.writes())
    return int(about(sum(buffer.nbytes for buffer in both)))


def join(group: Group, dims: Dims, placed: Sequence[Placed]) -> Group | str:
    """The group with more loops, or the reason why it cannot have them. See Note [What may share a nest]."""
    matched = _matched(group, dims, placed)
    if matched is None:
        return f"other sizes, {list(dims.sizes)} and {list(group.dims.sizes)}"
    dims, members = matched
    if (
        all(dims.reduced)
        and prod(dims.sizes) > LONGEST
        and len({m.loop.scans for m in members if m.loop.reduction}) > 1
    ):
        return "a scan of one long row cannot be divided between threads, which what is gathered can"
    phases = phases_of(members, in_rows=kind_of(dims, members) == "rows")
    if isinstance(phases, str):
        return phases
    later = max((phase for phase, member in zip(phases, members, strict=True) if member.inner), default=0)
    if later and kind_of(dims, members) != "rows":
        return "all has to be gathered first"
    if later and (kept := bytes_of_a_row(dims, members, phases)) > MOST_KEPT:
        return f"{later + 1} passes over a row that takes {kept} bytes would each come from memory"
    return Group(dims, members, phases)


def bytes_of_a_row(dims: Dims, members: Sequence[Placed], phases: Sequence[int]) -> int:
    """How much memory a row takes in which more than one phase looks."""
    seen: dict[Buffer, set[int]] = {}
    for member, phase in zip(members, phases, strict=True):
        if not member.inner:
            continue
        for access in (*member.reads, *(() if member.loop.gathers else (member.write,))):
            if any(move for move, gone in zip(access.strides, dims.reduced, strict=True) if gone):
                seen.setdefault(access.buffer, set()).add(phase)
    row = prod(dims.only(reduced=True))
    return sum(buffer.dtype.itemsize * row for buffer, its in seen.items() if len(its) > 1)


def _matched(group: Group, dims: Dims, placed: Sequence[Placed]) -> tuple[Dims, list[Placed]] | None:
    """The nest and all loops, the new ones last, in dimensions that suit all; None if there are none."""
    if (finer := common(group.dims.sizes, dims.sizes)) is not None:
        old, members = refined(group.dims, finer, group.members)
        new, added = refined(dims, finer, placed)
        if any(old.reduced) and any(new.reduced) and old.reduced != new.reduced:
            return None
        return Dims(old.sizes, old.reduced if any(old.reduced) else new.reduced), [*members, *added]
    if any(group.dims.reduced) and not any(dims.reduced):
        return _around(group.dims, group.members, dims, placed, new_first=False)
    if any(dims.reduced) and not any(group.dims.reduced):
        return _around(dims, placed, group.dims, group.members, new_first=True)
    return None


def _around(
    whole: Dims, inner: Sequence[Placed], rows: Dims, outer: Sequence[Placed], *, new_first: bool
) -> tuple[Dims, list[Placed]] | None:
    """A nest with reductions, and loops over the dimensions that it does not reduce."""
    kept = whole.only(reduced=False)
    finer = common(kept, rows.sizes)
    if finer is None:
        return None
    rest = list(finer)
    pieces: list[int] = []
    for size, gone in zip(whole.sizes, whole.reduced, strict=True):
        if gone:
            pieces.append(size)
            continue
        while size > 1:
            pieces.append(rest.pop(0))
            size //= pieces[-1]
    dims, members = refined(whole, pieces, inner)
    _, added = refined(rows, finer, outer)
    spread = [_spread(one, dims) for one in added]
    return dims, [*spread, *members] if new_first else [*members, *spread]


def _spread(placed: Placed, dims: Dims) -> Placed:
    """A loop over the dimensions that are not reduced, in the nest: it does not move along the others."""

    def access(one: Access) -> Access:
        moves = iter(one.strides)
        return one._replace(strides=tuple(0 if gone else next(moves) for gone in dims.reduced))

    return placed._replace(reads=tuple(map(access, placed.reads)), write=access(placed.write), inner=False)


def phases_of(members: Sequence[Placed], in_rows: bool) -> list[int] | str:
    """In which phase each loop runs, or why they cannot share a nest. See Note [What may share a nest].

    A scan of a row has a phase of its own, as it has to take one element after the other, which others have not.
    """
    writers: dict[Buffer, tuple[Placed, int]] = {}
    phases = []
    for member in members:
        phase = 0
        for read in member.reads:
            if read.buffer not in writers:
                continue
            writer, written = writers[read.buffer]
            if read.strides != writer.write.strides or read.offset != writer.write.offset:
                return f"it reads {read.buffer.name} in another order"
            gathered = writer.loop.gathers
            apart = in_rows and writer.inner and not gathered and writer.loop.scans != member.loop.scans
            if writer.inner and not gathered and not member.inner:
                return f"it reads one element of {read.buffer.name} for each row"
            phase = max(phase, written + (gathered or apart))
        writers[member.write.buffer] = member, phase
        phases.append(phase)
    return phases
