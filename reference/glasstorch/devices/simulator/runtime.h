// What is the interface between compiled kernels and the runtime that runs them?
//
// A kernel's shared library is linked against the runtime's. One OS thread runs one launch at a time.
#pragma once

#define SIM_EXPORT __attribute__((visibility("default")))
// In check mode these helpers must not be instrumented; an inlined one would be, together with its caller.
#ifdef SIM_CHECK
#define SIM_INLINE __attribute__((no_sanitize("thread", "alignment"), noinline)) static
#else
#define SIM_INLINE __attribute__((always_inline)) static inline
#endif

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x = 1, y = 1, z = 1;
};

namespace sim {

// A line of the kernel's source.
struct Place {
    const char* file;
    int line;
};
#define SIM_HERE (sim::Place{__FILE__, __LINE__})

// A thread of the kernel, as the code that it runs (`index`, `lane`) and the scheduler see it.
struct Thread {
    uint3 index;
    unsigned linear;  // index in its block, x fastest
    unsigned lane, warp;
    struct Fiber* fiber;  // null until it first runs
    Place place;          // where it waits
    unsigned char state;
    unsigned source;           // the lane whose value it reads
    unsigned long long value;  // its operand of a shuffle or a vote, then the result
};

SIM_EXPORT extern Thread* thread;  // the current one
SIM_EXPORT extern uint3 block_index;
SIM_EXPORT extern dim3 block_size, grid_size;
SIM_EXPORT extern unsigned long long launch_number;
SIM_EXPORT extern char *static_shared, *dynamic_shared;

// The offset of a `__shared__` variable in `static_shared`. Fails if it does not fit.
SIM_EXPORT unsigned reserve_shared(unsigned size, unsigned alignment, Place place);

enum Vote { NONE, COUNT, AND, OR };
// Waits until every thread of the block has arrived; returns the result of the vote.
SIM_EXPORT int barrier(Place place, Vote vote, int predicate);

enum Meeting { SYNCHRONISE, SHUFFLE, BALLOT };
// Waits until every lane of the mask has arrived. A shuffle returns the value of the lane `source`; a ballot returns a
// bit for each lane, set where its value is not 0.
SIM_EXPORT unsigned long long meet(Place place, Meeting kind, unsigned mask, unsigned long long value, unsigned source);
// Called by checked code before an atomic, with the address of the instruction.
SIM_EXPORT void atomic(const volatile void* place, unsigned size, const void* address);
SIM_EXPORT void fence();

[[noreturn]] SIM_EXPORT void assertion_failed(const char* condition, Place place);
[[noreturn]] SIM_EXPORT void trap(Place place);
SIM_EXPORT int print(const char* format, ...) __attribute__((format(printf, 1, 2)));
SIM_EXPORT long long clock();

// Fixed while a thread lives: `const` lets the compiler keep the results in registers.
__attribute__((const)) SIM_EXPORT uint3 get_thread_index();
__attribute__((const)) SIM_EXPORT uint3 get_block_index();
__attribute__((const)) SIM_EXPORT dim3 get_block_size();
__attribute__((const)) SIM_EXPORT dim3 get_grid_size();

// One row of a module's table of kernels.
struct Entry {
    const char* name;
    void (*call)(void* const* arguments);  // runs the kernel for `thread`
    const char* (*signature)();            // its parameters as text: see Parameter in device.h
};

}  // namespace sim
