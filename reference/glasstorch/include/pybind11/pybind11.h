// How does a library become a module of Python?
//
// Mirrors: pybind11's module_::def, and PYBIND11_MODULE
// Differs: functions only, of the types in Note [What passes] (ATen/core/ivalue.h). Classes are not here: `py::class_`
//     does not compile.
#pragma once

#include <ATen/ATen.h>

namespace pybind11 {

// The name of a parameter, and what it is if the caller says nothing.
struct arg {
    explicit constexpr arg(const char* name) : name(name) {}
    template <class T>
    auto operator=(T value) const;
    const char* name;
};
struct arg_v : arg {
    arg_v(const arg& named, c10::IValue value) : arg(named), value(std::move(value)) {}
    c10::IValue value;
};
template <class T>
auto arg::operator=(T value) const { return arg_v(*this, c10::IValue(std::move(value))); }

struct gil_scoped_release {};  // the interpreter's lock is kept: a function runs with it, a kernel without
struct gil_scoped_acquire {};  // it is taken for each call of Python
template <class...>
struct call_guard {};

class module_ {
   public:
    explicit module_(int64_t number) : number_(number) {}

    template <class F, class... Extra>
    module_& def(const char* name, F&& function, const Extra&... extra) {
        using S = glasstorch::Signature<std::decay_t<F>>;
        std::string doc;
        glasstorch::Values about{number_, name, glasstorch::lent(S::closure(std::decay_t<F>(std::forward<F>(function))))};
        std::vector<std::string> names;
        glasstorch::Values defaults;
        (describe(extra, doc, names, defaults), ...);
        const auto types = S::python();
        TORCH_CHECK(names.empty() || names.size() + 1 == types.size(), name, ": ", names.size(), " names for ",
                    types.size() - 1, " parameters");
        about.emplace_back(doc);
        about.emplace_back(types.size());
        about.emplace_back(names.size());
        for (const auto& type : types) about.emplace_back(type);
        for (const auto& each : names) about.emplace_back(each);
        for (auto& each : defaults) about.push_back(std::move(each));
        glasstorch::ask("function", about);
        return *this;
    }

    class text {
       public:
        text(int64_t number, const char* name) : number_(number), name_(name) {}
        template <class T>
        void operator=(const T& value) { glasstorch::ask("attribute", {number_, name_, c10::IValue(value)}); }

       private:
        int64_t number_;
        const char* name_;
    };
    text doc() { return {number_, "__doc__"}; }
    text attr(const char* name) { return {number_, name}; }

   private:
    static void describe(const char* text, std::string& doc, std::vector<std::string>&, glasstorch::Values&) { doc = text; }
    static void describe(const arg_v& named, std::string&, std::vector<std::string>& names, glasstorch::Values& defaults) {
        names.emplace_back(named.name);
        defaults.push_back(named.value);
    }
    static void describe(const arg& named, std::string&, std::vector<std::string>& names, glasstorch::Values& defaults) {
        TORCH_CHECK(defaults.empty(), named.name, ": a parameter without a default after one that has it");
        names.emplace_back(named.name);
    }
    template <class T>
    static void describe(const T&, std::string&, std::vector<std::string>&, glasstorch::Values&) {}

    int64_t number_;
};

template <class F>
struct Module {
    Module(const char* name, F block) {
        glasstorch::blocks().push_back([=] {
            glasstorch::ask("module", {name, glasstorch::lent([=](glasstorch::Values& values) -> glasstorch::Values {
                                module_ made(values.at(0).toInt());
                                block(made);
                                return {};
                            })});
        });
    }
};

}  // namespace pybind11

namespace torch {
// PyTorch turns exceptions of C++ into Python's here; in this library every function does.
template <class F>
F wrap_pybind_function(F function) { return function; }
}  // namespace torch

namespace py = pybind11;

#define GLASSTORCH_TEXT_OF(name) #name
#define GLASSTORCH_TEXT(name) GLASSTORCH_TEXT_OF(name)
#define PYBIND11_MODULE(name, m)                                                                              \
    static void glasstorch_module(pybind11::module_&);                                                        \
    static const pybind11::Module<void (*)(pybind11::module_&)> glasstorch_module_init(GLASSTORCH_TEXT(name), \
                                                                                       &glasstorch_module);   \
    void glasstorch_module([[maybe_unused]] pybind11::module_& m)
