// How does C++ code refuse what it was asked, in exceptions that Python sees as its own?
//
// Mirrors: c10/util/Exception.h, torch/csrc/Exceptions.cpp (which class of Python's each becomes)
// Differs: a message has no stack of C++ frames. A warning is Python's UserWarning.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace c10 {

class Error : public std::exception {
   public:
    explicit Error(std::string message, const char* python_class = "RuntimeError", int64_t raised = 0)
        : message_(std::move(message)), python_class_(python_class), raised_(raised) {}
    const char* what() const noexcept override { return message_.c_str(); }
    const std::string& msg() const { return message_; }
    const char* python_class() const { return python_class_; }
    int64_t raised() const { return raised_; }  // the number of the Python exception that passes through; 0: none

   private:
    std::string message_;
    const char* python_class_;
    int64_t raised_;
};

#define GLASSTORCH_ERROR(Name, python)                                                        \
    class Name : public Error {                                                               \
       public:                                                                                \
        explicit Name(std::string message) : Error(std::move(message), python) {}             \
    };
GLASSTORCH_ERROR(IndexError, "IndexError")
GLASSTORCH_ERROR(ValueError, "ValueError")
GLASSTORCH_ERROR(TypeError, "TypeError")
GLASSTORCH_ERROR(NotImplementedError, "NotImplementedError")
#undef GLASSTORCH_ERROR

// The arguments as they are printed, one after the other.
template <class... Parts>
std::string str(const Parts&... parts) {
    std::ostringstream text;
    (void)(text << ... << parts);
    return text.str();
}

namespace detail {

template <class... Parts>
std::string check_message(const char* condition, const Parts&... parts) {
    if constexpr (sizeof...(Parts) != 0) return str(parts...);
    return str("Expected ", condition, " to be true, but got false.");
}

}  // namespace detail
}  // namespace c10

#define GLASSTORCH_CHECK(Class, condition, ...)                                                           \
    do {                                                                                                  \
        if (!(condition)) throw Class(::c10::detail::check_message(#condition __VA_OPT__(, ) __VA_ARGS__)); \
    } while (false)
#define TORCH_CHECK(condition, ...) GLASSTORCH_CHECK(::c10::Error, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) GLASSTORCH_CHECK(::c10::IndexError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) GLASSTORCH_CHECK(::c10::ValueError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) GLASSTORCH_CHECK(::c10::TypeError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
    GLASSTORCH_CHECK(::c10::NotImplementedError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(condition, ...)                                                                     \
    do {                                                                                                          \
        if (!(condition))                                                                                         \
            throw ::c10::Error(::c10::str(#condition, " INTERNAL ASSERT FAILED at \"", __FILE__, "\":", __LINE__, \
                                          ". " __VA_OPT__(, ) __VA_ARGS__));                                      \
    } while (false)
#define AT_ERROR(...) throw ::c10::Error(::c10::str(__VA_ARGS__))
#define AT_ASSERT(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)

namespace c10 {
void warn(const std::string& message);  // glasstorch/bridge.h
}
#define TORCH_WARN(...) ::c10::warn(::c10::str(__VA_ARGS__))
#define TORCH_WARN_ONCE(...)                                                        \
    do {                                                                            \
        static const bool warned = (::c10::warn(::c10::str(__VA_ARGS__)), true);    \
        (void)warned;                                                               \
    } while (false)
