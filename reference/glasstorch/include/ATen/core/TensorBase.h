// What does C++ code hold when it holds a tensor?
//
// Mirrors: aten/src/ATen/core/TensorBase.h, c10/util/intrusive_ptr.h
// Differs: the tensor is Python's. What C++ holds is a counted handle of it; its sizes and strides are asked for when
//     they are first needed and again after every call, because a call may have changed them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <c10/core/TensorOptions.h>
#include <c10/util/ArrayRef.h>
#include <glasstorch/abi.h>

namespace glasstorch {

// What Python says of a tensor.
struct Description {
    std::vector<int64_t> sizes, strides;
    int64_t offset = 0, numel = 0, key_set = 0;
    c10::ScalarType dtype = c10::ScalarType::Undefined;
    std::string device = "cpu", layout = "strided";
    bool requires_grad = false, is_leaf = true, is_contiguous = true;
};

// Raised by every call between the two languages, of which each may have changed a tensor.
GLASSTORCH_HIDDEN inline std::atomic<int64_t> generation{0};

void release(int64_t id) noexcept;
void describe(int64_t id, Description& into);

// One reference to a tensor of Python.
class Handle {
   public:
    explicit Handle(int64_t id) : id(id) {}
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() { release(id); }

    const Description& description() {
        const std::lock_guard<std::mutex> held(lock_);
        if (const int64_t now = generation; seen_ != now) {
            describe(id, description_);
            seen_ = now;
        }
        return description_;
    }

    const int64_t id;

   private:
    std::mutex lock_;
    int64_t seen_ = -1;
    Description description_;
};

}  // namespace glasstorch

namespace at {

class TensorBase {
   public:
    TensorBase() = default;
    explicit TensorBase(std::shared_ptr<glasstorch::Handle> handle) : handle_(std::move(handle)) {}

    bool defined() const { return handle_ != nullptr; }
    int64_t handle() const { return handle_ ? handle_->id : 0; }
    void reset() { handle_.reset(); }

    c10::IntArrayRef sizes() const { return about().sizes; }
    c10::IntArrayRef strides() const { return about().strides; }
    c10::IntArrayRef sym_sizes() const { return sizes(); }
    int64_t dim() const { return static_cast<int64_t>(about().sizes.size()); }
    int64_t ndimension() const { return dim(); }
    int64_t size(int64_t i) const { return about().sizes[wrapped(i)]; }
    int64_t stride(int64_t i) const { return about().strides[wrapped(i)]; }
    int64_t numel() const { return about().numel; }
    int64_t storage_offset() const { return about().offset; }
    c10::ScalarType scalar_type() const { return about().dtype; }
    caffe2::TypeMeta dtype() const { return scalar_type(); }
    c10::Device device() const { return {about().device}; }
    c10::Layout layout() const {
        int8_t i = 0;
        while (about().layout != c10::LAYOUT_NAMES[i]) ++i;
        return static_cast<c10::Layout>(i);
    }
    c10::TensorOptions options() const {
        return c10::TensorOptions().dtype(scalar_type()).device(device()).layout(layout());
    }
    int64_t element_size() const;
    int64_t itemsize() const { return element_size(); }
    int64_t nbytes() const { return numel() * element_size(); }
    bool is_contiguous() const { return about().is_contiguous; }
    bool is_cpu() const { return device().is_cpu(); }
    bool is_cuda() const { return device().is_cuda(); }
    bool is_meta() const { return device().is_meta(); }
    bool is_sparse() const { return layout() == c10::kSparse; }
    bool is_floating_point() const { return c10::isFloatingType(scalar_type()); }
    bool is_complex() const { return c10::isComplexType(scalar_type()); }
    bool requires_grad() const { return about().requires_grad; }
    bool is_leaf() const { return about().is_leaf; }
    std::string toString() const;

    // The address of the first element. `data_ptr` and `mutable_data_ptr` may be written through.
    void* mutable_data_ptr() const { return address(true); }
    void* data_ptr() const { return address(true); }
    const void* const_data_ptr() const { return address(false); }
    template <class T>
    T* mutable_data_ptr() const { return static_cast<T*>(typed<T>(true)); }
    template <class T>
    T* data_ptr() const { return static_cast<T*>(typed<T>(!std::is_const_v<T>)); }
    template <class T>
    const T* const_data_ptr() const { return static_cast<const T*>(typed<T>(false)); }

   protected:
    const glasstorch::Description& about() const {
        TORCH_CHECK(defined(), "tensor does not have a device: it is undefined, torch::Tensor()");
        return handle_->description();
    }
    size_t wrapped(int64_t i) const {
        const int64_t count = dim(), least = count ? -count : -1, most = count ? count - 1 : 0;
        TORCH_CHECK_INDEX(count != 0, "Dimension specified as ", i, " but tensor has no dimensions");
        TORCH_CHECK_INDEX(least <= i && i <= most, "Dimension out of range (expected to be in range of [", least, ", ",
                          most, "], but got ", i, ")");
        return static_cast<size_t>(i < 0 ? i + count : i);
    }
    template <class T>
    void* typed(bool write) const {
        constexpr c10::ScalarType wanted = c10::CppTypeToScalarType<std::remove_const_t<T>>::value;
        TORCH_CHECK(scalar_type() == wanted, "expected scalar type ", wanted, " but found ", scalar_type());
        return address(write);
    }
    void* address(bool write) const;

    std::shared_ptr<glasstorch::Handle> handle_;
};

}  // namespace at
