// What describes a launch, and what do its two halves (running, checking) share?
#pragma once
#include "runtime.h"

#include <cstddef>
#include <cstdint>

namespace sim {

static constexpr unsigned WARP = 32, MAX_THREADS = 1024;
static constexpr unsigned MAX_STATIC_SHARED = 48 * 1024, MAX_SHARED = 227 * 1024;
// Guard bytes between two shared variables of a checked kernel, and the size of the region for all variables.
static constexpr unsigned RED_ZONE = 64, STATIC_REGION = 4 * MAX_STATIC_SHARED;

enum Order : int { FORWARD, REVERSE, RANDOM };

// Why a launch ended early. module.py declares this structure and those below again.
struct Fault {
    int code;  // CUDA's number of the error; 0: none
    int line;  // 0: unknown; then it may follow from `address`
    const char* file;
    uint64_t address;  // of the instruction, relative to the kernel's library; 0: unknown
    uint64_t earlier;  // the same for the other access of a race, whose line replaces {line} in `what`
    int has_thread;
    uint3 thread, block;
    char what[1000];
};

struct Counts {
    uint64_t global_loads, global_stores, shared_loads, shared_stores;
    uint64_t global_loaded, global_stored, shared_loaded, shared_stored;  // bytes
    uint64_t load_requests, load_sectors, store_requests, store_sectors;  // by warps, of global memory; 32-byte sectors
    uint64_t barriers, warp_barriers, shuffles, votes, atomics;
};

struct Buffer {
    uint64_t low, high;
    uint64_t initialised;  // the address of a flag for each byte; 0: all are initialised
    uint64_t flags;
};
static constexpr uint64_t READ_ONLY = 1;

struct Launch {
    const Entry* entry;
    const char* values;       // of the arguments, one after the other
    const uint32_t* offsets;  // of each in `values`
    uint32_t argument_count;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;  // bytes
    int32_t order;
    uint64_t seed;
    double limit;           // seconds
    const Buffer* buffers;  // sorted by address
    uint32_t buffer_count;
    int32_t instrumented;  // compiled so that each access calls `seen`
    int32_t check, count_sectors;
    // The results.
    uint32_t static_shared;  // bytes that the blocks declared
    uint32_t printed;        // bytes in the buffer of printf
    const char* text;        // that buffer
    uint64_t lost;           // bytes that did not fit
    Counts counts;
    Fault fault;
};

extern Launch* launch;  // the current one, or null
extern uint32_t barriers_passed;

// A short text that is returned by value.
struct Text {
    char text[120];
    void print(const char* format, ...) __attribute__((format(printf, 2, 3)));
};

// Ends the launch with a fault at a line of the source or at the address of an instruction.
[[noreturn]] void fail(int code, Place place, const char* format, ...) __attribute__((format(printf, 3, 4)));
[[noreturn]] void fail(int code, uintptr_t address, const char* format, ...) __attribute__((format(printf, 3, 4)));
bool on_stacks(uintptr_t address);
uint64_t in_library(uintptr_t address);

// Called while blocks run, for the checks.
void checks_begin();
void checks_begin_block();
void checks_end_block();
void declared_shared(unsigned offset, unsigned size);
void lanes_synchronised(unsigned warp, unsigned lanes);
// Where an address lies, in parentheses; "" if that is unknown.
Text describe(uint64_t address);

void count_begin_block();
void count_sectors(uint64_t address, size_t size, bool write, uintptr_t pc);

}  // namespace sim
