// How does a kernel's template become a function for the type of the elements at hand?
//
// Mirrors: aten/src/ATen/Dispatch.h, torch/headeronly/core/Dispatch.h
// Differs: the macros of the table below.
#pragma once

#include <ATen/core/Tensor.h>

#define AT_DISPATCH_CASE(TYPE, ...)                                               \
    case TYPE: {                                                                  \
        using scalar_t [[maybe_unused]] = ::c10::ScalarTypeToCPPTypeT<TYPE>;      \
        return __VA_ARGS__();                                                     \
    }
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                                                                         \
    [&] {                                                                                                           \
        const ::c10::ScalarType glasstorch_type = TYPE;                                                             \
        switch (glasstorch_type) {                                                                                  \
            __VA_ARGS__                                                                                             \
            default:                                                                                                \
                throw ::c10::NotImplementedError(                                                                   \
                    ::c10::str('"', NAME, "\" not implemented for '", ::c10::toString(glasstorch_type), "'"));      \
        }                                                                                                           \
    }()

#define AT_DISPATCH_CASE_FLOATING_TYPES(...)             \
    AT_DISPATCH_CASE(::c10::ScalarType::Double, __VA_ARGS__) \
    AT_DISPATCH_CASE(::c10::ScalarType::Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_COMPLEX_TYPES(...)                         \
    AT_DISPATCH_CASE(::c10::ScalarType::ComplexDouble, __VA_ARGS__) \
    AT_DISPATCH_CASE(::c10::ScalarType::ComplexFloat, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)               \
    AT_DISPATCH_CASE(::c10::ScalarType::Byte, __VA_ARGS__)  \
    AT_DISPATCH_CASE(::c10::ScalarType::Char, __VA_ARGS__)  \
    AT_DISPATCH_CASE(::c10::ScalarType::Int, __VA_ARGS__)   \
    AT_DISPATCH_CASE(::c10::ScalarType::Long, __VA_ARGS__)  \
    AT_DISPATCH_CASE(::c10::ScalarType::Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...) \
    AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(...) \
    AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(::c10::ScalarType::Half, __VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(TYPE1, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(TYPE1, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(TYPE1, TYPE2, TYPE, NAME, ...)                                    \
    AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(TYPE1, __VA_ARGS__) \
                       AT_DISPATCH_CASE(TYPE2, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(TYPE, NAME, ...)                           \
    AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)           \
                       AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_COMPLEX_TYPES(TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(TYPE1, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(TYPE1, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__))
