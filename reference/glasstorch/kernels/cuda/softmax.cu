// How are softmax, log_softmax and their gradients computed along a dimension?
//
// Compiled once for each INPUT and OUTPUT (types) and FUNCTION (Softmax, LogSoftmax). The arrays are row-major of
// sizes (outer, length, inner); a line is one (outer, inner), and its elements have stride `inner`: see
// Note [Rows and columns].
//
// Mirrors: aten/src/ATen/native/cuda/SoftMax.cu (cunn_SoftMaxForward, cunn_SpatialSoftMaxForward and backward),
//     PersistentSoftmax.cuh
// Differs: one kernel for lines of all lengths, which reads its input three times; PyTorch keeps short lines in
//     registers. The second and the third time a line comes from the cache unless it is longer than that.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "lines.cuh"

using Input = INPUT;
using Output = OUTPUT;
using Value = Computed<Input>::type;  // the same for OUTPUT

struct Larger {
  __device__ Value operator()(Value a, Value b) const { return a > b ? a : b; }
};

struct Added {
  __device__ Value operator()(Value a, Value b) const { return a + b; }
};

// Functions: the result at x, and the gradient where the result was y. --------------------------------------------

// exp(x - max) / sum
struct Softmax {
  static __device__ Value result(Value shifted, Value sum) { return exp(shifted) / sum; }
  static __device__ Value summed(Value grad, Value y) { return grad * y; }
  static __device__ Value gradient(Value grad, Value y, Value sum) { return (grad - sum) * y; }
};

// x - max - log(sum)
struct LogSoftmax {
  static __device__ Value result(Value shifted, Value sum) { return shifted - log(sum); }
  static __device__ Value summed(Value grad, Value) { return grad; }
  static __device__ Value gradient(Value grad, Value y, Value sum) { return grad - exp(y) * sum; }
};

using Function = FUNCTION;

// ------------------------------------------------------------------------------------------------------------------

// Where a line starts: (outer, 0, inner).
__device__ long long start_of(long long line, long long length, long long inner) {
  return line / inner * length * inner + line % inner;
}

template <class Lines>
__device__ void softmax(const Input* input, Output* output, long long lines, long long length, long long inner) {
  __shared__ Value shared[MOST_THREADS];
  const long long line = Lines::line(), start = start_of(line, length, inner);
  const long long end = line < lines ? length : 0;  // a line that does not exist is empty: its threads only wait
  Value highest = -1 / Value(0);
  for (long long at = Lines::member(); at < end; at += Lines::members()) {
    highest = Larger()(highest, Value(input[start + at * inner]));
  }
  highest = Lines::together(highest, Larger(), shared);
  Value sum = 0;  // exp of what is at most 0 cannot overflow
  for (long long at = Lines::member(); at < end; at += Lines::members()) {
    sum += exp(Value(input[start + at * inner]) - highest);
  }
  sum = Lines::together(sum, Added(), shared);
  for (long long at = Lines::member(); at < end; at += Lines::members()) {
    const long long here = start + at * inner;
    output[here] = Output(Function::result(Value(input[here]) - highest, sum));
  }
}

// `grad` and `y` have the type of the forward result, `gradient` that of the forward input.
template <class Lines>
__device__ void softmax_gradient(const Input* grad, const Input* y, Output* gradient, long long lines,
                                 long long length, long long inner) {
  __shared__ Value shared[MOST_THREADS];
  const long long line = Lines::line(), start = start_of(line, length, inner);
  const long long end = line < lines ? length : 0;
  Value sum = 0;
  for (long long at = Lines::member(); at < end; at += Lines::members()) {
    const long long here = start + at * inner;
    sum += Function::summed(Value(grad[here]), Value(y[here]));
  }
  sum = Lines::together(sum, Added(), shared);
  for (long long at = Lines::member(); at < end; at += Lines::members()) {
    const long long here = start + at * inner;
    gradient[here] = Output(Function::gradient(Value(grad[here]), Value(y[here]), sum));
  }
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS)
softmax_rows(const Input* input, Output* output, long long lines, long long length, long long inner) {
  softmax<Rows>(input, output, lines, length, inner);
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS)
softmax_columns(const Input* input, Output* output, long long lines, long long length, long long inner) {
  softmax<Columns>(input, output, lines, length, inner);
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS)
softmax_gradient_rows(const Input* grad, const Input* y, Output* gradient, long long lines, long long length,
                      long long inner) {
  softmax_gradient<Rows>(grad, y, gradient, lines, length, inner);
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS)
softmax_gradient_columns(const Input* grad, const Input* y, Output* gradient, long long lines, long long length,
                         long long inner) {
  softmax_gradient<Columns>(grad, y, gradient, lines, length, inner);
}
