// What is a number whose type is known only when the program runs?
//
// Mirrors: c10/core/Scalar.h
// Differs: no symbolic numbers.
#pragma once

#include <type_traits>
#include <variant>

#include <c10/core/ScalarType.h>

namespace c10 {

class Scalar {
   public:
    Scalar() : number_(int64_t{0}) {}
    Scalar(bool number) : number_(number) {}
    Scalar(Half number) : number_(static_cast<double>(number)) {}
    Scalar(BFloat16 number) : number_(static_cast<double>(number)) {}
    template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
    Scalar(T number) : number_(static_cast<int64_t>(number)) {}
    template <class T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
    Scalar(T number) : number_(static_cast<double>(number)) {}
    template <class T>
    Scalar(complex<T> number) : number_(complex<double>(number)) {}

    bool isBoolean() const { return std::holds_alternative<bool>(number_); }
    bool isIntegral(bool with_bool) const {
        return std::holds_alternative<int64_t>(number_) || (with_bool && isBoolean());
    }
    bool isFloatingPoint() const { return std::holds_alternative<double>(number_); }
    bool isComplex() const { return std::holds_alternative<complex<double>>(number_); }
    ScalarType type() const {
        return isBoolean() ? kBool : isFloatingPoint() ? kDouble : isComplex() ? kComplexDouble : kLong;
    }

    template <class T>
    T to() const {
        return std::visit(
            [](auto number) -> T {
                if constexpr (std::is_same_v<decltype(number), complex<double>>) {
                    if constexpr (std::is_constructible_v<T, complex<double>>) return T(number);
                    else if constexpr (std::is_same_v<T, complex<float>>) return {float(number.real()), float(number.imag())};
                    else {
                        TORCH_CHECK(number.imag() == 0, "value cannot be converted to a real type without overflow");
                        return static_cast<T>(number.real());
                    }
                } else if constexpr (std::is_same_v<T, complex<float>> || std::is_same_v<T, complex<double>>) {
                    return T(static_cast<typename T::value_type>(number));
                } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
                    return T(static_cast<float>(number));
                } else {
                    return static_cast<T>(number);
                }
            },
            number_);
    }
    double toDouble() const { return to<double>(); }
    float toFloat() const { return to<float>(); }
    int64_t toLong() const { return to<int64_t>(); }
    int toInt() const { return to<int>(); }
    bool toBool() const { return to<bool>(); }
    Scalar operator-() const {
        return std::visit([](auto number) -> Scalar {
            if constexpr (std::is_same_v<decltype(number), bool>) return -static_cast<int64_t>(number);
            else return -number;
        }, number_);
    }

    const std::variant<int64_t, double, bool, complex<double>>& number() const { return number_; }

   private:
    std::variant<int64_t, double, bool, complex<double>> number_;
};

inline std::ostream& operator<<(std::ostream& out, const Scalar& scalar) {
    std::visit([&](auto number) { out << number; }, scalar.number());
    return out;
}

}  // namespace c10
