// What does a value look like that an operator is called with, whatever its type?
//
// Mirrors: aten/src/ATen/core/ivalue.h, aten/src/ATen/core/boxing/impl/boxing.h
// Differs: the types that pass between the two languages here, listed in Note [What passes].
//
// Note [What passes]
// Tensor, bool, integers (as int64_t), float and double, complex numbers, Scalar, std::string and std::string_view,
// ScalarType, Layout, MemoryFormat, Device; lists of tensors, of integers, floats and bools (std::vector, ArrayRef,
// std::array); std::optional of these; as results, tuples of these. Anything else does not compile.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>
#include <variant>

#include <ATen/core/Tensor.h>

namespace c10 {

class IValue {
   public:
    using Held = std::variant<std::monostate, at::Tensor, int64_t, double, bool, complex<double>, std::string,
                              std::vector<int64_t>, std::vector<double>, std::vector<bool>, std::vector<at::Tensor>,
                              ScalarType, Layout, MemoryFormat, Device>;

    IValue() = default;
    IValue(std::nullopt_t) {}
    IValue(at::Tensor value) : held_(std::move(value)) {}
    IValue(bool value) : held_(value) {}
    template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
    IValue(T value) : held_(static_cast<int64_t>(value)) {}
    template <class T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
    IValue(T value) : held_(static_cast<double>(value)) {}
    template <class T>
    IValue(complex<T> value) : held_(complex<double>(value)) {}
    IValue(const Scalar& value) {
        std::visit([this](auto number) { held_ = number; }, value.number());
    }
    IValue(std::string value) : held_(std::move(value)) {}
    IValue(std::string_view value) : held_(std::string(value)) {}
    IValue(const char* value) : held_(std::string(value)) {}
    IValue(ScalarType value) : held_(value) {}
    IValue(caffe2::TypeMeta value) : held_(value.toScalarType()) {}
    IValue(Layout value) : held_(value) {}
    IValue(MemoryFormat value) : held_(value) {}
    IValue(Device value) : held_(std::move(value)) {}
    IValue(DeviceType value) : held_(Device(value)) {}
    IValue(std::vector<at::Tensor> value) : held_(std::move(value)) {}
    IValue(std::vector<bool> value) : held_(std::move(value)) {}
    template <class T>
    IValue(const std::optional<T>& value) {
        if (value) *this = IValue(*value);
    }
    template <class T, std::enable_if_t<!std::is_same_v<T, at::Tensor> && !std::is_same_v<T, bool>, int> = 0>
    IValue(const std::vector<T>& list) : IValue(ArrayRef<T>(list)) {}
    template <class T, size_t N>
    IValue(const std::array<T, N>& list) : IValue(ArrayRef<T>(list)) {}
    template <class T>
    IValue(ArrayRef<T> list) {
        if constexpr (std::is_same_v<T, at::Tensor>) held_ = list.vec();
        else if constexpr (std::is_same_v<T, std::optional<at::Tensor>>) {
            std::vector<at::Tensor> tensors;
            for (const auto& tensor : list) tensors.push_back(tensor.value_or(at::Tensor()));
            held_ = std::move(tensors);
        } else if constexpr (std::is_same_v<T, bool>) held_ = std::vector<bool>(list.begin(), list.end());
        else if constexpr (std::is_integral_v<T>) held_ = std::vector<int64_t>(list.begin(), list.end());
        else if constexpr (std::is_floating_point_v<T>) held_ = std::vector<double>(list.begin(), list.end());
        else static_assert(sizeof(T) == 0, "this list cannot pass to Python: Note [What passes], ATen/core/ivalue.h");
    }

    const Held& held() const { return held_; }
    Held& held() { return held_; }

    bool isNone() const { return is<std::monostate>() || (is<at::Tensor>() && !std::get<at::Tensor>(held_).defined()); }
    bool isTensor() const { return is<at::Tensor>(); }
    bool isInt() const { return is<int64_t>(); }
    bool isDouble() const { return is<double>(); }
    bool isBool() const { return is<bool>(); }
    bool isString() const { return is<std::string>(); }
    bool isIntList() const { return is<std::vector<int64_t>>(); }
    bool isTensorList() const { return is<std::vector<at::Tensor>>(); }

    at::Tensor toTensor() const { return is<std::monostate>() ? at::Tensor() : get<at::Tensor>("Tensor"); }
    int64_t toInt() const { return get<int64_t>("Int"); }
    double toDouble() const { return is<int64_t>() ? static_cast<double>(toInt()) : get<double>("Double"); }
    bool toBool() const { return get<bool>("Bool"); }
    const std::string& toStringRef() const { return get<std::string>("String"); }
    const std::vector<int64_t>& toIntVector() const { return list<std::vector<int64_t>>("IntList"); }
    const std::vector<at::Tensor>& toTensorVector() const { return list<std::vector<at::Tensor>>("TensorList"); }
    Scalar toScalar() const;

    template <class T>
    bool is() const { return std::holds_alternative<T>(held_); }
    template <class T>
    const T& get(const char* expected) const {
        const T* found = std::get_if<T>(&held_);
        TORCH_CHECK(found, "Expected ", expected, " but got another type of value (number ", held_.index(),
                    " in ATen/core/ivalue.h)");
        return *found;
    }
    // An empty list of Python has no type of elements, so that it passes for each.
    template <class T>
    const T& list(const char* expected) const {
        static const T empty;
        const auto* integers = std::get_if<std::vector<int64_t>>(&held_);
        return integers && integers->empty() ? empty : get<T>(expected);
    }
    template <class T>
    T to() const;

   private:
    Held held_;
};

inline Scalar IValue::toScalar() const {
    if (is<double>()) return std::get<double>(held_);
    if (is<bool>()) return std::get<bool>(held_);
    if (is<complex<double>>()) return std::get<complex<double>>(held_);
    return toInt();
}

}  // namespace c10

namespace glasstorch {

using c10::IValue;

// How a parameter of type T is taken out of a value, and what the type is called in schemas and in Python.
template <class T>
struct Passing {
    static_assert(sizeof(T) == 0, "this type cannot pass to or from Python: Note [What passes], ATen/core/ivalue.h");
};

// An integer of Python in a narrower type of C++.
template <class T>
T narrowed(int64_t value) {
    const T narrow = static_cast<T>(value);
    TORCH_CHECK_TYPE(static_cast<int64_t>(narrow) == value, value, " does not fit into the parameter's type");
    return narrow;
}

#define GLASSTORCH_PASSES(Type, schema_name, python_name, ...)            \
    template <>                                                           \
    struct Passing<Type> {                                                \
        static std::string schema() { return schema_name; }               \
        static std::string python() { return python_name; }               \
        static constexpr const char* code = schema_name;                  \
        static decltype(auto) take(const IValue& value) { __VA_ARGS__; }  \
    };
#define GLASSTORCH_INT "typing.SupportsInt | typing.SupportsIndex"
#define GLASSTORCH_FLOAT "typing.SupportsFloat | typing.SupportsIndex"
GLASSTORCH_PASSES(at::Tensor, "Tensor", "torch.Tensor", return value.toTensor())
GLASSTORCH_PASSES(bool, "bool", "bool", return value.toBool())
GLASSTORCH_PASSES(long, "int", GLASSTORCH_INT, return static_cast<long>(value.toInt()))
GLASSTORCH_PASSES(long long, "int", GLASSTORCH_INT, return static_cast<long long>(value.toInt()))
GLASSTORCH_PASSES(int, "int", GLASSTORCH_INT, return narrowed<int>(value.toInt()))
GLASSTORCH_PASSES(unsigned, "int", GLASSTORCH_INT, return narrowed<unsigned>(value.toInt()))
GLASSTORCH_PASSES(unsigned long, "int", GLASSTORCH_INT, return static_cast<unsigned long>(value.toInt()))
GLASSTORCH_PASSES(double, "float", GLASSTORCH_FLOAT, return value.toDouble())
GLASSTORCH_PASSES(float, "float", GLASSTORCH_FLOAT, return static_cast<float>(value.toDouble()))
GLASSTORCH_PASSES(c10::complex<double>, "complex", "complex", return value.toScalar().to<c10::complex<double>>())
GLASSTORCH_PASSES(c10::Scalar, "Scalar", "Number", return value.toScalar())
GLASSTORCH_PASSES(std::string, "str", "str", return value.toStringRef())
GLASSTORCH_PASSES(std::string_view, "str", "str", return std::string_view(value.toStringRef()))
GLASSTORCH_PASSES(c10::ScalarType, "ScalarType", "torch.dtype", return value.get<c10::ScalarType>("ScalarType"))
GLASSTORCH_PASSES(c10::Layout, "Layout", "torch.layout", return value.get<c10::Layout>("Layout"))
GLASSTORCH_PASSES(c10::MemoryFormat, "MemoryFormat", "torch.memory_format", return value.get<c10::MemoryFormat>("MemoryFormat"))
GLASSTORCH_PASSES(c10::Device, "Device", "torch.device", return value.get<c10::Device>("Device"))
GLASSTORCH_PASSES(std::vector<at::Tensor>, "Tensor[]", "collections.abc.Sequence[torch.Tensor]", return value.toTensorVector())
GLASSTORCH_PASSES(c10::ArrayRef<at::Tensor>, "Tensor[]", "collections.abc.Sequence[torch.Tensor]", return c10::ArrayRef<at::Tensor>(value.toTensorVector()))
GLASSTORCH_PASSES(std::vector<int64_t>, "int[]", "collections.abc.Sequence[" GLASSTORCH_INT "]", return value.toIntVector())
GLASSTORCH_PASSES(c10::IntArrayRef, "int[]", "collections.abc.Sequence[" GLASSTORCH_INT "]", return c10::IntArrayRef(value.toIntVector()))
GLASSTORCH_PASSES(std::vector<double>, "float[]", "collections.abc.Sequence[" GLASSTORCH_FLOAT "]", return value.list<std::vector<double>>("DoubleList"))
GLASSTORCH_PASSES(c10::ArrayRef<double>, "float[]", "collections.abc.Sequence[" GLASSTORCH_FLOAT "]", return c10::ArrayRef<double>(value.list<std::vector<double>>("DoubleList")))
GLASSTORCH_PASSES(std::vector<bool>, "bool[]", "collections.abc.Sequence[bool]", return value.list<std::vector<bool>>("BoolList"))
#undef GLASSTORCH_PASSES

template <class T>
struct Passing<std::optional<T>> {
    static std::string schema() { return Passing<T>::schema() + "?"; }
    static std::string python() { return Passing<T>::python() + " | None"; }
    static std::optional<T> take(const IValue& value) {
        if (value.isNone()) return std::nullopt;
        return Passing<T>::take(value);
    }
};

template <class T>
struct Passing<c10::OptionalArrayRef<T>> {
    static std::string schema() { return Passing<c10::ArrayRef<T>>::schema() + "?"; }
    static std::string python() { return Passing<c10::ArrayRef<T>>::python() + " | None"; }
    static c10::OptionalArrayRef<T> take(const IValue& value) {
        if (value.isNone()) return std::nullopt;
        return Passing<c10::ArrayRef<T>>::take(value);
    }
};

template <>
struct Passing<std::vector<std::optional<at::Tensor>>> {
    static std::string schema() { return "Tensor?[]"; }
    static std::string python() { return "collections.abc.Sequence[torch.Tensor | None]"; }
    static std::vector<std::optional<at::Tensor>> take(const IValue& value) {
        std::vector<std::optional<at::Tensor>> list;
        for (const auto& tensor : value.toTensorVector())
            list.push_back(tensor.defined() ? std::optional(tensor) : std::nullopt);
        return list;
    }
};

template <class T, size_t N>
struct Passing<std::array<T, N>> {
    static std::string schema() { return Passing<T>::schema() + c10::str('[', N, ']'); }
    static std::string python() { return Passing<std::vector<T>>::python(); }
    static std::array<T, N> take(const IValue& value) {
        const auto list = Passing<std::vector<T>>::take(value);
        TORCH_CHECK(list.size() == N, "expected ", N, " elements, got ", list.size());
        std::array<T, N> array;
        for (size_t i = 0; i < N; ++i) array[i] = list[i];
        return array;
    }
};

template <class T>
using Plain = std::remove_cv_t<std::remove_reference_t<T>>;

// An argument as a function takes it. `Tensor&`, which is written to, is the tensor in the list itself.
template <class T>
decltype(auto) argument(IValue& value) {
    if constexpr (std::is_same_v<T, at::Tensor&>) return std::get<at::Tensor>(value.held());
    else return Passing<Plain<T>>::take(value);
}

// The results of a function, as values.
template <class T>
struct Results {
    static constexpr int64_t count = 1;
    static std::string schema() { return Passing<T>::schema() + " _0"; }
    static std::string python() {
        const std::string text = Passing<T>::python();
        // What is given back has a type of its own, where a parameter takes whatever can be converted.
        if (text == GLASSTORCH_INT) return "int";
        if (text == GLASSTORCH_FLOAT) return "float";
        if (text.rfind("collections.abc.Sequence", 0) == 0) {
            const std::string element = text.substr(25, text.size() - 26);
            return "list[" + (element == GLASSTORCH_INT ? "int" : element == GLASSTORCH_FLOAT ? "float" : element) + "]";
        }
        return text;
    }
    static std::vector<IValue> values(T result) { return {IValue(std::move(result))}; }
    static T from(const std::vector<IValue>& values) {
        TORCH_CHECK(values.size() == 1, "expected one result, got ", values.size());
        return Passing<T>::take(values[0]);
    }
};

template <>
struct Results<void> {
    static constexpr int64_t count = 0;
    static std::string schema() { return ""; }
    static std::string python() { return "None"; }
    static void from(const std::vector<IValue>&) {}
};

template <class... T>
struct Results<std::tuple<T...>> {
    static constexpr int64_t count = sizeof...(T);
    static std::string schema() {
        std::string text;
        int64_t i = 0;
        ((text += c10::str(i ? ", " : "", Passing<Plain<T>>::schema(), " _", i), ++i), ...);
        return text;
    }
    static std::string python() {
        std::string text;
        ((text += (text.empty() ? "" : ", ") + Results<Plain<T>>::python()), ...);
        return "tuple[" + text + "]";
    }
    static std::vector<IValue> values(std::tuple<T...> result) {
        return std::apply([](auto&&... parts) { return std::vector<IValue>{IValue(Plain<T>(parts))...}; }, result);
    }
    static std::tuple<T...> from(const std::vector<IValue>& values) {
        TORCH_CHECK(values.size() == sizeof...(T), "expected ", sizeof...(T), " results, got ", values.size());
        return from(values, std::index_sequence_for<T...>());
    }
    template <size_t... I>
    static std::tuple<T...> from(const std::vector<IValue>& values, std::index_sequence<I...>) {
        return std::tuple<T...>(Passing<Plain<T>>::take(values[I])...);
    }
};

template <class A, class B>
struct Results<std::pair<A, B>> : Results<std::tuple<A, B>> {};

}  // namespace glasstorch

template <class T>
T c10::IValue::to() const { return glasstorch::Passing<T>::take(*this); }

namespace torch {
using c10::IValue;
}
