// What are the 16-bit floating-point numbers of C++ code?
//
// Mirrors: torch/headeronly/util/Half.h, torch/headeronly/util/BFloat16.h
// Differs: arithmetic is float's, rounded once when the result is stored.
#pragma once

#include <cstdint>
#include <cstring>

namespace c10 {
namespace detail {

inline uint32_t bits_of(float number) {
    uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}

inline float float_of(uint32_t bits) {
    float number;
    std::memcpy(&number, &bits, sizeof number);
    return number;
}

// bfloat16 is the upper half of a float; a number between two goes to the nearer one, or to the even one.
inline uint16_t bfloat16_bits(float number) {
    const uint32_t bits = bits_of(number);
    if (number != number) return 0x7FC0;
    return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

inline float bfloat16_float(uint16_t bits) { return float_of(static_cast<uint32_t>(bits) << 16); }

// float16 has 5 bits of exponent and 10 of mantissa. Below its normal numbers, adding 0.5 to a float lets the processor
// round to a multiple of 2^-24, the least of them.
inline uint16_t half_bits(float number) {
    const uint32_t bits = bits_of(number), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF;
    if (magnitude > 0x7F800000) return static_cast<uint16_t>(sign | 0x7E00);   // not a number
    if (magnitude >= 0x47800000) return static_cast<uint16_t>(sign | 0x7C00);  // 65536 and above: infinite
    if (magnitude < 0x38800000)
        return static_cast<uint16_t>(sign | (bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f)));
    return static_cast<uint16_t>(sign | ((magnitude - 0x38000000 + 0xFFF + (magnitude >> 13 & 1)) >> 13));
}

inline float half_float(uint16_t bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, magnitude = bits & 0x7FFF;
    if (magnitude >= 0x7C00) return float_of(sign | 0x7F800000 | magnitude << 13);
    if (magnitude >= 0x0400) return float_of(sign | ((magnitude << 13) + 0x38000000));
    return float_of(sign | bits_of(static_cast<float>(magnitude) * 0x1p-24f));
}

}  // namespace detail

#define GLASSTORCH_SHORT_FLOAT(Name, to_bits, to_float)                                                  \
    struct alignas(2) Name {                                                                             \
        struct from_bits_t {};                                                                           \
        uint16_t x;                                                                                      \
        Name() = default;                                                                                \
        Name(uint16_t bits, from_bits_t) : x(bits) {}                                                    \
        static constexpr from_bits_t from_bits() { return {}; }                                          \
        Name(float number) : x(detail::to_bits(number)) {}                                               \
        operator float() const { return detail::to_float(x); }                                           \
        Name& operator+=(float other) { return *this = *this + other; }                                  \
        Name& operator-=(float other) { return *this = *this - other; }                                  \
        Name& operator*=(float other) { return *this = *this * other; }                                  \
        Name& operator/=(float other) { return *this = *this / other; }                                  \
    };
GLASSTORCH_SHORT_FLOAT(Half, half_bits, half_float)
GLASSTORCH_SHORT_FLOAT(BFloat16, bfloat16_bits, bfloat16_float)
#undef GLASSTORCH_SHORT_FLOAT

}  // namespace c10
