// Which operators can C++ code call?
//
// Mirrors: ATen/Functions.h, ATen/core/TensorBody.h (the bodies of the methods), torch/csrc/autograd/generated/variable_factories.h
// Differs: all those of the operator table whose types pass here; each is called in Python, by its name. What PyTorch
//     writes by hand for C++ is here: the operators of the language, `to`, `tensor`, `from_blob`.
#pragma once

#include <glasstorch/bridge.h>

namespace glasstorch {

// Call an operator for what it does to its arguments.
template <class... Arguments>
void run(const char* name, Arguments&&... arguments) {
    ++generation;
    Values all{IValue(name), IValue(std::forward<Arguments>(arguments))...};
    ask("call", all);
    ++generation;
}

inline at::Tensor with_grad(at::Tensor made, const c10::TensorOptions& options) {
    if (options.requires_grad_.value_or(false)) made.set_requires_grad(true);
    return made;
}

// What Python answers for a tensor, where it is no operator.
template <class... More>
Values ask_of(const at::Tensor& tensor, const char* service, More&&... more) {
    ++generation;
    Values results = ask(service, {IValue(tensor), IValue(std::forward<More>(more))...});
    ++generation;
    return results;
}

}  // namespace glasstorch

namespace at {

#include <ATen/Functions.inc>

inline bool Tensor::is_contiguous(MemoryFormat format) const {
    if (format == MemoryFormat::Contiguous) return about().is_contiguous;
    return glasstorch::ask_of(*this, "is_contiguous", format).at(0).toBool();
}
inline Tensor Tensor::contiguous(MemoryFormat format) const {
    if (is_contiguous(format)) return *this;
    return glasstorch::call<Tensor>("aten::contiguous", *this, format);
}
inline Scalar Tensor::item() const { return glasstorch::call<Scalar>("aten::item", *this); }
inline Tensor Tensor::operator[](int64_t i) const { return select(0, i); }
inline Tensor Tensor::to(const TensorOptions& options, bool non_blocking, bool copy) const {
    return glasstorch::call<Tensor>("aten::to.dtype_layout", *this, options.dtype_, options.layout_, options.device_,
                                    std::nullopt, non_blocking, copy, options.memory_format_);
}

inline Tensor Tensor::grad() const { return glasstorch::ask_of(*this, "grad").at(0).toTensor(); }
inline Tensor Tensor::detach() const { return glasstorch::call<Tensor>("aten::detach", *this); }
inline const Tensor& Tensor::set_requires_grad(bool wanted) const {
    return glasstorch::ask_of(*this, "set_requires_grad", wanted), *this;
}
inline void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph) const {
    glasstorch::ask_of(*this, "backward", gradient, retain_graph, create_graph);
}
inline int64_t Tensor::_version() const { return glasstorch::ask_of(*this, "version").at(0).toInt(); }

inline Tensor Tensor::operator-() const { return neg(); }
inline Tensor Tensor::operator~() const { return bitwise_not(); }

#define GLASSTORCH_ASSIGNING(sign, method)                                                     \
    inline Tensor& Tensor::operator sign(const Tensor& other) { return method(other), *this; } \
    inline Tensor& Tensor::operator sign(const Scalar& other) { return method(other), *this; }
GLASSTORCH_ASSIGNING(+=, add_)
GLASSTORCH_ASSIGNING(-=, sub_)
GLASSTORCH_ASSIGNING(*=, mul_)
GLASSTORCH_ASSIGNING(/=, div_)
#undef GLASSTORCH_ASSIGNING

// `number sign tensor` is given as an expression, since not every operator has a form for it.
#define GLASSTORCH_BINARY(sign, method, reflected)                                                               \
    inline Tensor operator sign(const Tensor& self, const Tensor& other) { return self.method(other); }         \
    inline Tensor operator sign(const Tensor& self, const Scalar& other) { return self.method(other); }         \
    inline Tensor operator sign(const Scalar& number, const Tensor& tensor) { return reflected; }
GLASSTORCH_BINARY(+, add, tensor.add(number))
GLASSTORCH_BINARY(-, sub, rsub(tensor, number))
GLASSTORCH_BINARY(*, mul, tensor.mul(number))
GLASSTORCH_BINARY(/, div, tensor.reciprocal().mul(number))
GLASSTORCH_BINARY(==, eq, tensor.eq(number))
GLASSTORCH_BINARY(!=, ne, tensor.ne(number))
GLASSTORCH_BINARY(<, lt, tensor.gt(number))
GLASSTORCH_BINARY(<=, le, tensor.ge(number))
GLASSTORCH_BINARY(>, gt, tensor.lt(number))
GLASSTORCH_BINARY(>=, ge, tensor.le(number))
GLASSTORCH_BINARY(&, bitwise_and, tensor.bitwise_and(number))
GLASSTORCH_BINARY(|, bitwise_or, tensor.bitwise_or(number))
GLASSTORCH_BINARY(^, bitwise_xor, tensor.bitwise_xor(number))
#undef GLASSTORCH_BINARY
inline Tensor operator%(const Tensor& self, const Tensor& other) { return self.remainder(other); }
inline Tensor operator%(const Tensor& self, const Scalar& other) { return self.remainder(other); }

// A new tensor with these elements, of one dimension or of none.
template <class T>
Tensor tensor(ArrayRef<T> elements, const TensorOptions& options = {}) {
    constexpr bool is_real = std::is_floating_point_v<T>;
    using Passed = std::conditional_t<is_real, double, std::conditional_t<std::is_same_v<T, bool>, bool, int64_t>>;
    const std::vector<Passed> passed(elements.begin(), elements.end());
    auto type = options.dtype_;
    if (!type && is_real) type = glasstorch::ask("default_dtype", {}).at(0).get<ScalarType>("ScalarType");
    auto made = glasstorch::ask("tensor", {c10::IValue(passed), c10::IValue(type.value_or(
                                              is_real ? c10::kDouble : std::is_same_v<T, bool> ? c10::kBool : c10::kLong)),
                                           c10::IValue(options.device_)});
    return glasstorch::with_grad(made.at(0).toTensor(), options);
}
template <class T>
Tensor tensor(std::initializer_list<T> elements, const TensorOptions& options = {}) {
    return tensor(ArrayRef<T>(elements), options);
}
template <class T>
Tensor tensor(const std::vector<T>& elements, const TensorOptions& options = {}) {
    return tensor(ArrayRef<T>(elements), options);
}
template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
Tensor tensor(T element, const TensorOptions& options = {}) {
    return tensor(ArrayRef<T>(element), options).reshape(IntArrayRef());
}

// A tensor over memory that is somebody else's, who keeps it as long as the tensor lives.
inline Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {}) {
    TORCH_CHECK(options.device_.value_or(c10::kCPU).is_cpu(), "from_blob: memory of the CPU only");
    const auto made = glasstorch::ask("from_blob", {c10::IValue(reinterpret_cast<int64_t>(data)), c10::IValue(sizes),
                                                    c10::IValue(options.dtype_.value_or(c10::kFloat))});
    return glasstorch::with_grad(made.at(0).toTensor(), options);
}
inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = {}) {
    int64_t reach = 1;
    for (size_t i = 0; i < sizes.size(); ++i) reach += (sizes[i] - 1) * strides[i];
    TensorOptions without_grad = options;
    without_grad.requires_grad_ = std::nullopt;
    return glasstorch::with_grad(from_blob(data, reach, without_grad).as_strided(sizes, strides), options);
}

// The loop of a kernel in pieces for several threads; here one thread does all of it.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain_size, const F& f) {
    TORCH_CHECK(grain_size >= 0, "parallel_for: a grain size of ", grain_size);
    if (begin < end) f(begin, end);
}
inline int get_num_threads() { return 1; }

// What holds until the end of a C++ block, as in a `with` block of Python.
class Guard {
   public:
    explicit Guard(const char* kind, c10::IValue argument = {})
        : number_(glasstorch::ask("enter", {c10::IValue(kind), std::move(argument)}).at(0).toInt()) {}
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() { glasstorch::ask("leave", {c10::IValue(number_)}); }

   private:
    int64_t number_;
};

#define GLASSTORCH_GUARD(Name, kind)   \
    struct Name : Guard {              \
        Name() : Guard(kind) {}        \
    };
GLASSTORCH_GUARD(AutoDispatchBelowAutograd, "below autograd")
GLASSTORCH_GUARD(AutoDispatchBelowADInplaceOrView, "below ADInplaceOrView")
GLASSTORCH_GUARD(NoGradGuard, "no_grad")
#undef GLASSTORCH_GUARD
struct AutoGradMode : Guard {
    explicit AutoGradMode(bool enabled) : Guard("grad mode", enabled) {}
};

}  // namespace at

namespace c10 {
struct InferenceMode : at::Guard {
    explicit InferenceMode(bool enabled = true) : at::Guard("inference mode", enabled) {}
};
}  // namespace c10
