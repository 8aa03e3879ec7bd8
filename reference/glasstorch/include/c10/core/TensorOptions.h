// What does a program say of a tensor that is to be made?
//
// Mirrors: c10/core/TensorOptions.h, Device.h, Layout.h, MemoryFormat.h
// Differs: a device is kept by name; what kinds of device there are is asked of the library.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <c10/core/ScalarType.h>

namespace c10 {

enum class DeviceType : int8_t { CPU = 0, CUDA = 1, Meta = 14, PrivateUse1 = 20 };
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA, kMeta = DeviceType::Meta,
                     kPrivateUse1 = DeviceType::PrivateUse1;

inline const char* device_name(DeviceType type) {
    switch (type) {
        case DeviceType::CPU: return "cpu";
        case DeviceType::CUDA: return "cuda";
        case DeviceType::Meta: return "meta";
        default: return "privateuseone";
    }
}

class Device {
   public:
    Device(DeviceType type, int index = -1)
        : name_(index < 0 ? device_name(type) : ::c10::str(device_name(type), ':', index)) {}
    Device(std::string_view name) : name_(name) {}
    Device(const char* name) : name_(name) {}
    const std::string& str() const { return name_; }
    int index() const {
        const auto colon = name_.find(':');
        return colon == std::string::npos ? -1 : std::stoi(name_.substr(colon + 1));
    }
    bool has_index() const { return index() >= 0; }
    DeviceType type() const {
        const auto kind = name_.substr(0, name_.find(':'));
        return kind == "cpu" ? kCPU : kind == "cuda" ? kCUDA : kind == "meta" ? kMeta : kPrivateUse1;
    }
    bool is_cpu() const { return type() == kCPU; }
    bool is_cuda() const { return type() == kCUDA; }
    bool is_meta() const { return type() == kMeta; }
    bool operator==(const Device& other) const { return name_ == other.name_; }
    bool operator!=(const Device& other) const { return name_ != other.name_; }

   private:
    std::string name_;
};

inline std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.str(); }
inline std::ostream& operator<<(std::ostream& out, DeviceType type) { return out << device_name(type); }

enum class Layout : int8_t { Strided, Sparse, SparseCsr, SparseCsc, SparseBsr, SparseBsc, Jagged };
constexpr const char* LAYOUT_NAMES[] = {"strided",    "sparse_coo", "sparse_csr", "sparse_csc",
                                        "sparse_bsr", "sparse_bsc", "jagged"};
constexpr Layout kStrided = Layout::Strided, kSparse = Layout::Sparse, kSparseCsr = Layout::SparseCsr;

enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
constexpr const char* MEMORY_FORMAT_NAMES[] = {"contiguous_format", "preserve_format", "channels_last",
                                               "channels_last_3d"};

struct TensorOptions {
    TensorOptions() = default;
    TensorOptions(ScalarType type) : dtype_(type) {}
    TensorOptions(caffe2::TypeMeta type) : dtype_(type.toScalarType()) {}
    TensorOptions(Device device) : device_(std::move(device)) {}
    TensorOptions(DeviceType type) : device_(type) {}
    TensorOptions(Layout layout) : layout_(layout) {}

    TensorOptions dtype(ScalarType type) const { return with(&TensorOptions::dtype_, type); }
    TensorOptions device(Device device) const { return with(&TensorOptions::device_, std::move(device)); }
    TensorOptions device(DeviceType type, int index = -1) const { return device(Device(type, index)); }
    TensorOptions layout(Layout layout) const { return with(&TensorOptions::layout_, layout); }
    TensorOptions requires_grad(bool wanted = true) const { return with(&TensorOptions::requires_grad_, wanted); }
    TensorOptions memory_format(MemoryFormat format) const { return with(&TensorOptions::memory_format_, format); }

    std::optional<ScalarType> dtype_;
    std::optional<Device> device_;
    std::optional<Layout> layout_;
    std::optional<bool> requires_grad_;
    std::optional<MemoryFormat> memory_format_;

   private:
    template <class T>
    TensorOptions with(std::optional<T> TensorOptions::*member, T value) const {
        TensorOptions changed = *this;
        changed.*member = std::move(value);
        return changed;
    }
};

inline TensorOptions dtype(ScalarType type) { return TensorOptions().dtype(type); }
inline TensorOptions device(Device device) { return TensorOptions().device(std::move(device)); }
inline TensorOptions layout(Layout layout) { return TensorOptions().layout(layout); }
inline TensorOptions requires_grad(bool wanted = true) { return TensorOptions().requires_grad(wanted); }

}  // namespace c10
