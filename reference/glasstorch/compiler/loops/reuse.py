"""Which results are written into the memory of a buffer that is not needed any more?

Mirrors: torch/_inductor/codegen/memory_planning.py, torch/_inductor/scheduler.py (decide_inplace_update)
Differs: a buffer is taken over only by one that is written in the same places, each after it was read for the last
    time. So a product of matrices becomes, in its own memory, what an activation makes of it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.compiler.loops.cpp_text import has_sines
from glasstorch.compiler.loops.ir import Buffer, Extern
from glasstorch.compiler.loops.schedule import Group
from glasstorch.core.pytree import tree_leaves
from glasstorch.dispatch.overload import OpOverload


def taken_over(
    groups: list[Group], parameters: Collection[Buffer], dying: Collection[Buffer], owned: Collection[Buffer]
) -> dict[Buffer, Buffer]:
    """For buffers that a kernel writes, the one that it takes the place of.

    `dying` are those that are not read after the kernel, and `owned` those that share memory with no other tensor.
    """
    found: dict[Buffer, Buffer] = {}
    left = [buffer for buffer in parameters if buffer in dying and buffer in owned]
    for group in groups:
        if group.device != "cpu" or any(has_sines(member) for member in group.members):
            continue  # a loop with sines may run once more
        for place, member in enumerate(group.members):
            made = member.write.buffer
            if made not in parameters or made in found or not member.inner or member.loop.gathers:
                continue
            for old in left:
                if _alike(old, made) and _read_before(groups, group, place, old):
                    found[made] = old
                    left.remove(old)
                    break
    return found


def _alike(one: Buffer, other: Buffer) -> bool:
    return (one.dtype, one.sizes, one.strides) == (other.dtype, other.sizes, other.strides)


def _read_before(groups: list[Group], group: Group, place: int, old: Buffer) -> bool:
    """Whether a member of a group writes each element only after the last read of the old buffer's element there."""
    if any(old in other.reads() for other in groups if other is not group):
        return False
    write, phase = group.members[place].write, group.phases[place]
    for i, member in enumerate(group.members):
        for read in member.reads:
            if read.buffer is not old:
                continue
            same = (read.strides, read.offset) == (write.strides, write.offset)
            if not same or not member.inner or (group.phases[i], i) > (phase, place):
                return False
    return group.kind in ("flat", "rows")


def owned_by(order: Sequence[Extern | Any]) -> set[Buffer]:
    """The buffers that share memory with no other tensor: kernels' own, and results of operators that are new memory.

    What an operator read whose result may be a view of it is left out.
    """
    found: set[Buffer] = set()
    shared: set[Buffer] = set()
    for item in order:
        if not isinstance(item, Extern):
            found.update(item.parameters_made())
        elif _is_new(item):
            found.update(buffer for buffer, _ in item.gives)
        else:
            shared.update(item.reads)
    return found - shared


def _is_new(item: Extern) -> bool:
    """Whether an operator's only result shares no memory with what it was given."""
    like, target = item.node.meta.get("val"), item.node.target
    given = [leaf for node in item.node.all_input_nodes for leaf in tree_leaves(node.meta.get("val"))]
    if not isinstance(target, OpOverload) or target.namespace != "aten":
        return False  # it may keep what it gives
    if not isinstance(like, Tensor) or len(item.gives) != 1:
        return False
    own = like.untyped_storage()._cdata
    return all(not isinstance(one, Tensor) or one.untyped_storage()._cdata != own for one in given)
