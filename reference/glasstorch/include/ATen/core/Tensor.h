// What does a tensor of C++ answer, and which operators are its methods?
//
// Mirrors: aten/src/ATen/templates/TensorBody.h
// Differs: every method calls the library's dispatcher in Python. Those of the operator table are generated.
#pragma once

#include <ATen/core/TensorAccessor.h>
#include <ATen/core/TensorBase.h>
#include <c10/core/Scalar.h>

namespace at {

class Tensor;
using c10::ArrayRef;
using c10::Device;
using c10::DeviceType;
using c10::IntArrayRef;
using c10::Layout;
using c10::MemoryFormat;
using c10::OptionalIntArrayRef;
using c10::Scalar;
using c10::ScalarType;
using c10::TensorOptions;

}  // namespace at

namespace glasstorch {

// ATen/Functions.h: call an operator by its full name; and for what it does to its arguments.
template <class Result, class... Arguments>
Result call(const char* name, Arguments&&... arguments);
template <class... Arguments>
void run(const char* name, Arguments&&... arguments);
at::Tensor with_grad(at::Tensor made, const c10::TensorOptions& options);

}  // namespace glasstorch

namespace at {

using TensorList = ArrayRef<Tensor>;

class Tensor : public TensorBase {
   public:
    Tensor() = default;
    explicit Tensor(std::shared_ptr<glasstorch::Handle> handle) : TensorBase(std::move(handle)) {}

    bool is_same(const Tensor& other) const { return handle() == other.handle(); }
    bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
    Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
    template <class T, size_t N>
    TensorAccessor<T, N> accessor() const& {
        TORCH_CHECK(dim() == N, "TensorAccessor expected ", N, " dims but tensor has ", dim());
        return {data_ptr<T>(), sizes().data(), strides().data()};
    }
    template <class T, size_t N>
    TensorAccessor<T, N> accessor() && = delete;  // its sizes would not outlive the tensor

    Scalar item() const;
    template <class T>
    T item() const { return item().to<T>(); }
    Tensor operator[](int64_t i) const;
    Tensor to(const TensorOptions& options, bool non_blocking = false, bool copy = false) const;
    Tensor to(Device device, ScalarType type) const { return to(TensorOptions(type).device(std::move(device))); }
    Tensor toType(ScalarType type) const { return to(TensorOptions(type)); }
    Tensor cpu() const { return to(TensorOptions(c10::kCPU)); }
    Tensor cuda() const { return to(TensorOptions(c10::kCUDA)); }

    // What autograd knows of it.
    Tensor grad() const;
    Tensor detach() const;
    const Tensor& set_requires_grad(bool wanted) const;
    const Tensor& requires_grad_(bool wanted = true) const { return set_requires_grad(wanted); }
    void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt,
                  bool create_graph = false) const;
    int64_t _version() const;

    Tensor operator-() const;
    Tensor operator~() const;
    Tensor& operator+=(const Tensor& other);
    Tensor& operator+=(const Scalar& other);
    Tensor& operator-=(const Tensor& other);
    Tensor& operator-=(const Scalar& other);
    Tensor& operator*=(const Tensor& other);
    Tensor& operator*=(const Scalar& other);
    Tensor& operator/=(const Tensor& other);
    Tensor& operator/=(const Scalar& other);

#include <ATen/core/TensorMethods.inc>
};

}  // namespace at
