// Which memory accesses of a kernel are wrong, and how many does it make?
//
// In check mode a kernel is compiled with the instrumentation of two sanitizers, but with neither of their runtimes:
// the functions that the compiler calls before each access are ours, at the end of this file.
//
// Note [Order of accesses]
// Two accesses to one address, at least one of them a write and not both atomic, race unless one is ordered before the
// other. There are four ways to order them:
// - both are made by one thread;
// - a __syncthreads() of their block lies between them (`barriers` counts these);
// - a chain of __syncwarp() of their warp leads from one to the other. Each lane has a clock, and remembers the value
//   of every other lane's clock at their last synchronization, direct or through other lanes;
// - their blocks differ, the first block executed __threadfence() and an atomic, and the second block later an atomic
//   on the same address. Blocks are compared as a whole: a write after the fence is not found.
// Shuffles and votes order nothing, as CUDA specifies. Of many readers of an address, three are remembered.
#include "launch.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <vector>

namespace sim {

static constexpr uint32_t PAGE = 4096;  // bytes of a kernel's memory

struct Access {
    uint32_t block;     // the serial number of its block; 0: no access yet
    uint32_t barriers;  // that the block had passed
    uint32_t clock;     // of the lane
    uint16_t thread, atomic;
    uint64_t address;  // of the instruction
};

// What is known about one address: the last write, the last read, another read by the same warp that is not ordered
// before that one, and a read by another warp or block.
struct Cell {
    Access write, read, other, elsewhere;
};

// The cells of a page: one per four bytes, until an access is narrower.
struct Page {
    uint64_t number;  // address / PAGE
    uint64_t launch;  // for which the cells are valid
    unsigned width;   // bytes of a cell
    Cell* cells;
};

static std::vector<Page*> table;  // open addressing, by number; its size is a power of two
static size_t page_count;
static Page* last_page;

static uint32_t block_serial;  // of the current block; never 0, never used twice
static uint32_t first_serial;  // of the launch
static bool fenced;            // the block has called __threadfence()
static const Buffer* last_buffer;
static uintptr_t own_variable;  // an address that is known to be a variable of the module

struct Slot {
    unsigned low, high;
};
static std::vector<Slot> slots;               // of `static_shared`
static std::vector<uint32_t> shared_written;  // for each byte, the block that wrote it
// The block's first read of unwritten shared memory; reported at the block's end unless a later write makes it a race.
static struct {
    Thread* thread;
    uint64_t address;
    uintptr_t pc;
} too_early;
static uint32_t clocks[MAX_THREADS / WARP][WARP][WARP];  // [warp][lane][that lane's clock as the first knows it]

// A set of blocks by serial number, whose accesses are ordered before those of another block.
typedef std::vector<uint64_t> Blocks;
static Blocks acquired;
struct Released {
    const volatile void* place;
    Blocks blocks;
};
static std::vector<Released> released;

static bool has(const Blocks& blocks, uint32_t serial) {
    uint32_t number = serial - first_serial;
    return number / 64 < blocks.size() && blocks[number / 64] >> (number % 64) & 1;
}

static void add(Blocks& to, const Blocks& blocks) {
    if (to.size() < blocks.size()) to.resize(blocks.size());
    for (size_t i = 0; i < blocks.size(); i++) to[i] |= blocks[i];
}

static void add(Blocks& to, uint32_t serial) {
    uint32_t number = serial - first_serial;
    if (to.size() <= number / 64) to.resize(number / 64 + 1);
    to[number / 64] |= 1ull << (number % 64);
}

// Called by runtime.cpp ---------------------------------------------------------------------------------------------

static void forget_pages() {
    for (Page* page : table)
        if (page) {
            free(page->cells);
            delete page;
        }
    table.assign(1024, nullptr);
    page_count = 0;
}

// Clocks are never reset: what a lane knows about others stays true, though useless, in the next block.
static void start_clocks() {
    for (auto& warp : clocks)
        for (unsigned lane = 0; lane < WARP; lane++) warp[lane][lane] = 1;
}

void checks_begin() {
    if (!launch->instrumented) return;
    if (table.empty()) start_clocks();
    if (table.empty() || page_count > 4096) forget_pages();
    shared_written.resize(STATIC_REGION + MAX_SHARED);
    last_page = nullptr;
    last_buffer = nullptr;
    own_variable = 0;
    slots.clear();
    released.clear();
    first_serial = block_serial + 1;
}

void checks_begin_block() {
    if (!launch->instrumented) return;
    if (++block_serial == 0) block_serial = 1;
    fenced = false;
    too_early.thread = nullptr;
    acquired.clear();
    count_begin_block();
}

void checks_end_block() {
    if (!launch->check || !too_early.thread) return;
    thread = too_early.thread;
    fail(719, too_early.pc, "read of shared memory that has not been written%s", describe(too_early.address).text);
}

void declared_shared(unsigned offset, unsigned size) {
    if (launch->instrumented) slots.push_back({offset, offset + size});
}

void lanes_synchronised(unsigned warp, unsigned lanes) {
    if (!launch->instrumented) return;
    uint32_t known[WARP] = {};
    for (unsigned rest = lanes; rest; rest &= rest - 1) {
        const uint32_t* each = clocks[warp][__builtin_ctz(rest)];
        for (unsigned lane = 0; lane < WARP; lane++) known[lane] = known[lane] < each[lane] ? each[lane] : known[lane];
    }
    for (unsigned rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = __builtin_ctz(rest);
        memcpy(clocks[warp][lane], known, sizeof known);
        clocks[warp][lane][lane]++;
    }
}

// Races -------------------------------------------------------------------------------------------------------------

static Page* page_of(uint64_t address) {
    uint64_t number = address / PAGE;
    if (last_page && last_page->number == number) return last_page;
    size_t mask = table.size() - 1, at = number * 0x9e3779b97f4a7c15ull >> 20 & mask;
    while (table[at] && table[at]->number != number) at = (at + 1) & mask;
    Page* page = table[at];
    if (!page) {
        page = table[at] = new Page{number, 0, 4, (Cell*)malloc(PAGE / 4 * sizeof(Cell))};
        if (++page_count * 2 > table.size()) {
            std::vector<Page*> old(table.size() * 2, nullptr);
            old.swap(table);
            mask = table.size() - 1;
            for (Page* each : old) {
                if (!each) continue;
                for (at = each->number * 0x9e3779b97f4a7c15ull >> 20 & mask; table[at];) at = (at + 1) & mask;
                table[at] = each;
            }
        }
    }
    if (page->launch != launch_number) {
        page->launch = launch_number;
        memset(page->cells, 0, PAGE / page->width * sizeof(Cell));
    }
    return last_page = page;
}

// From now on the page has a cell for each byte.
static void split(Page& page) {
    Cell* cells = (Cell*)malloc(PAGE * sizeof(Cell));
    for (uint32_t i = 0; i < PAGE; i++) cells[i] = page.cells[i / page.width];
    free(page.cells);
    page.cells = cells;
    page.width = 1;
}

// Whether an access is ordered before what the current thread does now. See Note [Order of accesses].
static bool before(const Access& access) {
    if (access.block != block_serial) return has(acquired, access.block);
    if (access.thread == thread->linear || access.barriers != barriers_passed) return true;
    unsigned warp = access.thread / WARP;
    return warp == thread->warp && clocks[warp][thread->lane][access.thread % WARP] >= access.clock;
}

[[noreturn]] static void race(const char* memory, uint64_t address, const char* now, const char* then,
                              const Access& with, uintptr_t pc) {
    uint3 who = {with.thread % block_size.x, with.thread / block_size.x % block_size.y,
                 with.thread / block_size.x / block_size.y};
    launch->fault.earlier = in_library(with.address);
    bool same = with.block == block_serial;
    fail(719, pc,
         "race on %s memory: %s here, and %s in {line} by thread (%u, %u, %u)%s, without synchronization between "
         "them%s",
         memory, now, then, who.x, who.y, who.z, same ? " of the same block" : " of another block",
         describe(address).text);
}

static void look(Cell& cell, const char* memory, uint64_t address, bool write, bool atomic, uintptr_t pc) {
    bool shared = memory[0] == 's';
    const char* now = atomic ? "updated" : write ? "written" : "read";
    // Accesses of earlier blocks do not count in shared memory.
    if (cell.write.block && (!shared || cell.write.block == block_serial) && !(atomic && cell.write.atomic) &&
        !before(cell.write))
        race(memory, address, now, cell.write.atomic ? "updated" : "written", cell.write, pc);
    Access self = {block_serial,
                   barriers_passed,
                   clocks[thread->warp][thread->lane][thread->lane],
                   (uint16_t)thread->linear,
                   atomic,
                   pc};
    if (write) {
        for (const Access* each : {&cell.read, &cell.other, &cell.elsewhere})
            if (each->block && (!shared || each->block == block_serial) && !before(*each))
                race(memory, address, now, "read", *each, pc);
        cell.write = self;
        return;
    }
    if (cell.read.block && !before(cell.read)) {
        if (cell.read.block == block_serial && cell.read.thread / WARP == thread->warp) {
            cell.other = cell.read;
        } else {
            // A read by another block is kept: any later write races with it.
            if (!cell.elsewhere.block || cell.elsewhere.block == block_serial || before(cell.elsewhere))
                cell.elsewhere = cell.read;
            cell.other.block = 0;
        }
    } else if (cell.other.block && before(cell.other)) {
        cell.other.block = 0;
    }
    cell.read = self;
}

static void look(const char* memory, uint64_t address, unsigned size, bool write, bool atomic, uintptr_t pc) {
    for (uint64_t end = address + size; address < end;) {
        Page* page = page_of(address);
        if (page->width == 4 && (address % 4 || end - address < 4)) split(*page);
        look(page->cells[address % PAGE / page->width], memory, address, write, atomic, pc);
        address += page->width;
    }
}

// Bounds and uninitialised memory -----------------------------------------------------------------------------------

static const Buffer* buffer_at(uint64_t address) {
    if (last_buffer && address - last_buffer->low < last_buffer->high - last_buffer->low) return last_buffer;
    size_t low = 0, high = launch->buffer_count;
    while (low < high) {  // finds the first buffer that begins after the address
        size_t middle = (low + high) / 2;
        if (launch->buffers[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || address >= launch->buffers[low - 1].high) return nullptr;
    return last_buffer = &launch->buffers[low - 1];
}

// Whether the address is a variable of the module, such as a table in __constant__ memory.
static bool is_own_variable(uintptr_t address) {
    if (own_variable && address / PAGE == own_variable / PAGE) return true;
    Dl_info variable, kernel;
    if (!dladdr((void*)address, &variable) || !dladdr((void*)launch->entry, &kernel)) return false;
    if (variable.dli_fbase != kernel.dli_fbase) return false;
    own_variable = address;
    return true;
}

Text describe(uint64_t address) {
    Text text = {};
    if (address - (uint64_t)static_shared < STATIC_REGION + MAX_SHARED) {
        bool dynamic = address >= (uint64_t)dynamic_shared;
        uint64_t at = address - (uint64_t)(dynamic ? dynamic_shared : static_shared);
        if (!dynamic)
            for (const Slot& slot : slots)
                if (at >= slot.low && at < slot.high) at -= slot.low;
        text.print(" (byte %llu of %s)", (unsigned long long)at,
                   dynamic ? "the dynamic shared memory" : "its variable");
    } else if (const Buffer* buffer = launch->buffer_count ? buffer_at(address) : nullptr) {
        text.print(" (byte %llu of a buffer of %llu)", (unsigned long long)(address - buffer->low),
                   (unsigned long long)(buffer->high - buffer->low));
    }
    return text;
}

[[noreturn]] static void outside(uint64_t address, unsigned size, bool write, uintptr_t pc) {
    const char* what = write ? "write" : "read";
    if (address - (uint64_t)static_shared < STATIC_REGION + MAX_SHARED) {
        if (address >= (uint64_t)dynamic_shared)
            fail(700, pc, "%s of %u bytes out of bounds: at byte %llu of dynamic shared memory of %u bytes", what, size,
                 (unsigned long long)(address - (uint64_t)dynamic_shared), launch->dynamic_shared);
        uint64_t at = address - (uint64_t)static_shared;
        for (const Slot& slot : slots)
            if (at + RED_ZONE >= slot.low && at < slot.high + RED_ZONE)
                fail(700, pc, "%s of %u bytes out of bounds: at byte %lld of a shared variable of %u bytes", what, size,
                     (long long)(at - slot.low), slot.high - slot.low);
        fail(700, pc, "%s of %u bytes out of bounds of all shared variables", what, size);
    }
    const Buffer* nearest = nullptr;
    uint64_t distance = 1 << 20;  // bytes; an address farther away is not a mere out-of-bounds index
    for (uint32_t i = 0; i < launch->buffer_count; i++) {
        const Buffer& each = launch->buffers[i];
        uint64_t off = address < each.low ? each.low - address : address < each.high ? 0 : address - each.high;
        if (off < distance) distance = off, nearest = &each;
    }
    if (!nearest)
        fail(700, pc, "%s of %u bytes at 0x%llx, which lies outside all buffers", what, size,
             (unsigned long long)address);
    fail(700, pc, "%s of %u bytes out of bounds: at byte %lld of a buffer of %llu bytes", what, size,
         (long long)(address - nearest->low), (unsigned long long)(nearest->high - nearest->low));
}

// An access is valid if it lies in any buffer: an index so far out of bounds that it reaches another buffer is not
// found.
static void check_global(uint64_t address, unsigned size, bool write, bool atomic, uintptr_t pc) {
    const Buffer* buffer = buffer_at(address);
    if (!buffer || address + size > buffer->high) outside(address, size, write, pc);
    if (write && buffer->flags & READ_ONLY)
        fail(700, pc, "write to memory that is read-only%s", describe(address).text);
    if (buffer->initialised) {
        unsigned char* initialised = (unsigned char*)buffer->initialised + (address - buffer->low);
        for (unsigned i = 0; (!write || atomic) && i < size; i++)
            if (!initialised[i])
                fail(719, pc, "read of global memory that has not been written%s", describe(address + i).text);
        if (write) memset(initialised, 1, size);
    }
    look("global", address, size, write, atomic, pc);
}

static void check_shared(uint64_t address, unsigned size, bool write, bool atomic, uintptr_t pc) {
    bool inside = false;
    if (address >= (uint64_t)dynamic_shared) {
        inside = address + size <= (uint64_t)dynamic_shared + launch->dynamic_shared;
    } else {
        uint64_t at = address - (uint64_t)static_shared;
        for (const Slot& slot : slots) inside = inside || (at >= slot.low && at + size <= slot.high);
    }
    if (!inside) outside(address, size, write, pc);
    uint32_t* written = &shared_written[address - (uint64_t)static_shared];
    for (unsigned i = 0; (!write || atomic) && i < size; i++)
        if (written[i] != block_serial && !too_early.thread) too_early = {thread, address + i, pc};
    for (unsigned i = 0; write && i < size; i++) written[i] = block_serial;
    look("shared", address, size, write, atomic, pc);
}

static void seen(uintptr_t address, size_t size, bool write, bool atomic, uintptr_t pc) {
    if (!launch || on_stacks(address)) return;
    bool shared = address - (uintptr_t)static_shared < STATIC_REGION + MAX_SHARED;
    Counts& counts = launch->counts;
    if (atomic) counts.atomics++;
    if (!shared && !(launch->check && buffer_at(address)) && is_own_variable(address)) return;
    if (shared && !atomic) {
        (write ? counts.shared_stores : counts.shared_loads)++;
        (write ? counts.shared_stored : counts.shared_loaded) += size;
    } else if (!atomic) {
        (write ? counts.global_stores : counts.global_loads)++;
        (write ? counts.global_stored : counts.global_loaded) += size;
    }
    if (launch->count_sectors && !shared && !atomic) count_sectors(address, size, write, pc);
    if (!launch->check) return;
    if (shared)
        check_shared(address, size, write, atomic, pc);
    else
        check_global(address, size, write, atomic, pc);
}

static void misaligned(uintptr_t address, size_t alignment, const char* type, Place place, uintptr_t pc) {
    if (!launch || !launch->check || on_stacks(address)) return;
    const char* text = "misaligned access to a %.*s: its address must be a multiple of %zu bytes, but is 0x%llx%s";
    int length = strcspn(type, "'");
    unsigned long long number = address;
    if (place.line) fail(716, place, text, length, type, alignment, number, describe(address).text);
    fail(716, pc, text, length, type, alignment, number, describe(address).text);
}

void atomic(const volatile void* place, unsigned size, const void* pc) {
    uintptr_t address = (uintptr_t)place;
    if (address % size) misaligned(address, size, "value that is updated atomically", {}, (uintptr_t)pc);
    seen(address, size, true, true, (uintptr_t)pc);
    if (!launch->check) return;
    Released* here = nullptr;
    for (Released& each : released)
        if (each.place == place) here = &each;
    if (here) add(acquired, here->blocks);
    if (!fenced) return;
    if (!here) {
        released.push_back({place, {}});
        here = &released.back();
    }
    add(here->blocks, acquired);
    add(here->blocks, block_serial);
}

void fence() { fenced = true; }

}  // namespace sim

// Functions that the compiler calls ---------------------------------------------------------------------------------

#define PLACE ((uintptr_t)__builtin_return_address(0))
#define ACCESS(size)                                                                                              \
    extern "C" SIM_EXPORT void __tsan_read##size(void* p) { sim::seen((uintptr_t)p, size, false, false, PLACE); } \
    extern "C" SIM_EXPORT void __tsan_write##size(void* p) { sim::seen((uintptr_t)p, size, true, false, PLACE); } \
    extern "C" SIM_EXPORT void __tsan_unaligned_read##size(void* p) {                                             \
        sim::seen((uintptr_t)p, size, false, false, PLACE);                                                       \
    }                                                                                                             \
    extern "C" SIM_EXPORT void __tsan_unaligned_write##size(void* p) {                                            \
        sim::seen((uintptr_t)p, size, true, false, PLACE);                                                        \
    }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
extern "C" SIM_EXPORT void __tsan_read_range(void* p, size_t size) {
    sim::seen((uintptr_t)p, size, false, false, PLACE);
}
extern "C" SIM_EXPORT void __tsan_write_range(void* p, size_t size) {
    sim::seen((uintptr_t)p, size, true, false, PLACE);
}
// Clang instruments memory copies too.
extern "C" SIM_EXPORT void* __tsan_memcpy(void* to, const void* from, size_t size) {
    sim::seen((uintptr_t)from, size, false, false, PLACE);
    sim::seen((uintptr_t)to, size, true, false, PLACE);
    return memcpy(to, from, size);
}
extern "C" SIM_EXPORT void* __tsan_memmove(void* to, const void* from, size_t size) {
    sim::seen((uintptr_t)from, size, false, false, PLACE);
    sim::seen((uintptr_t)to, size, true, false, PLACE);
    return memmove(to, from, size);
}
extern "C" SIM_EXPORT void* __tsan_memset(void* to, int byte, size_t size) {
    sim::seen((uintptr_t)to, size, true, false, PLACE);
    return memset(to, byte, size);
}
extern "C" SIM_EXPORT void __tsan_func_entry(void*) {}
extern "C" SIM_EXPORT void __tsan_func_exit() {}
extern "C" SIM_EXPORT void __tsan_init() {}

namespace {

// As UndefinedBehaviorSanitizer's runtime declares them.
struct Type {
    uint16_t kind, info;
    char name[1];
};
struct Mismatch {
    const char* file;
    uint32_t line, column;
    const Type* type;
    unsigned char log_alignment, kind;
};

}  // namespace

extern "C" SIM_EXPORT void __ubsan_handle_type_mismatch_v1(Mismatch* mismatch, uintptr_t address) {
    size_t alignment = (size_t)1 << mismatch->log_alignment;
    if (!(address & (alignment - 1))) return;
    const char* type = mismatch->type->name;  // such as 'const struct float4', with the quotes
    if (const char* space = strrchr(type, ' ')) type = space;
    sim::misaligned(address, alignment, type + 1, {mismatch->file, (int)mismatch->line}, PLACE);
}
