// How is a list handed on without being copied?
//
// Mirrors: c10/util/ArrayRef.h, c10/util/OptionalArrayRef.h
// Differs: fewer members.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <vector>

#include <c10/util/Exception.h>

namespace c10 {

template <class T>
class ArrayRef {
   public:
    using value_type = T;
    using const_iterator = const T*;

    ArrayRef() = default;
    ArrayRef(const T* data, size_t length) : data_(data), length_(length) {}
    ArrayRef(const T& one) : data_(&one), length_(1) {}
    ArrayRef(const std::vector<T>& list) : data_(list.data()), length_(list.size()) {}
    template <size_t N>
    ArrayRef(const std::array<T, N>& list) : data_(list.data()), length_(N) {}
    template <size_t N>
    ArrayRef(const T (&list)[N]) : data_(list), length_(N) {}
    // The braces of a call live until the call ends, and an ArrayRef is not to be kept longer.
    ArrayRef(const std::initializer_list<T>& list) : data_(std::data(list)), length_(list.size()) {}

    const T* begin() const { return data_; }
    const T* end() const { return data_ + length_; }
    const T* data() const { return data_; }
    size_t size() const { return length_; }
    bool empty() const { return length_ == 0; }
    const T& front() const { return at(0); }
    const T& back() const { return at(length_ - 1); }
    const T& operator[](size_t i) const { return data_[i]; }
    const T& at(size_t i) const {
        TORCH_CHECK(i < length_, "ArrayRef: invalid index Index = ", i, "; Length = ", length_);
        return data_[i];
    }
    ArrayRef slice(size_t start, size_t length) const {
        TORCH_CHECK(start + length <= length_, "ArrayRef: invalid slice, ", start, " + ", length, " > ", length_);
        return {data_ + start, length};
    }
    ArrayRef slice(size_t start) const { return slice(start, length_ - start); }
    std::vector<T> vec() const { return {begin(), end()}; }
    bool equals(ArrayRef other) const {
        if (length_ != other.length_) return false;
        for (size_t i = 0; i < length_; ++i)
            if (!(data_[i] == other.data_[i])) return false;
        return true;
    }

   private:
    const T* data_ = nullptr;
    size_t length_ = 0;
};

template <class T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) { return a.equals(b); }
template <class T>
bool operator==(const std::vector<T>& a, ArrayRef<T> b) { return ArrayRef<T>(a).equals(b); }
template <class T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) { return a.equals(b); }

template <class T>
std::ostream& operator<<(std::ostream& out, ArrayRef<T> list) {
    out << '[';
    for (size_t i = 0; i < list.size(); ++i) out << (i ? ", " : "") << list[i];
    return out << ']';
}

using IntArrayRef = ArrayRef<int64_t>;
using SymInt = int64_t;
using SymIntArrayRef = IntArrayRef;

// `{0}` for an optional list is a list of one element; for a std::optional of one it would be ambiguous.
template <class T>
class OptionalArrayRef : public std::optional<ArrayRef<T>> {
   public:
    OptionalArrayRef() = default;
    OptionalArrayRef(std::nullopt_t) {}
    OptionalArrayRef(ArrayRef<T> list) : std::optional<ArrayRef<T>>(list) {}
    OptionalArrayRef(const T& one) : std::optional<ArrayRef<T>>(ArrayRef<T>(one)) {}
    OptionalArrayRef(const std::vector<T>& list) : std::optional<ArrayRef<T>>(list) {}
    OptionalArrayRef(const std::initializer_list<T>& list) : std::optional<ArrayRef<T>>(list) {}
    template <size_t N>
    OptionalArrayRef(const std::array<T, N>& list) : std::optional<ArrayRef<T>>(list) {}
};

using OptionalIntArrayRef = OptionalArrayRef<int64_t>;

}  // namespace c10
