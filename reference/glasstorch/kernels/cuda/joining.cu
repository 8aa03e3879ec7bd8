// How are tensors joined on a CUDA device?
//
// Mirrors: aten/src/ATen/native/cuda/Shape.cu (CatArrayBatchedCopy, CatArrayBatchedCopy_alignedK_contig)
// Differs: up to four tensors in a launch, each an argument of its own: so a checker of launches (such as the
//     simulator's) sees all tensors that are read. PyTorch packs 128 addresses into one structure.

// A contiguous tensor is a table with a row for each index of the dimensions outside the joined one. Joining writes the
// rows of all tensors next to each other. All counts are in units: the bytes, up to 16, that a thread moves at once,
// regardless of the dtype.
struct Pieces {
  long long rows;
  long long row;       // units in a row of the result
  long long start;     // offset of the first piece in it
  long long width[4];  // of each piece; 0 where there is none
};

// blockIdx.y counts the pieces.
template <typename Unit>
__global__ void cat(
    const Unit* first, const Unit* second, const Unit* third, const Unit* fourth, Unit* out, Pieces pieces) {
  const Unit* source = first;
  long long start = pieces.start;
  long long width = pieces.width[0];
  if (blockIdx.y > 0) {
    source = second;
    start += width;
    width = pieces.width[1];
  }
  if (blockIdx.y > 1) {
    source = third;
    start += width;
    width = pieces.width[2];
  }
  if (blockIdx.y > 2) {
    source = fourth;
    start += width;
    width = pieces.width[3];
  }
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pieces.rows * width) {
    out[i / width * pieces.row + start + i % width] = source[i];
  }
}
