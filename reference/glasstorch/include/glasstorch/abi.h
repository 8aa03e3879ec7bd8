// What do a compiled library and Python agree upon?
//
// Mirrors: torch/csrc/stable/c/shim.h (PyTorch's own C interface for libraries that outlive a version)
// Differs: one structure and four functions. Python asks the library to run a closure; the library asks Python for a
//     service by name. Whoever has values hands them to the other's `Receive` while they live: nobody keeps a buffer.
//
// utils/_cpp/abi.py is the other side, and has the same numbers.
#pragma once

#include <cstdint>

#define GLASSTORCH_ABI 1  // raised with every change of this file
#define GLASSTORCH_HIDDEN __attribute__((visibility("hidden")))  // each compiled library has its own
#define GLASSTORCH_EXPORT extern "C" __attribute__((visibility("default"), weak, used))

namespace glasstorch {

enum class Kind : int64_t {
    none,
    tensor,         // `integer`: its handle, of which the receiver becomes an owner; 0: undefined
    integer,
    real,
    boolean,
    complex,        // `data`: two doubles
    text,           // `data`: `count` bytes of UTF-8
    integers,       // `data`: int64_t[count]
    reals,          // `data`: double[count]
    booleans,       // `data`: uint8_t[count]
    tensors,        // `data`: int64_t[count], handles
    dtype,          // `integer`: the number of a c10::ScalarType
    layout,         // `data`: its name, such as "strided"
    memory_format,  // `data`: its name, such as "channels_last"
    device,         // `data`: its name, such as "cpu" or "cuda:0"
};

struct Value {
    Kind kind;
    int64_t count;
    union {
        int64_t integer;
        double real;
        const void* data;
    };
};

using Receive = void (*)(void* sink, const Value* values, int64_t count);

// Answered by Python: 0 and the results to `receive`; or the number of an exception, and its message to `receive`.
using Ask = int64_t (*)(const char* service, const Value* arguments, int64_t count, void* sink, Receive receive);

}  // namespace glasstorch

// Run what the library registers, once. A closure's `run`, too, answers 0 and results, or 1 and what was thrown: the
// number of Python's exception or 0, the name of a class, and a message.
GLASSTORCH_EXPORT int64_t glasstorch_start(int64_t abi, glasstorch::Ask ask, void* sink, glasstorch::Receive receive);
GLASSTORCH_EXPORT int64_t glasstorch_run(
    void* closure, const glasstorch::Value* arguments, int64_t count, void* sink, glasstorch::Receive receive);
GLASSTORCH_EXPORT void glasstorch_drop(void* closure);
// Python ends: nothing may be asked any more.
GLASSTORCH_EXPORT void glasstorch_stop();
