// How does a call go from C++ to Python, and from Python to C++?
//
// Mirrors: torch/csrc/stable/library.h (boxed calls over a C interface), torch/csrc/utils/pybind.h
// Differs: Python is reached by one function pointer, so that neither its headers nor pybind11 are needed. Two compiled
//     libraries share nothing but Python.
#pragma once

#include <deque>
#include <functional>
#include <stdexcept>

#include <ATen/core/ivalue.h>
#include <glasstorch/abi.h>

namespace glasstorch {

using Values = std::vector<IValue>;
// What Python can run: a kernel, a function of a module, a backward pass.
using Closure = std::function<Values(Values&)>;

GLASSTORCH_HIDDEN inline Ask python = nullptr;  // null before the library is started, and when Python has ended

// Values as the other side reads them, and what they point to.
class Packed {
   public:
    explicit Packed(const Values& values) {
        packed_.reserve(values.size());
        for (const IValue& value : values) std::visit([this](const auto& held) { add(held); }, value.held());
    }
    explicit Packed(Values&&) = delete;  // it points into them
    const Value* data() const { return packed_.data(); }
    int64_t size() const { return static_cast<int64_t>(packed_.size()); }

   private:
    Value& put(Kind kind, int64_t count = 0) {
        packed_.push_back({kind, count, {0}});
        return packed_.back();
    }
    void text(Kind kind, std::string_view held) { put(kind, static_cast<int64_t>(held.size())).data = held.data(); }
    void integers(Kind kind, const std::vector<int64_t>& held) {
        put(kind, static_cast<int64_t>(held.size())).data = held.data();
    }
    void add(std::monostate) { put(Kind::none); }
    void add(const at::Tensor& held) { put(Kind::tensor).integer = held.handle(); }
    void add(int64_t held) { put(Kind::integer).integer = held; }
    void add(double held) { put(Kind::real).real = held; }
    void add(bool held) { put(Kind::boolean).integer = held; }
    void add(const c10::complex<double>& held) { put(Kind::complex, 2).data = &held; }
    void add(const std::string& held) { text(Kind::text, held); }
    void add(const std::vector<int64_t>& held) { integers(Kind::integers, held); }
    void add(const std::vector<double>& held) {
        put(Kind::reals, static_cast<int64_t>(held.size())).data = held.data();
    }
    void add(const std::vector<bool>& held) {
        bytes_.emplace_back(held.begin(), held.end());
        put(Kind::booleans, static_cast<int64_t>(held.size())).data = bytes_.back().data();
    }
    void add(const std::vector<at::Tensor>& held) {
        auto& handles = handles_.emplace_back();
        for (const at::Tensor& tensor : held) handles.push_back(tensor.handle());
        integers(Kind::tensors, handles);
    }
    void add(c10::ScalarType held) { put(Kind::dtype).integer = static_cast<int64_t>(held); }
    void add(c10::Layout held) { text(Kind::layout, c10::LAYOUT_NAMES[static_cast<int>(held)]); }
    void add(c10::MemoryFormat held) { text(Kind::memory_format, c10::MEMORY_FORMAT_NAMES[static_cast<int>(held)]); }
    void add(const c10::Device& held) { text(Kind::device, held.str()); }

    std::vector<Value> packed_;
    std::deque<std::vector<int64_t>> handles_;  // a deque's elements stay where they are
    std::deque<std::vector<uint8_t>> bytes_;
};

inline at::Tensor owned(int64_t handle) {
    return handle ? at::Tensor(std::make_shared<Handle>(handle)) : at::Tensor();
}

template <class Enum, size_t N>
Enum named(std::string_view name, const char* const (&names)[N]) {
    for (size_t i = 0; i < N; ++i)
        if (name == names[i]) return static_cast<Enum>(i);
    throw c10::Error(c10::str("glasstorch's C++ interface does not know ", name));
}

inline IValue unpacked(const Value& value) {
    const auto count = static_cast<size_t>(value.count);
    const auto text = [&] { return std::string_view(static_cast<const char*>(value.data), count); };
    const auto integers = static_cast<const int64_t*>(value.data);
    switch (value.kind) {
        case Kind::none: return {};
        case Kind::tensor: return owned(value.integer);
        case Kind::integer: return value.integer;
        case Kind::real: return value.real;
        case Kind::boolean: return value.integer != 0;
        case Kind::complex: return *static_cast<const c10::complex<double>*>(value.data);
        case Kind::text: return text();
        case Kind::integers: return c10::IntArrayRef(integers, count);
        case Kind::reals: return c10::ArrayRef<double>(static_cast<const double*>(value.data), count);
        case Kind::booleans: {
            const auto bytes = static_cast<const uint8_t*>(value.data);
            return std::vector<bool>(bytes, bytes + count);
        }
        case Kind::tensors: {
            std::vector<at::Tensor> tensors(count);
            for (size_t i = 0; i < count; ++i) tensors[i] = owned(integers[i]);
            return tensors;
        }
        case Kind::dtype: return static_cast<c10::ScalarType>(value.integer);
        case Kind::layout: return named<c10::Layout>(text(), c10::LAYOUT_NAMES);
        case Kind::memory_format: return named<c10::MemoryFormat>(text(), c10::MEMORY_FORMAT_NAMES);
        case Kind::device: return c10::Device(text());
    }
    return {};
}

inline Values unpacked(const Value* values, int64_t count) {
    Values list;
    list.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) list.push_back(unpacked(values[i]));
    return list;
}

inline void receive(void* sink, const Value* values, int64_t count) {
    *static_cast<Values*>(sink) = unpacked(values, count);
}

// Ask Python for a service; what it raises passes through C++ as a c10::Error.
inline Values ask(const char* service, const Values& arguments) {
    TORCH_CHECK(python, service, ": Python was asked before the library was started, or after its end");
    const Packed packed(arguments);
    Values results;
    if (const int64_t raised = python(service, packed.data(), packed.size(), &results, &receive))
        throw c10::Error(results.at(0).toStringRef(), "RuntimeError", raised);
    return results;
}

// Call an operator by its full name, `aten::add.Tensor`, with all arguments of its schema in order.
template <class Result, class... Arguments>
Result call(const char* name, Arguments&&... arguments) {
    ++generation;
    Values all{IValue(name), IValue(std::forward<Arguments>(arguments))...};
    const Values results = ask("call", all);
    ++generation;
    return Results<Result>::from(results);
}

inline void release(int64_t id) noexcept {
    if (!python) return;  // a tensor in a static variable, after Python's end
    const Value value{Kind::integer, 0, {id}};
    python("release", &value, 1, nullptr, [](void*, const Value*, int64_t) {});
}

inline void describe(int64_t id, Description& into) {
    const Value value{Kind::integer, 0, {id}};
    Values found;
    if (const int64_t raised = python("describe", &value, 1, &found, &receive))
        throw c10::Error(found.at(0).toStringRef(), "RuntimeError", raised);
    // Only what has changed is written: whoever holds an ArrayRef of the sizes may go on reading it.
    if (const auto& sizes = found[0].toIntVector(); sizes != into.sizes) into.sizes = sizes;
    if (const auto& strides = found[1].toIntVector(); strides != into.strides) into.strides = strides;
    into.offset = found[2].toInt();
    into.numel = found[3].toInt();
    into.dtype = found[4].get<c10::ScalarType>("ScalarType");
    into.device = found[5].toStringRef();
    into.layout = found[6].toStringRef();
    into.requires_grad = found[7].toBool();
    into.is_leaf = found[8].toBool();
    into.is_contiguous = found[9].toBool();
}

// A function of C++ as a closure; its signature, as a schema and as Python writes it.
template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class F, class R, class... A>
struct Signature<R (F::*)(A...) const> : Signature<R (*)(A...)> {};
template <class F, class R, class... A>
struct Signature<R (F::*)(A...)> : Signature<R (*)(A...)> {};
template <class R, class... A>
struct Signature<R(A...)> : Signature<R (*)(A...)> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
    static constexpr int64_t results = Results<Plain<R>>::count;

    // `(Tensor _0, int _1) -> Tensor _0`
    static std::string schema() {
        std::string text;
        int i = 0;
        ((text += c10::str(i ? ", " : "", Passing<Plain<A>>::schema(), " _", i), ++i), ...);
        const std::string result = Results<Plain<R>>::schema();
        return "(" + text + ") -> " + (results == 1 ? result : "(" + result + ")");
    }
    static std::vector<std::string> python() { return {Passing<Plain<A>>::python()..., Results<Plain<R>>::python()}; }

    template <class F>
    static Closure closure(F function) {
        return [function = std::move(function)](Values& values) mutable {
            TORCH_CHECK(values.size() == sizeof...(A), "expected ", sizeof...(A), " arguments, got ", values.size());
            return run(function, values, std::index_sequence_for<A...>());
        };
    }
    template <class F, size_t... I>
    static Values run(F& function, Values& values, std::index_sequence<I...>) {
        if constexpr (std::is_void_v<R>) return function(argument<A>(values[I])...), Values();
        else return Results<Plain<R>>::values(function(argument<A>(values[I])...));
    }
};

// Hands a closure over to Python, which drops it.
inline int64_t lent(Closure closure) { return reinterpret_cast<int64_t>(new Closure(std::move(closure))); }

// What is to be run when Python starts the library: TORCH_LIBRARY and PYBIND11_MODULE put it here.
GLASSTORCH_HIDDEN inline std::vector<std::function<void()>>& blocks() {
    static std::vector<std::function<void()>> all;
    return all;
}

// Run something that may throw, and hand over its results or what was thrown.
template <class F>
int64_t guarded(F function, void* sink, Receive receive) {
    const auto failed = [&](int64_t raised, const char* python_class, const char* message) {
        const Values thrown{raised, python_class, message};
        const Packed packed(thrown);
        receive(sink, packed.data(), packed.size());
        return int64_t{1};
    };
    ++generation;
    try {
        const Values results = function();
        const Packed packed(results);
        receive(sink, packed.data(), packed.size());
        return 0;
    } catch (const c10::Error& error) {
        return failed(error.raised(), error.python_class(), error.what());
    } catch (const std::out_of_range& error) {
        return failed(0, "IndexError", error.what());
    } catch (const std::bad_alloc& error) {
        return failed(0, "MemoryError", error.what());
    } catch (const std::overflow_error& error) {
        return failed(0, "OverflowError", error.what());
    } catch (const std::logic_error& error) {
        const bool value = dynamic_cast<const std::invalid_argument*>(&error) ||
                           dynamic_cast<const std::domain_error*>(&error) ||
                           dynamic_cast<const std::length_error*>(&error);
        return failed(0, value ? "ValueError" : "RuntimeError", error.what());
    } catch (const std::exception& error) {
        return failed(0, "RuntimeError", error.what());
    } catch (...) {
        return failed(0, "RuntimeError", "Caught an unknown exception!");
    }
}

}  // namespace glasstorch

GLASSTORCH_EXPORT int64_t glasstorch_start(int64_t abi, glasstorch::Ask ask, void* sink, glasstorch::Receive receive) {
    return glasstorch::guarded(
        [&] {
            TORCH_CHECK(abi == GLASSTORCH_ABI, "the library was compiled for version ", GLASSTORCH_ABI,
                        " of glasstorch's C++ interface, and this is version ", abi, "; compile it again");
            glasstorch::python = ask;
            auto all = std::move(glasstorch::blocks());
            glasstorch::blocks().clear();
            for (const auto& block : all) block();
            return glasstorch::Values();
        },
        sink, receive);
}

GLASSTORCH_EXPORT int64_t glasstorch_run(
    void* closure, const glasstorch::Value* arguments, int64_t count, void* sink, glasstorch::Receive receive) {
    return glasstorch::guarded(
        [&] {
            glasstorch::Values values = glasstorch::unpacked(arguments, count);
            return (*static_cast<glasstorch::Closure*>(closure))(values);
        },
        sink, receive);
}

GLASSTORCH_EXPORT void glasstorch_drop(void* closure) { delete static_cast<glasstorch::Closure*>(closure); }

GLASSTORCH_EXPORT void glasstorch_stop() { glasstorch::python = nullptr; }

namespace c10 {
inline void warn(const std::string& message) { glasstorch::ask("warn", {IValue(message)}); }
}  // namespace c10

namespace at {

inline void* TensorBase::address(bool write) const {
    TORCH_CHECK(defined(), "an undefined tensor has no data");
    const auto found = glasstorch::ask("address", {c10::IValue(handle()), c10::IValue(write)});
    return reinterpret_cast<void*>(found.at(0).toInt());
}

inline int64_t TensorBase::element_size() const {
    return glasstorch::ask("element_size", {c10::IValue(handle())}).at(0).toInt();
}

// `CPUFloatType`
inline std::string TensorBase::toString() const {
    if (!defined()) return "UndefinedType";
    const c10::DeviceType type = device().type();
    const char* backend = type == c10::kCPU ? "CPU" : type == c10::kCUDA ? "CUDA" : type == c10::kMeta ? "Meta" : "PrivateUse1";
    return c10::str(is_sparse() ? "Sparse" : "", backend, scalar_type(), "Type");
}

}  // namespace at
