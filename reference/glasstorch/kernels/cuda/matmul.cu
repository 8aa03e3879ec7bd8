// How are matrices multiplied on a CUDA device?
//
// Mirrors: aten/src/ATen/native/cuda/Blas.cpp, aten/src/ATen/cuda/CUDABlas.cpp, which call cuBLAS for all of it
// Differs: these are our own kernels; blas.py calls cuBLAS where that is preferred. Integers are multiplied too.
//
// Element is the type in memory, Sum the accumulation type: float for half precision, and for integers an unsigned type
// that wraps around, as C++ leaves the overflow of signed ones undefined.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Note [Tiles in shared memory]
// An element of the product needs a row and a column, and every row is needed by all columns. If each element reads
// them from memory, that is 2 * inner loads for 2 * inner operations, and memory is by far the slower. So a block of
// SIDE x SIDE threads computes a square tile of the product. It walks along `inner` in slabs of SIDE: all threads
// together load a slab of the rows and one of the columns into shared memory, wait for each other, accumulate the
// slab's products, and wait again before the next slab overwrites it. Each loaded element then serves a whole tile
// side.
//
// With PER_THREAD = 1 a thread computes one element: 2 loads from shared memory for each multiplication. With 4 it
// computes 4 x 4 elements, SIDE apart, and keeps them in registers: 8 loads for 16 multiplications. The small tile is
// for small products, for which the large one would leave most threads idle.
constexpr int SIDE = 16;

// Strides in elements.
struct Strides {
  long long batch, row, column;
};

struct Product {
  long long rows, inner, columns;
  Strides left, right, bias, out;
};

// Load a slab of TILE lines, each SIDE long, into `slab[index along inner][line]`; elements outside are 0. `matrix`
// points to the slab's first element, from which `lines` and `inner` are left.
//
// Adjacent threads should read adjacent memory. The loads follow the axis with the smaller stride, so that neither a
// matrix nor its transpose has to be copied. The extra column of the slab puts the elements of a column into different
// banks of shared memory: a warp that writes along `inner` has no bank conflicts.
template <int TILE, typename Element, typename Sum>
__device__ void load(
    Sum (*slab)[TILE + 1], const Element* matrix, long long lines, long long line_stride, long long inner,
    long long inner_stride) {
  constexpr int THREADS = SIDE * SIDE;
  const int thread = threadIdx.y * SIDE + threadIdx.x;
  const bool along_inner = inner_stride == 1;
  int line = along_inner ? thread / SIDE : thread % TILE;
  int index = along_inner ? thread % SIDE : thread / TILE;
  const int next_line = along_inner ? THREADS / SIDE : 0;
  const int next_index = along_inner ? 0 : THREADS / TILE;
  const Element* element = matrix + line * line_stride + index * inner_stride;
  const long long next_element = next_line * line_stride + next_index * inner_stride;
#pragma unroll
  for (int i = 0; i < TILE * SIDE / THREADS; i++) {
    slab[index][line] = line < lines && index < inner ? Sum(*element) : Sum(0);
    line += next_line;
    index += next_index;
    element += next_element;
  }
}

// out = alpha * left @ right + beta * bias. `bias` is not read where beta is 0, and may be `out`.
// blockIdx.x counts the tiles of a product, row by row, and blockIdx.z the products. See Note [Tiles in shared memory].
template <typename Element, typename Sum, int PER_THREAD>
__global__ void __launch_bounds__(SIDE* SIDE) matmul(
    const Element* left, const Element* right, const Element* bias, Element* out, Product product, Sum alpha,
    Sum beta) {
  constexpr int TILE = SIDE * PER_THREAD;
  __shared__ Sum left_slab[SIDE][TILE + 1];
  __shared__ Sum right_slab[SIDE][TILE + 1];

  const long long tiles_in_row = (product.columns + TILE - 1) / TILE;
  const long long first_row = blockIdx.x / tiles_in_row * TILE;
  const long long first_column = blockIdx.x % tiles_in_row * TILE;
  const long long batch = blockIdx.z;

  Sum sums[PER_THREAD][PER_THREAD] = {};
  const Element* rows = left + batch * product.left.batch + first_row * product.left.row;
  const Element* columns = right + batch * product.right.batch + first_column * product.right.column;
  for (long long start = 0; start < product.inner; start += SIDE) {
    const long long inner = product.inner - start;
    load<TILE>(left_slab, rows, product.rows - first_row, product.left.row, inner, product.left.column);
    load<TILE>(right_slab, columns, product.columns - first_column, product.right.column, inner, product.right.row);
    rows += SIDE * product.left.column;
    columns += SIDE * product.right.row;
    __syncthreads();
#pragma unroll
    for (int index = 0; index < SIDE; index++) {
      Sum of_row[PER_THREAD], of_column[PER_THREAD];
#pragma unroll
      for (int i = 0; i < PER_THREAD; i++) {
        of_row[i] = left_slab[index][threadIdx.y + i * SIDE];
        of_column[i] = right_slab[index][threadIdx.x + i * SIDE];
      }
#pragma unroll
      for (int i = 0; i < PER_THREAD; i++) {
#pragma unroll
        for (int j = 0; j < PER_THREAD; j++) {
          sums[i][j] += of_row[i] * of_column[j];
        }
      }
    }
    __syncthreads();  // all have read the slabs
  }

  const long long row = first_row + threadIdx.y, column = first_column + threadIdx.x;
  const Element* of_bias = bias + batch * product.bias.batch + row * product.bias.row + column * product.bias.column;
  Element* of_out = out + batch * product.out.batch + row * product.out.row + column * product.out.column;
#pragma unroll
  for (int i = 0; i < PER_THREAD; i++) {
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
      if (row + i * SIDE < product.rows && column + j * SIDE < product.columns) {
        Sum result = alpha * sums[i][j];
        if (beta != Sum(0)) {
          result += beta * Sum(of_bias[j * SIDE * product.bias.column]);
        }
        of_out[j * SIDE * product.out.column] = Element(result);
      }
    }
    of_bias += SIDE * product.bias.row;
    of_out += SIDE * product.out.row;
  }
}

// Products with a vector ------------------------------------------------------------------------------------------

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

// The sum over the lanes of a warp, in its lane 0.
template <typename Sum>
__device__ Sum warp_sum(Sum value) {
  for (int distance = WARP / 2; distance > 0; distance /= 2) {
    value += __shfl_down_sync(ALL_LANES, value, distance);
  }
  return value;
}

// out = matrix @ vector, one warp for each row.
template <typename Element, typename Sum>
__global__ void mv(
    const Element* matrix, const Element* vector, Element* out, long long rows, long long columns,
    long long row_stride, long long column_stride, long long vector_stride, long long out_stride) {
  const int lane = threadIdx.x % WARP;
  const long long row = (long long)blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
  if (row >= rows) {
    return;  // the whole warp returns
  }
  Sum sum = 0;
  for (long long column = lane; column < columns; column += WARP) {
    sum += Sum(matrix[row * row_stride + column * column_stride]) * Sum(vector[column * vector_stride]);
  }
  sum = warp_sum(sum);
  if (lane == 0) {
    out[row * out_stride] = Element(sum);
  }
}

// The first pass over two vectors: the partial sum of each block. The order is the same in every run, unlike that of
// atomics.
template <typename Element, typename Sum>
__global__ void dot(
    const Element* left, const Element* right, Sum* partial, long long n, long long left_stride,
    long long right_stride) {
  __shared__ Sum of_warp[WARP];  // a block has at most as many warps as a warp has lanes
  const long long threads = (long long)gridDim.x * blockDim.x;
  Sum sum = 0;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    sum += Sum(left[i * left_stride]) * Sum(right[i * right_stride]);
  }
  sum = warp_sum(sum);
  if (threadIdx.x % WARP == 0) {
    of_warp[threadIdx.x / WARP] = sum;
  }
  __syncthreads();
  if (threadIdx.x < WARP) {
    sum = warp_sum(threadIdx.x < blockDim.x / WARP ? of_warp[threadIdx.x] : Sum(0));
    if (threadIdx.x == 0) {
      partial[blockIdx.x] = sum;
    }
  }
}

// The second pass: one warp adds up the blocks' partial sums.
template <typename Element, typename Sum>
__global__ void dot_total(const Sum* partial, Element* out, int blocks) {
  Sum sum = 0;
  for (int i = threadIdx.x; i < blocks; i += WARP) {
    sum += partial[i];
  }
  sum = warp_sum(sum);
  if (threadIdx.x == 0) {
    *out = Element(sum);
  }
}
