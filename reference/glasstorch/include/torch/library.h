// How does C++ code declare operators and register kernels?
//
// Mirrors: torch/library.h, aten/src/ATen/core/library.cpp, c10/core/DispatchKey.h, ATen/core/dispatch/Dispatcher.h (call)
// Differs: a block is run when Python starts the library, and what is wrong in it raises there.
#pragma once

#include <ATen/ATen.h>

namespace c10 {

#define GLASSTORCH_DISPATCH_KEYS(row)                                                                                  \
    row(CPU) row(CUDA) row(Meta) row(PrivateUse1) row(SparseCPU) row(SparseCUDA) row(SparseMeta) row(SparseCsrCPU)     \
    row(SparseCsrCUDA) row(SparseCsrMeta) row(QuantizedCPU) row(NestedTensorCPU) row(BackendSelect) row(Python)        \
    row(Functionalize) row(Conjugate) row(Negative) row(ZeroTensor) row(ADInplaceOrView) row(AutogradOther)            \
    row(AutogradCPU) row(AutogradCUDA) row(AutogradMeta) row(AutogradPrivateUse1) row(AutogradNestedTensor)            \
    row(Tracer) row(AutocastCPU) row(AutocastCUDA) row(FuncTorchBatched) row(Autograd) row(CompositeImplicitAutograd)  \
    row(CompositeExplicitAutograd) row(CompositeExplicitAutogradNonFunctional)

enum class DispatchKey : uint16_t {
#define GLASSTORCH_ROW(name) name,
    GLASSTORCH_DISPATCH_KEYS(GLASSTORCH_ROW)
#undef GLASSTORCH_ROW
    CatchAll = CompositeImplicitAutograd,
};

inline const char* toString(DispatchKey key) {
    switch (key) {
#define GLASSTORCH_ROW(name) \
    case DispatchKey::name: return #name;
        GLASSTORCH_DISPATCH_KEYS(GLASSTORCH_ROW)
#undef GLASSTORCH_ROW
    }
    return "Undefined";
}

// An operator by its name, to be called with the types of a C++ function.
template <class F>
class TypedOperatorHandle;
template <class R, class... A>
class TypedOperatorHandle<R(A...)> {
   public:
    explicit TypedOperatorHandle(std::string name) : name_(std::move(name)) {}
    R call(A... arguments) const { return glasstorch::call<glasstorch::Plain<R>>(name_.c_str(), arguments...); }

   private:
    std::string name_;
};

class OperatorHandle {
   public:
    explicit OperatorHandle(std::string name) : name_(std::move(name)) {}
    template <class F>
    TypedOperatorHandle<F> typed() const { return TypedOperatorHandle<F>(name_); }

   private:
    std::string name_;
};

class Dispatcher {
   public:
    static Dispatcher& singleton() {
        static Dispatcher one;
        return one;
    }
    OperatorHandle findSchemaOrThrow(const char* name, const char* overload) const {
        const std::string full = *overload ? str(name, '.', overload) : name;
        glasstorch::ask("find", {IValue(full)});
        return OperatorHandle(full);
    }
};

}  // namespace c10

namespace torch {

using c10::DispatchKey;

// A kernel: a function whose arguments and results pass between the languages, or one that leaves the call to the next key.
class CppFunction {
   public:
    template <class F>
    CppFunction(F&& function)
        : closure_(glasstorch::Signature<std::decay_t<F>>::closure(std::decay_t<F>(std::forward<F>(function)))),
          schema_(glasstorch::Signature<std::decay_t<F>>::schema()) {}
    static CppFunction makeFallthrough() { return {}; }

    const std::string& schema() const { return schema_; }
    int64_t lent() const { return closure_ ? glasstorch::lent(closure_) : 0; }  // 0: a fallthrough
    std::optional<DispatchKey> key;

   private:
    CppFunction() = default;
    glasstorch::Closure closure_;
    std::string schema_;
};

template <class F>
CppFunction dispatch(DispatchKey key, F&& function) {
    CppFunction made(std::forward<F>(function));
    made.key = key;
    return made;
}

// One block's declarations and kernels, which stay as long as the process.
class Library {
   public:
    Library(const char* kind, const char* ns, std::optional<DispatchKey> key, const char* file, int line)
        : key_(key), file_(file),
          number_(glasstorch::ask("library", {kind, ns, key ? c10::toString(*key) : "", file, line}).at(0).toInt()),
          line_(line) {}

    // `name(Tensor a) -> Tensor`; with a function also its name alone, and its signature is the schema.
    Library& def(const char* schema) & {
        glasstorch::ask("define", {number_, schema});
        return *this;
    }
    template <class F>
    Library& def(const char* text, F&& function) & {
        CppFunction kernel(std::forward<F>(function));
        const std::string schema = std::string_view(text).find('(') == std::string_view::npos ? text + kernel.schema() : text;
        glasstorch::ask("define", {number_, schema});
        return impl(schema.substr(0, schema.find('(')).c_str(), std::move(kernel));
    }
    template <class F>
    Library& impl(const char* name, F&& function) & {
        CppFunction kernel(std::forward<F>(function));
        const auto key = kernel.key ? kernel.key : key_;
        glasstorch::ask("implement", {number_, name, key ? c10::toString(*key) : "", kernel.lent()});
        return *this;
    }
    template <class F>
    Library& impl(const char* name, DispatchKey key, F&& function) & {
        return impl(name, dispatch(key, std::forward<F>(function)));
    }
    Library& fallback(const CppFunction& kernel) & {
        TORCH_CHECK(kernel.lent() == 0, "fallback: a kernel of C++ for all operators is not in glasstorch's subset; "
                                        "pass torch::CppFunction::makeFallthrough()");
        glasstorch::ask("fall_through", {number_, key_ ? c10::toString(*key_) : ""});
        return *this;
    }

   private:
    std::optional<DispatchKey> key_;
    const char* file_;
    int64_t number_;
    int line_;
};

namespace detail {

struct TorchLibraryInit {
    TorchLibraryInit(const char* kind, void (*block)(Library&), const char* ns, std::optional<DispatchKey> key,
                     const char* file, int line) {
        glasstorch::blocks().push_back([=] {
            Library library(kind, ns, key, file, line);
            block(library);
        });
    }
};

}  // namespace detail
}  // namespace torch

#define GLASSTORCH_JOINED(a, b) a##b
#define GLASSTORCH_JOIN(a, b) GLASSTORCH_JOINED(a, b)
#define GLASSTORCH_LIBRARY(id, kind, ns, key, m)                                                            \
    static void GLASSTORCH_JOIN(glasstorch_block_, id)(torch::Library&);                                    \
    static const torch::detail::TorchLibraryInit GLASSTORCH_JOIN(glasstorch_init_, id)(                     \
        kind, &GLASSTORCH_JOIN(glasstorch_block_, id), #ns, key, __FILE__, __LINE__);                       \
    void GLASSTORCH_JOIN(glasstorch_block_, id)([[maybe_unused]] torch::Library& m)
#define TORCH_LIBRARY(ns, m) GLASSTORCH_LIBRARY(__COUNTER__, "DEF", ns, std::nullopt, m)
#define TORCH_LIBRARY_FRAGMENT(ns, m) GLASSTORCH_LIBRARY(__COUNTER__, "FRAGMENT", ns, std::nullopt, m)
#define TORCH_LIBRARY_IMPL(ns, k, m) GLASSTORCH_LIBRARY(__COUNTER__, "IMPL", ns, c10::DispatchKey::k, m)
#define TORCH_FN(function) (&function)
#define TORCH_SELECTIVE_NAME(name) name
#define TORCH_SELECTIVE_SCHEMA(schema) schema
