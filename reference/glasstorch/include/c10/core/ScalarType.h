// Which types do elements have, and which type of C++ is each?
//
// Mirrors: torch/headeronly/core/ScalarType.h, c10/util/typeid.h (caffe2::TypeMeta)
// Differs: the types that the library has. Only the first eleven have a type of C++ here, by which elements are read.
#pragma once

#include <complex>
#include <ostream>

#include <c10/util/Exception.h>
#include <c10/util/Half.h>

namespace c10 {

template <class T>
using complex = std::complex<T>;

#define GLASSTORCH_SCALAR_TYPES(row)          \
    row(uint8_t, Byte, 0, "unsigned char")    \
    row(int8_t, Char, 1, "signed char")       \
    row(int16_t, Short, 2, "short")           \
    row(int, Int, 3, "int")                   \
    row(int64_t, Long, 4, "long int")         \
    row(Half, Half, 5, "c10::Half")           \
    row(float, Float, 6, "float")             \
    row(double, Double, 7, "double")          \
    row(complex<float>, ComplexFloat, 9, "c10::complex<float>")    \
    row(complex<double>, ComplexDouble, 10, "c10::complex<double>") \
    row(bool, Bool, 11, "bool")               \
    row(BFloat16, BFloat16, 15, "c10::BFloat16")

enum class ScalarType : int8_t {
#define GLASSTORCH_ROW(type, name, number, text) name = number,
    GLASSTORCH_SCALAR_TYPES(GLASSTORCH_ROW)
#undef GLASSTORCH_ROW
    Float8_e5m2 = 23,
    Float8_e4m3fn = 24,
    UInt16 = 27,
    UInt32 = 28,
    UInt64 = 29,
    Undefined = 45,
};

#define GLASSTORCH_ROW(type, name, number, text) constexpr ScalarType k##name = ScalarType::name;
GLASSTORCH_SCALAR_TYPES(GLASSTORCH_ROW)
#undef GLASSTORCH_ROW

namespace detail {
template <ScalarType>
struct CppType;
template <class>
struct ScalarTypeOf;
#define GLASSTORCH_ROW(cpp, name, number, text)                                           \
    template <>                                                                           \
    struct CppType<ScalarType::name> { using type = cpp; };                               \
    template <>                                                                           \
    struct ScalarTypeOf<cpp> { static constexpr ScalarType value = ScalarType::name; };
GLASSTORCH_SCALAR_TYPES(GLASSTORCH_ROW)
#undef GLASSTORCH_ROW
}  // namespace detail

template <ScalarType type>
using ScalarTypeToCPPTypeT = typename detail::CppType<type>::type;
template <class T>
struct CppTypeToScalarType : detail::ScalarTypeOf<T> {};

inline const char* toString(ScalarType type) {
    switch (type) {
#define GLASSTORCH_ROW(cpp, name, number, text) \
    case ScalarType::name: return #name;
        GLASSTORCH_SCALAR_TYPES(GLASSTORCH_ROW)
#undef GLASSTORCH_ROW
        case ScalarType::Float8_e5m2: return "Float8_e5m2";
        case ScalarType::Float8_e4m3fn: return "Float8_e4m3fn";
        case ScalarType::UInt16: return "UInt16";
        case ScalarType::UInt32: return "UInt32";
        case ScalarType::UInt64: return "UInt64";
        default: return "Undefined";
    }
}

inline bool isFloatingType(ScalarType type) {
    return type == kHalf || type == kFloat || type == kDouble || type == kBFloat16 || type == ScalarType::Float8_e5m2 ||
           type == ScalarType::Float8_e4m3fn;
}
inline bool isComplexType(ScalarType type) { return type == kComplexFloat || type == kComplexDouble; }
inline bool isIntegralType(ScalarType type, bool with_bool) {
    return type == kBool ? with_bool : !isFloatingType(type) && !isComplexType(type);
}

inline std::ostream& operator<<(std::ostream& out, ScalarType type) { return out << toString(type); }

}  // namespace c10

namespace caffe2 {

// What `tensor.dtype()` answers: a ScalarType that prints as its C++ type.
class TypeMeta {
   public:
    TypeMeta(c10::ScalarType type) : type_(type) {}
    operator c10::ScalarType() const { return type_; }
    c10::ScalarType toScalarType() const { return type_; }
    const char* name() const {
        switch (type_) {
#define GLASSTORCH_ROW(cpp, name, number, text) \
    case c10::ScalarType::name: return text;
            GLASSTORCH_SCALAR_TYPES(GLASSTORCH_ROW)
#undef GLASSTORCH_ROW
            default: return c10::toString(type_);
        }
    }

   private:
    c10::ScalarType type_;
};

inline std::ostream& operator<<(std::ostream& out, TypeMeta type) { return out << type.name(); }

}  // namespace caffe2
