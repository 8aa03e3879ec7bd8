// How does C++ code give an operation its own backward?
//
// Mirrors: torch/csrc/autograd/custom_function.h
// Differs: the node is one of Python's, whose forward and backward run the two functions. `saved_data` keeps the values
//     of Note [What passes] (ATen/core/ivalue.h).
#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <typeinfo>

#include <ATen/ATen.h>

namespace torch {
namespace autograd {

using Variable = at::Tensor;
using variable_list = std::vector<at::Tensor>;
using tensor_list = variable_list;

// What forward leaves for backward.
class AutogradContext {
   public:
    std::map<std::string, c10::IValue> saved_data;

    void save_for_backward(variable_list list) { to_save_ = std::move(list); }
    const variable_list& get_saved_variables() const { return saved_; }
    void mark_dirty(const variable_list& inputs) { dirty_ = inputs; }
    void mark_non_differentiable(const variable_list& outputs) { without_gradient_ = outputs; }
    void set_materialize_grads(bool wanted) { materialize_ = wanted; }
    bool needs_input_grad(size_t tensor) const { return tensor < needed_.size() && needed_[tensor]; }

   private:
    template <class>
    friend struct Function;
    variable_list to_save_, saved_, dirty_, without_gradient_;
    std::vector<bool> needed_;
    bool materialize_ = true;
    std::vector<bool> is_tensor_;  // of each argument of forward
};

namespace detail {

inline void collect(const at::Tensor& value, variable_list& tensors, std::vector<bool>& is_tensor) {
    is_tensor.push_back(true);
    tensors.push_back(value);
}
inline void collect(const std::optional<at::Tensor>& value, variable_list& tensors, std::vector<bool>& is_tensor) {
    is_tensor.push_back(value.has_value() && value->defined());
    if (is_tensor.back()) tensors.push_back(*value);
}
// Whatever else it is, a list of tensors too, is not followed: as in PyTorch.
template <class T>
void collect(const T&, variable_list&, std::vector<bool>& is_tensor) { is_tensor.push_back(false); }

inline std::string type_name(const std::type_info& type) {
    int status = 0;
    char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
    const std::string name = status == 0 ? text : type.name();
    std::free(text);
    return name;
}

}  // namespace detail

// Base of an operation: `struct Square : Function<Square>` with static `forward(ctx, ...)` and `backward(ctx, grads)`.
// `Square::apply(...)` runs forward without recording it, and gives its result a node that runs backward.
template <class T>
struct Function {
    template <class X = T, class... A>
    static auto apply(A&&... arguments) {
        using Result = decltype(X::forward(static_cast<AutogradContext*>(nullptr), std::forward<A>(arguments)...));
        constexpr bool is_list = std::is_same_v<Result, variable_list>;
        static_assert(is_list || std::is_same_v<Result, at::Tensor>, "forward returns a Tensor or a variable_list");

        const auto context = std::make_shared<AutogradContext>();
        variable_list tensors;
        (detail::collect(arguments, tensors, context->is_tensor_), ...);
        const std::string name = c10::str("torch::autograd::CppNode<", detail::type_name(typeid(T)), ">");

        const glasstorch::Closure forward = [&](glasstorch::Values& values) -> glasstorch::Values {
            context->needed_ = values.at(0).list<std::vector<bool>>("BoolList");
            variable_list results;
            if constexpr (is_list) results = X::forward(context.get(), std::forward<A>(arguments)...);
            else results = {X::forward(context.get(), std::forward<A>(arguments)...)};
            glasstorch::Values kept{results, context->to_save_, context->dirty_, context->without_gradient_,
                                    context->materialize_};
            // The node keeps them now. Left here they would keep the graph alive, and the graph this.
            context->to_save_.clear();
            context->dirty_.clear();
            context->without_gradient_.clear();
            return kept;
        };
        const glasstorch::Closure backward = [context, name](glasstorch::Values& values) -> glasstorch::Values {
            context->saved_ = values.at(1).toTensorVector();
            context->needed_ = values.at(2).list<std::vector<bool>>("BoolList");
            variable_list gradients = X::backward(context.get(), values.at(0).toTensorVector());
            context->saved_.clear();
            return {of_tensors(name, context->is_tensor_, std::move(gradients))};
        };
        ++glasstorch::generation;
        const auto found = glasstorch::ask(
            "apply", {c10::IValue(name), c10::IValue(reinterpret_cast<int64_t>(&forward)),
                      c10::IValue(glasstorch::lent(backward)), c10::IValue(tensors)});
        ++glasstorch::generation;
        const variable_list& results = found.at(0).toTensorVector();
        if constexpr (is_list) return variable_list(results);
        else return at::Tensor(results.at(0));
    }

   private:
    // Of the gradients that backward returned, one for each argument, those of tensors.
    static variable_list of_tensors(const std::string& name, const std::vector<bool>& is_tensor, variable_list gradients) {
        while (gradients.size() > is_tensor.size() && !gradients.back().defined()) gradients.pop_back();
        TORCH_CHECK(gradients.size() == is_tensor.size(), "function ", name,
                    " returned an incorrect number of gradients (expected ", is_tensor.size(), ", got ",
                    gradients.size(), ")");
        variable_list kept;
        for (size_t i = 0; i < gradients.size(); ++i) {
            if (is_tensor[i]) kept.push_back(gradients[i]);
            else
                TORCH_CHECK(!gradients[i].defined(), "function ", name,
                            " returned a gradient different that is defined at position ", i + 1,
                            ", std the corresponding forward input was not a Variable");
        }
        return kept;
    }
};

}  // namespace autograd
}  // namespace torch
