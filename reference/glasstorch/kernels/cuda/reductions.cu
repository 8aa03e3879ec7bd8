// How are sums, means, extrema, all and any computed?
//
// Compiled once for each ELEMENT (a type) and OPERATION (Sum, Extremum, Truth). A line is reduced in one part, or in
// several (gridDim.y > 1) by as many blocks, each of which leaves a state in `partials`: `reduce_partials` finishes.
//
// Mirrors: aten/src/ATen/native/cuda/Reduce.cuh, ReduceMomentKernel.cu, ReduceMinValuesKernel.cu, ReduceLogicKernel.cu,
//     ReduceArgMaxKernel.cu, SharedReduceOps.h (MeanOps, MaxOps, MinOps)
// Differs: a second launch combines the parts; PyTorch's last block to finish does so.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "geometry.cuh"
#include "lines.cuh"

using Element = ELEMENT;
using Value = Computed<Element>::type;

// Operations: how an element becomes a state, two states become one, and the last becomes a result. ---------------

// The sum divided by `divisor`: 1, or the number of elements for the mean.
struct Sum {
  using State = Value;
  using Result = Element;
  Value divisor;

  __device__ State identity() const { return 0; }
  __device__ State load(Element element, long long) const { return Value(element); }
  __device__ State operator()(State a, State b) const { return a + b; }
  __device__ void store(State state, Result* results, long long*, const Geometry& kept, long long line) const {
    results[offset_of(kept, 1, line)] = Element(divisor == Value(1) ? state : state / divisor);
  }
};

// An element and its index in the line; index -1 means nothing found yet.
struct Found {
  Value value;
  long long at;
};

__device__ Found shuffled_down(Found found, int distance, int width) {
  return {shuffled_down(found.value, distance, width), shuffled_down(found.at, distance, width)};
}

__device__ Found shuffled_first(Found found, int width) {
  return {shuffled_first(found.value, width), shuffled_first(found.at, width)};
}

// The largest (or smallest) element, and the index of the first one. NaN beats all numbers.
struct Extremum {
  using State = Found;
  using Result = Element;
  bool least;

  __device__ State identity() const { return {0, -1}; }
  __device__ State load(Element element, long long at) const { return {Value(element), at}; }
  __device__ State operator()(State a, State b) const {
    if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;
    return wins(a, b) ? a : b;
  }
  __device__ bool wins(State a, State b) const {
    const bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
    if (a_is_nan != b_is_nan) return a_is_nan;
    if (a_is_nan || a.value == b.value) return a.at < b.at;
    return least ? a.value < b.value : a.value > b.value;
  }
  // Either result may be left out.
  __device__ void store(State state, Result* results, long long* indices, const Geometry& kept, long long line) const {
    if (results) results[offset_of(kept, 1, line)] = Element(state.value);
    if (indices) indices[offset_of(kept, 2, line)] = state.at;
  }
};

// Whether all elements (or any) are not 0. NaN is not 0. The result is a byte: the tensor is bool or uint8.
struct Truth {
  using State = int;
  using Result = unsigned char;
  bool all;

  __device__ State identity() const { return all; }
  __device__ State load(Element element, long long) const { return Value(element) != Value(0); }
  __device__ State operator()(State a, State b) const { return all ? a & b : a | b; }
  __device__ void store(State state, Result* results, long long*, const Geometry& kept, long long line) const {
    results[offset_of(kept, 1, line)] = state;
  }
};

using Operation = OPERATION;
using State = Operation::State;
using Result = Operation::Result;

// From elements to states -----------------------------------------------------------------------------------------

// Memory latency is high: a thread issues several loads before it needs the first.
constexpr int AT_ONCE = sizeof(Element) < 4 ? 8 : 4;
constexpr int STATES = 4;

// This thread's state for the elements first, first + step ... before last of a line that starts at `line`. Where
// the line has one dimension, its elements need no division to be found, and several are loaded at once. Otherwise the
// divisions take longer than the loads, and unrolling them would exceed the registers.
__device__ State found(const Operation& operation, const Element* line, const Geometry& reduced, long long first,
                       long long last, int step) {
  State states[STATES];
#pragma unroll
  for (int i = 0; i < STATES; i++) states[i] = operation.identity();
  long long at = first;
  if (reduced.ndim <= 1) {
    const long long stride = reduced.strides[0][0];
    for (; at + (AT_ONCE - 1) * (long long)step < last; at += AT_ONCE * (long long)step) {
      Element elements[AT_ONCE];
#pragma unroll
      for (int i = 0; i < AT_ONCE; i++) elements[i] = line[(at + i * (long long)step) * stride];
#pragma unroll
      for (int i = 0; i < AT_ONCE; i++) {
        State& state = states[i % STATES];
        state = operation(state, operation.load(elements[i], at + i * (long long)step));
      }
    }
  }
#pragma unroll 1
  for (; at < last; at += step) states[0] = operation(states[0], operation.load(line[offset_of(reduced, 0, at)], at));
  return operation(operation(states[0], states[1]), operation(states[2], states[3]));
}

// `kept` gives the offsets of lines (operand 0), results (1) and indices (2). `reduced` gives the offsets along a line.
// There are gridDim.y parts of each line.
template <class Lines>
__device__ void reduce(const Operation& operation, const Element* input, Result* results, long long* indices,
                       State* partials, const Geometry& kept, const Geometry& reduced, long long lines,
                       long long length) {
  __shared__ State shared[MOST_THREADS];
  const long long line = Lines::line();
  const long long part = (length + gridDim.y - 1) / gridDim.y;
  const long long start = blockIdx.y * part;
  const long long end = start + part < length ? start + part : length;
  State state = operation.identity();
  if (line < lines) {
    state = found(operation, input + offset_of(kept, 0, line), reduced, start + Lines::member(), end, Lines::members());
  }
  state = Lines::together(state, operation, shared);
  if (line < lines && Lines::member() == 0) {
    if (gridDim.y > 1) {
      partials[line * gridDim.y + blockIdx.y] = state;
    } else {
      operation.store(state, results, indices, kept, line);
    }
  }
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS)
reduce_rows(const Element* input, Result* results, long long* indices, State* partials, Geometry kept,
            Geometry reduced, long long lines, long long length, Operation operation) {
  reduce<Rows>(operation, input, results, indices, partials, kept, reduced, lines, length);
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS)
reduce_columns(const Element* input, Result* results, long long* indices, State* partials, Geometry kept,
               Geometry reduced, long long lines, long long length, Operation operation) {
  reduce<Columns>(operation, input, results, indices, partials, kept, reduced, lines, length);
}

// The second pass: the `parts` states of each line, which are adjacent, become its result.
extern "C" __global__ void __launch_bounds__(MOST_THREADS)
reduce_partials(const State* partials, Result* results, long long* indices, Geometry kept, long long lines, int parts,
                Operation operation) {
  __shared__ State shared[MOST_THREADS];
  const long long line = Rows::line();
  State state = operation.identity();
  if (line < lines) {
    for (int part = Rows::member(); part < parts; part += Rows::members()) {
      state = operation(state, partials[line * parts + part]);
    }
  }
  state = Rows::together(state, operation, shared);
  if (line < lines && Rows::member() == 0) operation.store(state, results, indices, kept, line);
}
