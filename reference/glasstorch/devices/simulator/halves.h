// What do the two 16-bit floating-point types have in common?
#pragma once

// Arithmetic is done in float and rounded once, which for + - * / equals 16-bit arithmetic.
#define SIM_HALF(Half, Pair, Stored, letter_of_kind)                                                 \
    struct __align__(2) Half {                                                                       \
        Stored value;                                                                                \
                                                                                                     \
        Half() = default;                                                                            \
        template <class Number>                                                                      \
        Half(Number number) : value((Stored)(float)number) {}                                        \
        operator float() const { return (float)value; }                                              \
        Half& operator+=(Half other) { return *this = (float)*this + (float)other; }                 \
        Half& operator-=(Half other) { return *this = (float)*this - (float)other; }                 \
        Half& operator*=(Half other) { return *this = (float)*this * (float)other; }                 \
        Half& operator/=(Half other) { return *this = (float)*this / (float)other; }                 \
    };                                                                                               \
    struct __align__(4) Pair {                                                                       \
        Half x, y;                                                                                   \
    };                                                                                               \
    static inline Half operator+(Half a, Half b) { return (float)a + (float)b; }                     \
    static inline Half operator-(Half a, Half b) { return (float)a - (float)b; }                     \
    static inline Half operator*(Half a, Half b) { return (float)a * (float)b; }                     \
    static inline Half operator/(Half a, Half b) { return (float)a / (float)b; }                     \
    static inline Half operator-(Half a) { return -(float)a; }                                       \
    static inline bool operator==(Half a, Half b) { return (float)a == (float)b; }                   \
    static inline bool operator!=(Half a, Half b) { return (float)a != (float)b; }                   \
    static inline bool operator<(Half a, Half b) { return (float)a < (float)b; }                     \
    static inline bool operator<=(Half a, Half b) { return (float)a <= (float)b; }                   \
    static inline bool operator>(Half a, Half b) { return (float)a > (float)b; }                     \
    static inline bool operator>=(Half a, Half b) { return (float)a >= (float)b; }                   \
    static inline Half __hadd(Half a, Half b) { return a + b; }                                      \
    static inline Half __hsub(Half a, Half b) { return a - b; }                                      \
    static inline Half __hmul(Half a, Half b) { return a * b; }                                      \
    static inline Half __hdiv(Half a, Half b) { return a / b; }                                      \
    static inline Half __hneg(Half a) { return -a; }                                                 \
    static inline Half __hfma(Half a, Half b, Half c) { return fmaf((float)a, (float)b, (float)c); } \
    static inline bool __hisnan(Half a) { return isnan((float)a); }                                  \
    static inline Half __hmax(Half a, Half b) { return fmaxf((float)a, (float)b); }                  \
    static inline Half __hmin(Half a, Half b) { return fminf((float)a, (float)b); }                  \
    namespace sim {                                                                                  \
    SIM_KIND(Half, letter_of_kind)                                                                   \
    }
