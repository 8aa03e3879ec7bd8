// How are the blocks and threads of a kernel run on a CPU?
//
// A thread of the kernel runs on a fiber: a stack of its own, and a function that switches stacks. A fiber runs one
// thread after another as long as none of them waits, so that a kernel without barriers is a plain loop. A thread that
// waits keeps its fiber, and the next threads run on another one. Blocks run one after another.
#include "runtime.h"

#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "launch.h"

namespace sim {

Thread* thread;
uint3 block_index;
dim3 block_size, grid_size;
unsigned long long launch_number;
char *static_shared, *dynamic_shared;

uint3 get_thread_index() { return thread->index; }
uint3 get_block_index() { return block_index; }
dim3 get_block_size() { return block_size; }
dim3 get_grid_size() { return grid_size; }

// Fibers ------------------------------------------------------------------------------------------------------------

struct Fiber {
    void* stack_pointer;  // saved when the fiber was left
    char* top;            // of its stack
    Fiber* next_free;
};

static constexpr size_t STACK = 128 * 1024, GUARD = 16 * 1024;

static Fiber fibers[MAX_THREADS];
static Fiber* free_fibers;
static char* stacks;
static void* scheduler;  // the stack pointer of the scheduler, while a fiber runs

// Saves the callee-saved registers on the current stack, and continues on another stack.
extern "C" void glasstorch_switch_stack(void** save, void* to);
#if defined(__APPLE__)
#define ASM_NAME(name) "_" name
#else
#define ASM_NAME(name) name
#endif
#if defined(__x86_64__)
__asm__(".text\n.p2align 4\n" ASM_NAME("glasstorch_switch_stack") R"(:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");
static constexpr int SAVED = 7;         // words on the stack of a suspended fiber: six registers, the return address
static constexpr int RETURN_INDEX = 6;  // index of the return address among them
static constexpr int ENTRY_SKEW = 8;    // a function is entered with its return address on the stack
#elif defined(__aarch64__)
__asm__(".text\n.p2align 4\n" ASM_NAME("glasstorch_switch_stack") R"(:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
)");
static constexpr int SAVED = 20;
static constexpr int RETURN_INDEX = 11;  // x30
static constexpr int ENTRY_SKEW = 0;
#else
#error "the simulator can switch stacks only on x86-64 and aarch64; it has been run only on x86-64 with Linux"
#endif

static void fiber_main();

// Makes a fiber start at fiber_main when it is switched to.
static void prepare(Fiber& fiber) {
    void** stack = (void**)(fiber.top - ENTRY_SKEW) - SAVED;
    memset(stack, 0, SAVED * sizeof(void*));
    stack[RETURN_INDEX] = (void*)fiber_main;
    fiber.stack_pointer = stack;
}

// The k-th stack is made accessible when k threads wait at once for the first time. The tops have different offsets
// within a page; otherwise they would all map to the same cache lines.
static int stacks_made;
static Fiber* take_fiber() {
    Fiber* fiber = free_fibers;
    if (fiber) {
        free_fibers = fiber->next_free;
    } else {
        int number = stacks_made++;
        fiber = &fibers[number];
        char* low = stacks + number * (STACK + GUARD) + GUARD;
        mprotect(low, STACK, PROT_READ | PROT_WRITE);
        fiber->top = low + STACK - (number * 5 % 61) * 64;
    }
    prepare(*fiber);
    return fiber;
}

static void give_fiber(Fiber* fiber) {
    fiber->next_free = free_fibers;
    free_fibers = fiber;
}

bool on_stacks(uintptr_t address) { return address - (uintptr_t)stacks < (STACK + GUARD) * MAX_THREADS; }

// The state of a launch ---------------------------------------------------------------------------------------------

enum State : unsigned char { NEW, READY, IN_WARP, IN_BLOCK, DONE };

// Lanes that wait for each other, because they use the same mask.
struct Group {
    unsigned mask, arrived;
    Place place;
    Meeting kind;
};

struct Warp {
    unsigned alive;  // lanes that have not returned
    unsigned ready;  // lanes that can run
    unsigned group_count;
    Group groups[WARP];
};

static Thread threads[MAX_THREADS];
static Warp warps[MAX_THREADS / WARP];
static const Entry* entry;
static void* const* arguments;
static unsigned thread_count, warp_count;
static unsigned static_used, dynamic_used;
static Order order;
static uint64_t random_state;
static Fiber* running;  // the fiber of `thread`
static sigjmp_buf end_of_launch;
static int vote_result;    // of the last barrier
Launch* launch;            // null between launches
uint32_t barriers_passed;  // by the block

static uint64_t random_number() {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

// Faults ------------------------------------------------------------------------------------------------------------

// Ends the launch. A launch reports only its first fault.
[[noreturn]] static void stop(Fault& fault, const char* format, va_list values) {
    vsnprintf(fault.what, sizeof fault.what, format, values);
    if (thread) {
        fault.has_thread = 1;
        fault.thread = thread->index;
        fault.block = block_index;
    }
    siglongjmp(end_of_launch, 1);
}

// A code address relative to the start of the kernel's library, wherever that was loaded.
uint64_t in_library(uintptr_t address) {
    Dl_info library;
    return address && dladdr((void*)address, &library) ? address - (uintptr_t)library.dli_fbase : 0;
}

void Text::print(const char* format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
}

void fail(int code, Place place, const char* format, ...) {
    Fault& fault = launch->fault;
    fault.code = code;
    fault.line = place.line;
    fault.file = place.file;
    va_list values;
    va_start(values, format);
    stop(fault, format, values);
}

void fail(int code, uintptr_t address, const char* format, ...) {
    Fault& fault = launch->fault;
    fault.code = code;
    fault.address = in_library(address);
    va_list values;
    va_start(values, format);
    stop(fault, format, values);
}

void assertion_failed(const char* condition, Place place) { fail(710, place, "Assertion `%s` failed", condition); }

void trap(Place place) { fail(719, place, "__trap() was called"); }

static bool same(const Place& a, const Place& b) {
    return a.line == b.line && (a.file == b.file || strcmp(a.file, b.file) == 0);
}

// "line 12", or "tile.cuh:12" if that is another file than `from`.
static Text named(const Place& place, const Place& from) {
    Text text;
    if (strcmp(place.file, from.file) == 0)
        text.print("line %d", place.line);
    else
        text.print("%s:%d", place.file, place.line);
    return text;
}

// Signals: an invalid address, and the time limit -------------------------------------------------------------------

static uintptr_t program_counter(void* context) {
#if defined(__x86_64__) && defined(__linux__)
    return ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] + 1;  // as if it were a return address
#elif defined(__aarch64__) && defined(__linux__)
    return ((ucontext_t*)context)->uc_mcontext.pc + 1;
#elif defined(__x86_64__) && defined(__APPLE__)
    return ((ucontext_t*)context)->uc_mcontext->__ss.__rip + 1;
#elif defined(__aarch64__) && defined(__APPLE__)
    return ((ucontext_t*)context)->uc_mcontext->__ss.__pc + 1;
#else
    return 0;
#endif
}

static volatile sig_atomic_t timed_out;
static pthread_t launching;
static constexpr int CAUGHT[] = {SIGSEGV, SIGBUS, SIGFPE};
static struct sigaction former[3];
static stack_t former_stack;
static char signal_stack[64 * 1024];

static void on_signal(int signal, siginfo_t* information, void* context) {
    if (!launch ||
        !pthread_equal(pthread_self(), launching)) {  // not a kernel's: raised again, for the former handler
        for (int i = 0; i < 3; i++)
            if (signal == CAUGHT[i]) sigaction(signal, &former[i], nullptr);
        return;
    }
    uintptr_t pc = program_counter(context);
    if (timed_out) fail(702, pc, "the kernel ran longer than %g s", launch->limit);
    if (signal == SIGFPE)
        fail(719, pc, "integer division by 0, or of the smallest integer by -1: its result is undefined");
    uintptr_t address = (uintptr_t)information->si_addr;
    if (on_stacks(address)) fail(700, pc, "the thread's stack of %zu bytes overflowed", STACK);
    fail(700, pc, "access to address 0x%llx, which lies outside all buffers", (unsigned long long)address);
}

// One watcher thread for all launches checks four times a second whether the current launch has exceeded its limit.
static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t watch_begins = PTHREAD_COND_INITIALIZER;
static pid_t watched_process;
static bool watching, watcher_sleeps;
static double deadline;

static double seconds() {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static void* watch(void*) {
    pthread_mutex_lock(&watch_lock);
    for (;;) {
        while (!watching) {
            watcher_sleeps = true;
            pthread_cond_wait(&watch_begins, &watch_lock);
        }
        watcher_sleeps = false;
        if (seconds() > deadline) {
            timed_out = 1;
            pthread_kill(launching, SIGBUS);
        }
        pthread_mutex_unlock(&watch_lock);
        usleep(250000);
        pthread_mutex_lock(&watch_lock);
    }
    return nullptr;
}

static void start_watching() {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    for (int i = 0; i < 3; i++) sigaction(CAUGHT[i], &action, &former[i]);
    stack_t own;
    memset(&own, 0, sizeof own);
    own.ss_sp = signal_stack;
    own.ss_size = sizeof signal_stack;
    sigaltstack(&own, &former_stack);
    if (watched_process != getpid()) {
        watched_process = getpid();
        pthread_mutex_init(&watch_lock, nullptr);
        pthread_cond_init(&watch_begins, nullptr);
        watching = watcher_sleeps = false;
        sigset_t all, usual;  // the watcher blocks all signals: the program's threads handle them
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &usual);
        pthread_t watcher;
        if (pthread_create(&watcher, nullptr, watch, nullptr) == 0) pthread_detach(watcher);
        pthread_sigmask(SIG_SETMASK, &usual, nullptr);
    }
    pthread_mutex_lock(&watch_lock);
    launching = pthread_self();
    timed_out = 0;
    deadline = seconds() + launch->limit;
    watching = true;
    if (watcher_sleeps) pthread_cond_signal(&watch_begins);
    pthread_mutex_unlock(&watch_lock);
}

static void stop_watching() {
    pthread_mutex_lock(&watch_lock);
    watching = false;
    pthread_mutex_unlock(&watch_lock);
    sigaltstack(&former_stack, nullptr);
    for (int i = 0; i < 3; i++) sigaction(CAUGHT[i], &former[i], nullptr);
}

// Shared memory -----------------------------------------------------------------------------------------------------

unsigned reserve_shared(unsigned size, unsigned alignment, Place place) {
    unsigned declared = (launch->static_shared + alignment - 1) / alignment * alignment + size;
    launch->static_shared = declared;
    if (declared > MAX_STATIC_SHARED)
        fail(218, place, "the kernel declares %u bytes of shared memory up to here; the maximum is 0x%x (48 KB)",
             declared, MAX_STATIC_SHARED);
    if (declared + dynamic_used > MAX_SHARED)
        fail(1, place, "%u bytes of shared memory are declared and %u requested at the launch; a block has %u",
             declared, dynamic_used, MAX_SHARED);
    unsigned offset = (static_used + alignment - 1) / alignment * alignment;
    static_used = offset + size + (launch->instrumented ? RED_ZONE : 0);
    if (static_used > STATIC_REGION) fail(218, place, "too many shared variables to separate them by guard bytes");
    memset(static_shared + offset, 0xff, size);  // as at the beginning of each later block
    declared_shared(offset, size);
    return offset;
}

// Running threads ---------------------------------------------------------------------------------------------------

// The next lane among those that can run, in the launch's order.
static inline unsigned choose(unsigned ready, unsigned after) {
    if (order == FORWARD) {
        if (after < 31 && ready >> (after + 1) & 1) return after + 1;  // the common case, well predicted
        unsigned above = ready & ~1u << (after & 31);
        return __builtin_ctz(above ? above : ready);
    }
    if (order == REVERSE) {
        if (after > 0 && ready >> (after - 1) & 1) return after - 1;
        unsigned below = ready & ((1u << (after & 31)) - 1);
        return 31 - __builtin_clz(below ? below : ready);
    }
    unsigned shift = random_number() & 31;
    unsigned rotated = ready >> shift | ready << ((32 - shift) & 31);
    return (__builtin_ctz(rotated) + shift) & 31;
}

// Whether the next thread to run belongs to the same warp: if one can run there, and in random order only sometimes.
static bool stays_in(const Warp& warp) { return warp.ready && (order != RANDOM || random_number() % 4); }

// Switches from the current thread to a lane of its warp that can run, or else to the scheduler.
static void leave() {
    Warp& warp = warps[thread->warp];
    Fiber* own = running;
    if (stays_in(warp)) {
        Thread* next = &threads[thread->warp * WARP + choose(warp.ready, thread->lane)];
        if (!next->fiber) next->fiber = take_fiber();
        thread = next;
        running = next->fiber;
        glasstorch_switch_stack(&own->stack_pointer, running->stack_pointer);
    } else {
        glasstorch_switch_stack(&own->stack_pointer, scheduler);
    }
}

// Releases a group once every lane of its mask that has not returned has arrived. Returns whether it did.
static bool release(const Thread& last, Warp& warp, unsigned number) {
    Group& group = warp.groups[number];
    unsigned lanes = group.arrived;
    if ((group.mask & warp.alive) != lanes) return false;
    Thread* first = &threads[last.warp * WARP];
    if (group.kind == SHUFFLE) {
        unsigned long long brought[WARP];
        for (unsigned lane = 0; lane < WARP; lane++) brought[lane] = lanes >> lane & 1 ? first[lane].value : ~0ull;
        for (unsigned rest = lanes; rest; rest &= rest - 1) {
            Thread& taker = first[__builtin_ctz(rest)];
            taker.value = brought[taker.source & (WARP - 1)];
        }
    } else if (group.kind == BALLOT) {
        unsigned votes = 0;
        for (unsigned rest = lanes; rest; rest &= rest - 1) {
            unsigned lane = __builtin_ctz(rest);
            if (first[lane].value) votes |= 1u << lane;
        }
        for (unsigned rest = lanes; rest; rest &= rest - 1) first[__builtin_ctz(rest)].value = votes;
    } else {
        lanes_synchronised(last.warp, lanes);
    }
    for (unsigned rest = lanes; rest; rest &= rest - 1) first[__builtin_ctz(rest)].state = READY;
    warp.ready |= lanes;
    group = warp.groups[--warp.group_count];
    return true;
}

static void fiber_main() {
    // These stay in registers: loading them from memory would cost more than a short thread does.
    Warp* warp = &warps[thread->warp];
    Thread* first = &threads[thread->warp * WARP];
    unsigned lane = thread->lane;
    for (;;) {
        entry->call(arguments);
        Thread& done = first[lane];
        done.state = DONE;
        warp->alive &= ~(1u << lane);
        warp->ready &= ~(1u << lane);
        for (unsigned i = 0; i < warp->group_count; i++) release(done, *warp, i);
        Fiber* own = running;
        if (!stays_in(*warp)) {
            give_fiber(own);
            glasstorch_switch_stack(&own->stack_pointer, scheduler);
            __builtin_unreachable();
        }
        lane = choose(warp->ready, lane);
        thread = &first[lane];
        if (!thread->fiber) {  // it starts here, on this fiber
            thread->fiber = own;
            continue;
        }
        give_fiber(own);
        running = thread->fiber;
        glasstorch_switch_stack(&own->stack_pointer, running->stack_pointer);
        __builtin_unreachable();
    }
}

unsigned long long meet(Place place, Meeting kind, unsigned mask, unsigned long long value, unsigned source) {
    Thread& self = *thread;
    Warp& warp = warps[self.warp];
    if (!(mask >> self.lane & 1))
        fail(719, place, "lane %u is not in the mask 0x%08x that it passes", self.lane, mask);
    self.value = value;
    self.source = source;
    self.place = place;
    unsigned number = 0;
    while (number < warp.group_count && warp.groups[number].mask != mask) number++;
    Group& group = warp.groups[number];
    if (number == warp.group_count) {
        warp.group_count++;
        group = {mask, 0, place, kind};
    } else if (!same(group.place, place) || group.kind != kind) {
        fail(719, place, "other lanes of the mask 0x%08x wait at %s: all must wait at the same line", mask,
             named(group.place, place).text);
    }
    group.arrived |= 1u << self.lane;
    if (kind == SYNCHRONISE)
        launch->counts.warp_barriers++;
    else if (kind == SHUFFLE)
        launch->counts.shuffles++;
    else
        launch->counts.votes++;
    if (!release(self, warp, number)) {
        self.state = IN_WARP;
        warp.ready &= ~(1u << self.lane);
        leave();
    }
    return self.value;
}

int barrier(Place place, Vote vote, int predicate) {
    Thread& self = *thread;
    self.state = IN_BLOCK;
    self.place = place;
    self.source = vote;
    self.value = predicate;
    launch->counts.barriers++;
    warps[self.warp].ready &= ~(1u << self.lane);
    leave();
    return vote_result;
}

// No thread can run: releases the block from its barrier, or reports why that is impossible. Returns whether threads
// are left.
static bool pass_barrier() {
    Thread *waiting = nullptr, *in_warp = nullptr, *other = nullptr;
    unsigned count = 0, done = 0, votes = 0;
    for (unsigned i = 0; i < thread_count; i++) {
        Thread& each = threads[i];
        if (each.state == DONE) {
            done++;
        } else if (each.state == IN_WARP) {
            in_warp = &each;
        } else {
            if (!waiting) waiting = &each;
            if (!same(each.place, waiting->place) || each.source != waiting->source) other = &each;
            count++;
            votes += each.value != 0;
        }
    }
    if (done == thread_count) return false;
    thread = in_warp ? in_warp : waiting;
    if (in_warp && waiting)
        fail(719, in_warp->place, "deadlock: lanes wait for others of their warp, which wait at __syncthreads() in %s",
             named(waiting->place, in_warp->place).text);
    if (in_warp) fail(719, in_warp->place, "deadlock: lanes of the warp wait for others that wait somewhere else");
    if (done)
        fail(719, waiting->place, "__syncthreads() was reached by %u threads of %u, the others have returned", count,
             thread_count);
    if (other) {
        thread = other;
        fail(719, other->place, "threads of the block wait at different barriers: here and in %s",
             named(waiting->place, other->place).text);
    }
    vote_result = waiting->source == COUNT ? votes : waiting->source == AND ? votes == count : votes != 0;
    barriers_passed++;
    for (unsigned i = 0; i < thread_count; i++) threads[i].state = READY;
    for (unsigned i = 0; i < warp_count; i++) warps[i].ready = warps[i].alive;
    return true;
}

static void run_warp(unsigned number) {
    Thread* next = &threads[number * WARP + choose(warps[number].ready, order == REVERSE ? 0 : 31)];
    if (!next->fiber) next->fiber = take_fiber();
    thread = next;
    running = next->fiber;
    glasstorch_switch_stack(&scheduler, running->stack_pointer);
}

static void run_block() {
    for (unsigned i = 0; i < warp_count; i++) {
        unsigned lanes = thread_count - i * WARP;
        warps[i].group_count = 0;
        warps[i].alive = warps[i].ready = lanes >= WARP ? ~0u : (1u << lanes) - 1;
    }
    for (unsigned i = 0; i < thread_count; i++) {
        threads[i].fiber = nullptr;
        threads[i].state = NEW;
    }
    do {
        if (order == RANDOM) {
            for (;;) {
                unsigned able[MAX_THREADS / WARP], count = 0;
                for (unsigned i = 0; i < warp_count; i++)
                    if (warps[i].ready) able[count++] = i;
                if (!count) break;
                run_warp(able[random_number() % count]);
            }
        } else {
            for (unsigned i = 0; i < warp_count; i++) {
                unsigned number = order == REVERSE ? warp_count - 1 - i : i;
                while (warps[number].ready) run_warp(number);
            }
        }
    } while (pass_barrier());
}

// The block that runs k-th: in order, in reverse order, or by a step that visits each number once.
static uint64_t block_number(uint64_t k, uint64_t count, uint64_t step) {
    if (order == REVERSE) return count - 1 - k;
    if (order == RANDOM) return (k * step + launch->seed) % count;
    return k;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) { return b ? common_divisor(b, a % b) : a; }

static void run_grid() {
    uint64_t columns = grid_size.x, rows = grid_size.y, count = columns * rows * grid_size.z;
    uint64_t step = count > 1 ? random_number() % count : 0;
    while (common_divisor(step, count) != 1) step++;
    for (uint64_t k = 0; k < count; k++) {
        uint64_t number = block_number(k, count, step);
        block_index = {(unsigned)(number % columns), (unsigned)(number / columns % rows),
                       (unsigned)(number / columns / rows)};
        memset(static_shared, 0xff, static_used);  // unwritten memory reads as NaN
        memset(dynamic_shared, 0xff, dynamic_used);
        barriers_passed = 0;
        checks_begin_block();
        run_block();
        checks_end_block();
    }
}

// What printf writes ------------------------------------------------------------------------------------------------

static constexpr size_t PRINT_BUFFER = 1 << 20;
static char* print_buffer;

int print(const char* format, ...) {
    va_list values;
    va_start(values, format);
    size_t room = PRINT_BUFFER - launch->printed;
    int length = vsnprintf(print_buffer + launch->printed, room, format, values);
    va_end(values);
    if (length < 0) return length;
    if ((size_t)length < room)
        launch->printed += length;
    else
        launch->lost += length;
    return length;
}

long long clock() {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

// A launch from beginning to end ------------------------------------------------------------------------------------

// Reserves the stacks, the shared memory and the buffer of printf. Returns whether that succeeded.
static bool make_memory() {
    int kind = MAP_PRIVATE | MAP_ANON | MAP_NORESERVE;
    size_t shared = STATIC_REGION + MAX_SHARED + 4096;
    void* all_stacks = mmap(nullptr, (STACK + GUARD) * MAX_THREADS, PROT_NONE, kind, -1, 0);
    void* all_shared = mmap(nullptr, shared, PROT_READ | PROT_WRITE, kind, -1, 0);
    print_buffer = (char*)malloc(PRINT_BUFFER);
    if (all_stacks == MAP_FAILED || all_shared == MAP_FAILED || !print_buffer) return false;
    static_shared = (char*)all_shared;
    dynamic_shared = static_shared + STATIC_REGION;
    stacks = (char*)all_stacks;
    return true;
}

static void free_all_fibers() {
    free_fibers = nullptr;
    for (int i = stacks_made; i-- > 0;) give_fiber(&fibers[i]);
}

static void place_threads() {
    for (unsigned i = 0; i < thread_count; i++) {
        Thread& each = threads[i];
        each.index = {i % block_size.x, i / block_size.x % block_size.y, i / block_size.x / block_size.y};
        each.linear = i;
        each.lane = i % WARP;
        each.warp = i / WARP;
    }
}

}  // namespace sim

// Runs a launch and returns 0 or the code of its fault.
extern "C" SIM_EXPORT int glasstorch_sim_run(sim::Launch* wanted) {
    using namespace sim;
    static void* pointers[1024];
    if (!stacks && !make_memory()) {
        strcpy(wanted->fault.what, "cannot reserve memory for the stacks of a block's threads");
        return wanted->fault.code = 2;
    }
    for (unsigned i = 0; i < wanted->argument_count; i++) pointers[i] = (void*)(wanted->values + wanted->offsets[i]);
    arguments = pointers;
    entry = wanted->entry;
    dim3 block = {wanted->block[0], wanted->block[1], wanted->block[2]};
    bool moved = block.x != block_size.x || block.y != block_size.y || block.z != block_size.z;
    block_size = block;
    grid_size = {wanted->grid[0], wanted->grid[1], wanted->grid[2]};
    thread_count = block.x * block.y * block.z;
    warp_count = (thread_count + WARP - 1) / WARP;
    if (moved) place_threads();
    static_used = 0;
    dynamic_used = wanted->dynamic_shared;
    order = (Order)wanted->order;
    random_state = (wanted->seed + 1) * 0x9e3779b97f4a7c15ull;
    if (!random_state) random_state = 1;
    launch_number++;
    thread = nullptr;
    wanted->static_shared = wanted->printed = 0;
    wanted->text = print_buffer;
    wanted->lost = 0;
    wanted->counts = Counts();
    wanted->fault.code = wanted->fault.line = wanted->fault.has_thread = 0;
    wanted->fault.address = wanted->fault.earlier = 0;
    wanted->fault.file = nullptr;
    launch = wanted;
    checks_begin();
    start_watching();
    if (!sigsetjmp(end_of_launch, 0))
        run_grid();
    else
        free_all_fibers();
    stop_watching();
    launch = nullptr;
    return wanted->fault.code;
}
