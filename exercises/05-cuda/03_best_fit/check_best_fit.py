"""Is the right block taken, is it cut only if that is worthwhile, and is the rest linked to both neighbours?"""

from glasstorch.devices.blocks import KIB, MIB, Block, Pool
from workbook.exercises.asking import Ask, expect


def blocks(text: str, name: str = "small_pool") -> list[Block]:
    """The free blocks that words such as `stream:size@address` name, in KiB, in the order of a pool."""
    pool, found = Pool(name), []
    for word in text.split():
        stream, _, place = word.partition(":")
        size, _, address = place.partition("@")
        found.append(Block(int(address) * KIB, int(size) * KIB, int(stream), pool))
    return sorted(found, key=lambda block: (block.stream, block.size, block.address))


def test_which_block(ask: Ask) -> None:
    """the free block for a request of `size` bytes from a stream"""
    one, several, streams = "0:4@8", "0:1@90 0:2@40 0:4@60 0:4@10 0:8@70", "1:2@10 3:1@50 3:8@30 5:2@20 5:4@0"
    for text, size, stream, accepted, because in (
        ("", 1, 0, None, "there is no free block, so the allocator has to ask the driver"),
        (one, 4, 0, 8, "a block of exactly this size fits"),
        (one, 5, 0, None, "the only block is too small"),
        (several, 1, 0, 90, "the smallest block that is large enough leaves the larger ones whole"),
        (several, 3, 0, 10, "of two blocks of the right size, the one at the lowest address is taken"),
        (several, 5, 0, 70, "the smallest block that is large enough is taken"),
        (streams, 2, 3, 30, "blocks of other streams fit better, but they may not serve this stream"),
        (streams, 1, 3, 50, "the smallest block of this stream is taken"),
        (streams, 4, 1, None, "the block after the last one of this stream belongs to another stream"),
        (streams, 8, 5, None, "no block of this stream is large enough"),
        (streams, 1, 4, None, "this stream has no block"),
        (streams, 1, 0, None, "this stream has no block"),
    ):
        free = blocks(text)
        block = next((block for block in free if accepted is not None and block.address == accepted * KIB), None)
        expect(ask("best_fit", free, size * KIB, stream), block, because=because)


def test_whether_it_is_cut(ask: Ask) -> None:
    """whether a block is cut after `size` bytes of it are taken"""
    for name, size, rest, accepted, because in (
        ("small_pool", 512, 0, False, "nothing is left"),
        ("small_pool", 1024, 512, True, "a rest of 512 bytes can serve a request of the small pool"),
        ("small_pool", 512, MIB, True, "a large rest is worth a block"),
        ("large_pool", 3 * MIB, 0, False, "nothing is left"),
        ("large_pool", 3 * MIB, 512, False, "every request of the large pool is larger than 1 MiB"),
        ("large_pool", 3 * MIB, MIB, False, "every request of the large pool is larger than 1 MiB"),
        ("large_pool", 3 * MIB, MIB + 512, True, "a rest of more than 1 MiB can serve a request of the large pool"),
        ("large_pool", 3 * MIB, 17 * MIB, True, "a large rest is worth a block"),
    ):
        block = Block(0, size + rest, 0, Pool(name))
        asked = f"whether a block of the {name.replace('_', ' ')} is cut if {rest} bytes are left"
        expect(ask("should_split", block, size), accepted, asked=asked, because=because)


def test_the_cut(ask: Ask) -> None:
    """address and size of each block of a segment, whose first block was cut twice"""
    whole = Block(4096, 4096, 3, Pool("large_pool"))
    last = ask("split", whole, 3072).value
    middle = ask("split", whole, 512).value
    seen, block = [], whole
    while block is not None and len(seen) < 4:
        seen.append((block.address, block.size))
        block = block.next
    accepted = [(4096, 512), (4608, 2560), (7168, 1024)]
    expect(seen, accepted, because="`next` leads from the first block of a segment to its last, without a gap")
    back = [block and block.address for block in (whole.previous, middle.previous, last.previous)]
    asked = "the address of the `previous` block of each of the three"
    expect(back, [None, 4096, 4608], asked=asked, because="each block must be linked to both of its neighbours")
    kept = [(block.stream, block.pool.name) for block in (middle, last)]
    because = "the rest belongs to the same stream and pool as the block"
    expect(kept, [(3, "large_pool")] * 2, asked="stream and pool of the two rests", because=because)
