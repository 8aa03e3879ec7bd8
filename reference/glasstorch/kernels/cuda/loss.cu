// How are nll_loss and its gradient computed?
//
// Compiled once for each ELEMENT (the type of the scores). Scores are row-major (N, classes, inner), targets and
// per-target values (N, inner); `positions` is N * inner. `weight` may be null: then all classes weigh 1.
//
// Mirrors: aten/src/ATen/native/cuda/Loss.cu (nll_loss_forward_*, nll_loss_backward_*), NLLLoss2d.cu
// Differs: one kernel serves nll_loss and nll_loss2d; a second launch adds up the blocks' partial sums, where PyTorch
//     uses a single block (nll_loss) or atomics (nll_loss2d), whose last digits vary from run to run.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "lines.cuh"

using Element = ELEMENT;
using Value = Computed<Element>::type;

// Accumulated losses and weights of targets.
struct Loss {
  Value loss, weight;
};

struct Added {
  __device__ Loss operator()(Loss a, Loss b) const { return {a.loss + b.loss, a.weight + b.weight}; }
};

__device__ Loss shuffled_down(Loss state, int distance, int width) {
  return {shuffled_down(state.loss, distance, width), shuffled_down(state.weight, distance, width)};
}

__device__ Loss shuffled_first(Loss state, int width) {
  return {shuffled_first(state.loss, width), shuffled_first(state.weight, width)};
}

// Whether the target counts. One that is neither ignored nor a class is an error.
__device__ bool counts(long long target, long long classes, long long ignored) {
  if (target == ignored) return false;
  const bool is_class = 0 <= target && target < classes;
  if (!is_class) printf("Target %lld is out of bounds: there are %lld classes.\n", target, classes);
  assert(is_class && "target out of bounds");
  return true;
}

__device__ Value weight_of(const Element* weight, long long target) {
  return weight ? Value(weight[target]) : Value(1);
}

// The loss at one position; nothing where its target is ignored.
__device__ Loss loss_at(const Element* scores, const long long* targets, const Element* weight, long long position,
                        long long classes, long long inner, long long ignored) {
  const long long target = targets[position];
  if (!counts(target, classes, ignored)) return {0, 0};
  const Value weighs = weight_of(weight, target);
  const Value score = Value(scores[(position / inner * classes + target) * inner + position % inner]);
  return {-score * weighs, weighs};
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS)
nll_loss_each(const Element* scores, const long long* targets, const Element* weight, Element* losses,
              long long positions, long long classes, long long inner, long long ignored) {
  const long long position = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (position < positions) {
    losses[position] = Element(loss_at(scores, targets, weight, position, classes, inner, ignored).loss);
  }
}

// The first pass of a sum or mean: each block leaves one state.
extern "C" __global__ void __launch_bounds__(MOST_THREADS)
nll_loss_partials(const Element* scores, const long long* targets, const Element* weight, Loss* partials,
                  long long positions, long long classes, long long inner, long long ignored) {
  __shared__ Loss shared[MOST_THREADS];
  Loss state = {0, 0};
  for (long long position = (long long)blockIdx.x * blockDim.x + threadIdx.x; position < positions;
       position += (long long)gridDim.x * blockDim.x) {
    state = Added()(state, loss_at(scores, targets, weight, position, classes, inner, ignored));
  }
  state = Rows::together(state, Added(), shared);
  if (threadIdx.x == 0) partials[blockIdx.x] = state;
}

// The second pass, by one block: the sum or the mean, and the total weight.
extern "C" __global__ void __launch_bounds__(MOST_THREADS)
nll_loss_total(const Loss* partials, int parts, Element* loss, Element* total_weight, bool mean) {
  __shared__ Loss shared[MOST_THREADS];
  Loss state = {0, 0};
  for (int part = threadIdx.x; part < parts; part += blockDim.x) state = Added()(state, partials[part]);
  state = Rows::together(state, Added(), shared);
  if (threadIdx.x == 0) {
    *loss = Element(mean ? state.loss / state.weight : state.loss);
    *total_weight = Element(state.weight);
  }
}

// One thread for each score: minus the weight at a target that counts, times the gradient of its loss, 0 elsewhere.
// `each`: whether each position has its own gradient. `total_weight` is null unless the mean was taken.
extern "C" __global__ void __launch_bounds__(MOST_THREADS)
nll_loss_gradient(const Element* grad_output, const long long* targets, const Element* weight,
                  const Element* total_weight, Element* gradient, long long scores, long long classes, long long inner,
                  long long ignored, bool each) {
  const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= scores) return;
  const long long position = at / (classes * inner) * inner + at % inner, target = targets[position];
  Value share = 0;
  if (counts(target, classes, ignored) && target == at / inner % classes) {
    share = -Value(grad_output[each ? position : 0]) * weight_of(weight, target);
    if (total_weight) share /= Value(*total_weight);
  }
  gradient[at] = Element(share);
}
