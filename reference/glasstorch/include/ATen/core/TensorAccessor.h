// How are the elements of a tensor read by their indices?
//
// Mirrors: torch/headeronly/core/TensorAccessor.h
// Differs: a bounds check of each dimension's index, which PyTorch leaves to the last one, is left out too.
#pragma once

#include <c10/util/ArrayRef.h>

namespace at {

// `N` dimensions from a place in memory; an index leads to one with a dimension less, and the last to the element.
template <class T, size_t N>
class TensorAccessor {
   public:
    TensorAccessor(T* data, const int64_t* sizes, const int64_t* strides)
        : data_(data), sizes_(sizes), strides_(strides) {}

    c10::IntArrayRef sizes() const { return {sizes_, N}; }
    c10::IntArrayRef strides() const { return {strides_, N}; }
    int64_t size(size_t i) const { return sizes_[i]; }
    int64_t stride(size_t i) const { return strides_[i]; }
    T* data() const { return data_; }

    decltype(auto) operator[](int64_t i) const {
        T* place = data_ + i * strides_[0];
        if constexpr (N == 1) return static_cast<T&>(*place);
        else return TensorAccessor<T, N - 1>(place, sizes_ + 1, strides_ + 1);
    }

   private:
    T* data_;
    const int64_t* sizes_;
    const int64_t* strides_;
};

}  // namespace at
