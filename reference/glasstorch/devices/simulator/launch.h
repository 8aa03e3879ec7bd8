// What is the interface of a launch, and what do its two halves (running, checking) share?
#pragma once
#include "runtime.h"

#include <cstddef>
#include <cstdint>

namespace sim {

static constexpr unsigned WARP = 32, MAX_THREADS = 1024;
static constexpr unsigned MAX_STATIC_SHARED = 48 * 1024, MAX_SHARED = 227 * 1024;
// Bytes between two shared variables of a checked kernel, and the room that all of them may take with that.
static constexpr unsigned RED_ZONE = 64, STATIC_REGION = 4 * MAX_STATIC_SHARED;

enum Order : int { FORWARD, REVERSE, RANDOM };

// Why a launch ended before its time. module.py declares this structure and those below again.
struct Fault {
    int code;  // CUDA's number of the error; 0: none
    int line;  // 0: not known, but `address` may tell it
    const char* file;
    uint64_t address;  // in the kernel's library, of the code; 0: not known
    uint64_t earlier;  // the same, of the other access of a race; `what` has {line} for it
    int has_thread;
    uint3 thread, block;
    char what[1000];
};

struct Counts {
    uint64_t global_loads, global_stores, shared_loads, shared_stores;
    uint64_t global_loaded, global_stored, shared_loaded, shared_stored;  // bytes
    uint64_t load_requests, load_sectors, store_requests, store_sectors;  // of warps to global memory; 32 bytes each
    uint64_t barriers, warp_barriers, shuffles, votes, atomics;
};

struct Buffer {
    uint64_t low, high;
    uint64_t initialised;  // the address of a byte for each byte; 0: all are
    uint64_t flags;
};
static constexpr uint64_t READ_ONLY = 1;

struct Launch {
    const Entry* entry;
    const char* values;       // of the arguments, one behind the other
    const uint32_t* offsets;  // of each in `values`
    uint32_t argument_count;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;  // bytes
    int32_t order;
    uint64_t seed;
    double limit;           // seconds
    const Buffer* buffers;  // sorted by address
    uint32_t buffer_count;
    int32_t instrumented;  // compiled so that accesses are seen
    int32_t check, count_sectors;
    // The answers.
    uint32_t static_shared;  // bytes that the blocks declared
    uint32_t printed;        // bytes in the buffer of printf
    const char* text;        // that buffer
    uint64_t lost;           // bytes that did not fit
    Counts counts;
    Fault fault;
};

extern Launch* launch;  // the one that runs, or null
extern uint32_t barriers_passed;

// A short text that is given back by value.
struct Text {
    char text[120];
    void print(const char* format, ...) __attribute__((format(printf, 2, 3)));
};

// Ends the launch with a fault: at a place of the text, or at an address in the code.
[[noreturn]] void fail(int code, Place place, const char* format, ...) __attribute__((format(printf, 3, 4)));
[[noreturn]] void fail(int code, uintptr_t address, const char* format, ...) __attribute__((format(printf, 3, 4)));
bool on_stacks(uintptr_t address);
uint64_t in_library(uintptr_t address);

// What checking wants to know of running.
void checks_begin();
void checks_begin_block();
void checks_end_block();
void declared_shared(unsigned offset, unsigned size);
void lanes_synchronised(unsigned warp, unsigned lanes);
// Where an address lies, in brackets; "" where that is not known.
Text describe(uint64_t address);

void count_begin_block();
void count_sectors(uint64_t address, size_t size, bool write, uintptr_t pc);

}  // namespace sim
