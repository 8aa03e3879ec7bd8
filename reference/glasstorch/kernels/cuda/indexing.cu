// How are elements gathered and written by tensors of indices on a CUDA device?
//
// Mirrors: aten/src/ATen/native/cuda/IndexKernel.cu, ScatterGatherKernel.cu, Indexing.cu (indexSelectLargeIndex),
//     Nonzero.cu, ATen/cuda/Atomic.cuh (gpuAtomicAdd)
// Differs: one kernel reads for index, index_select and gather, and one kernel each writes, fills and accumulates: the
//     operators differ only in their geometry. `index_put` adds with atomics; PyTorch sorts the indices first. Bytes
//     are added in a copy of int32; PyTorch compares and swaps the word around each.
//
// Note [Offsets by index]
// The offset of an indexed element is a sum: the offset for its position in the result, which a Geometry gives, plus an
// index times the stride of the indexed dimension. In the geometry the indexed dimension of the tensor has stride 0.
// For index_select and gather of dimension 1 of a matrix:
//     index_select:  result[i][j] = source[i][index[j]]      strides of index (0, 1)
//     gather:        result[i][j] = source[i][index[i][j]]   strides of index (columns, 1)
// Where several tensors index several dimensions at once, `combine` first adds up their offsets.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "geometry.cuh"

// The indexed dimension.
struct Dimension {
  long long size, stride;
  long long least;  // the smallest valid index: 0, or -size where negative ones count from the end
  int number;
};

// The offset for an index. An out-of-range index aborts the launch: it points to foreign memory.
__device__ inline long long picked(long long index, const Dimension& dimension) {
  const bool inside = dimension.least <= index && index < dimension.size;
  if (!inside) {
    printf("index %lld is out of bounds for dimension %d with size %lld\n", index, dimension.number, dimension.size);
  }
  assert(inside && "index out of bounds");
  return (index < 0 ? index + dimension.size : index) * dimension.stride;
}

// The index of this thread's element.
__device__ inline long long my_element() { return (long long)blockIdx.x * blockDim.x + threadIdx.x; }

// Operands of the geometry: combined, index. See Note [Offsets by index].
extern "C" __global__ void combine(
    const long long* index, long long* combined, Geometry geometry, long long n, Dimension dimension, bool first) {
  const long long i = my_element();
  if (i < n) {
    const Offsets<2> offset = offsets<2>(geometry, i);
    const long long more = picked(index[offset.at[1]], dimension);
    combined[offset.at[0]] = first ? more : combined[offset.at[0]] + more;
  }
}

// Elements are only moved here, so these three know their size (Unit) and not their dtype.

// Operands of the geometry: result, source, index.
template <typename Unit>
__global__ void pick(
    const Unit* source, const long long* index, Unit* result, Geometry geometry, long long n, Dimension dimension) {
  const long long i = my_element();
  if (i < n) {
    const Offsets<3> offset = offsets<3>(geometry, i);
    result[offset.at[0]] = source[offset.at[1] + picked(index[offset.at[2]], dimension)];
  }
}

// Operands of the geometry: target, values, index. Where an index repeats, either value may remain.
template <typename Unit>
__global__ void place(
    const Unit* values, const long long* index, Unit* target, Geometry geometry, long long n, Dimension dimension) {
  const long long i = my_element();
  if (i < n) {
    const Offsets<3> offset = offsets<3>(geometry, i);
    target[offset.at[0] + picked(index[offset.at[2]], dimension)] = values[offset.at[1]];
  }
}

// Operands of the geometry: target, index.
template <typename Unit>
__global__ void place_number(
    Unit value, const long long* index, Unit* target, Geometry geometry, long long n, Dimension dimension) {
  const long long i = my_element();
  if (i < n) {
    const Offsets<2> offset = offsets<2>(geometry, i);
    target[offset.at[0] + picked(index[offset.at[1]], dimension)] = value;
  }
}

// Adding ----------------------------------------------------------------------------------------------------------

// Note [Adding to one element]
// `target[i] += value` reads, adds and writes. If two threads do so for one i at once, both may read before either
// writes: then one value is lost. An atomic addition is a single memory operation. The order of the additions is
// undefined, and with it the last bits of a floating point sum. There is no atomic addition of bytes: for bool and
// uint8 the host has the kernel add to an int32 copy of the target.
template <typename Element>
__device__ void add(Element* target, Element value) {
  atomicAdd(target, value);
}

// The sum of two's complement numbers is the same with and without signs.
__device__ inline void add(long long* target, long long value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(target), (unsigned long long)value);
}

// As `place`, but adds. See Note [Adding to one element].
template <typename Element>
__global__ void accumulate(
    const Element* values, const long long* index, Element* target, Geometry geometry, long long n,
    Dimension dimension) {
  const long long i = my_element();
  if (i < n) {
    const Offsets<3> offset = offsets<3>(geometry, i);
    add(target + offset.at[0] + picked(index[offset.at[2]], dimension), values[offset.at[1]]);
  }
}

// nonzero ---------------------------------------------------------------------------------------------------------

// Note [Compaction]
// Each thread must know how many elements before its own are nonzero: that is the position of its result. Three
// launches compute this, as no block can wait for another one within a launch. Each block counts its own chunk of the
// elements (count_nonzero); one block turns the counts into sums of all counts before (sum_counts); then each block
// counts again, thread by thread, from there (write_nonzero). Before the last launch the host reads the total, which is
// the size of the result: nonzero makes the host wait for the device.

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

struct Before {
  long long me;   // the sum of the threads before this one
  long long end;  // the sum of all threads
};

// Sums over the threads of a block, which all call this.
__device__ inline Before sum_before(long long value) {
  __shared__ long long of_warp[WARP];
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  long long up_to_me = value;
  for (int distance = 1; distance < WARP; distance *= 2) {
    const long long further = __shfl_up_sync(ALL_LANES, up_to_me, distance);
    if (lane >= distance) {
      up_to_me += further;
    }
  }
  __syncthreads();  // other threads may still read the previous call's values
  if (lane == WARP - 1) {
    of_warp[warp] = up_to_me;
  }
  __syncthreads();
  Before before = {up_to_me - value, 0};
  for (int other = 0, warps = blockDim.x / WARP; other < warps; other++) {
    before.me += other < warp ? of_warp[other] : 0;
    before.end += of_warp[other];
  }
  return before;
}

// Whether an element is not 0. `mask` drops the sign bit of floating point numbers: there are two zeros.
template <typename Unit>
__device__ bool is_nonzero(const Unit* values, long long i, long long n, Unit mask) {
  return i < n && (values[i] & mask) != 0;
}

// The number of nonzero elements in each block's chunk.
template <typename Unit>
__global__ void count_nonzero(const Unit* values, long long* counts, long long n, long long chunk, Unit mask) {
  const long long start = blockIdx.x * chunk;
  const long long end = min(start + chunk, n);
  long long count = 0;
  for (long long i = start + threadIdx.x; i < end; i += blockDim.x) {
    count += is_nonzero(values, i, end, mask);
  }
  const Before before = sum_before(count);
  if (threadIdx.x == 0) {
    counts[blockIdx.x] = before.end;
  }
}

// An exclusive prefix sum: each count becomes the sum of those before it, and the entry after the last the total. One
// block, with a thread for each count.
extern "C" __global__ void sum_counts(long long* counts, int blocks) {
  const int block = threadIdx.x;
  const Before before = sum_before(block < blocks ? counts[block] : 0);
  if (block < blocks) {
    counts[block] = before.me;
  }
  if (block == 0) {
    counts[blocks] = before.end;
  }
}

struct Sizes {
  int ndim;
  long long of[MAX_DIMS];
};

// The coordinates of the nonzero elements: result[dim * found + k] is coordinate `dim` of the k-th.
template <typename Unit>
__global__ void write_nonzero(
    const Unit* values, const long long* counts, long long* result, long long n, long long chunk, long long found,
    Sizes sizes, Unit mask) {
  const long long start = blockIdx.x * chunk;
  const long long end = min(start + chunk, n);
  long long written = counts[blockIdx.x];
  for (long long strip = start; strip < end; strip += blockDim.x) {  // all threads make the same number of passes
    const long long i = strip + threadIdx.x;
    const bool found_here = is_nonzero(values, i, end, mask);
    const Before before = sum_before(found_here);
    if (found_here) {
      long long rest = i;
      for (int dim = sizes.ndim - 1; dim >= 0; dim--) {
        result[dim * found + written + before.me] = rest % sizes.of[dim];
        rest /= sizes.of[dim];
      }
    }
    written += before.end;
  }
}
