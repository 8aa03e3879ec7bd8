// What do the tests compile, once against our headers and once against PyTorch's?
#include <torch/extension.h>

#include <iostream>

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Operators ----------------------------------------------------------------------------------------------------------

// The operator of document 001, with what its erratum corrects: a schema, one key, and the dtype decided in the kernel.
at::Tensor my_fast_add_cpu(const at::Tensor& a, const at::Tensor& b) {
    TORCH_CHECK(a.sizes() == b.sizes(), "my_ops::add: sizes ", a.sizes(), " and ", b.sizes());
    const at::Tensor x = a.contiguous(), y = b.contiguous();
    at::Tensor out = at::empty_like(x);
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(a.scalar_type(), "my_fast_add", [&] {
        const scalar_t* p = x.const_data_ptr<scalar_t>();
        const scalar_t* q = y.const_data_ptr<scalar_t>();
        scalar_t* sum = out.data_ptr<scalar_t>();
        for (int64_t i = 0; i < x.numel(); ++i) sum[i] = p[i] + q[i];
    });
    return out;
}

at::Tensor my_add_meta(const at::Tensor& a, const at::Tensor&) { return at::empty_like(a); }

// An operator with an autograd kernel, in the manner of PyTorch's tutorial on the dispatcher.
at::Tensor cube(const at::Tensor& x) {
    static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("my_ops::cube", "").typed<decltype(cube)>();
    return op.call(x);
}

at::Tensor cube_cpu(const at::Tensor& x) { return x * x * x; }

struct Cube : torch::autograd::Function<Cube> {
    static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x) {
        ctx->save_for_backward({x});
        at::AutoDispatchBelowADInplaceOrView guard;
        return cube(x);
    }
    static variable_list backward(AutogradContext* ctx, variable_list grads) {
        const auto x = ctx->get_saved_variables()[0];
        return {grads[0] * 3 * x * x};
    }
};

at::Tensor cube_autograd(const at::Tensor& x) { return Cube::apply(x); }

at::Tensor& fill_one_(at::Tensor& x) {
    x.fill_(1);
    return x;
}

int64_t types(const at::Tensor& a, int64_t n, std::optional<at::Tensor> o, at::IntArrayRef l, std::string s, double d,
              bool b, std::vector<at::Tensor> ts, const at::Scalar& number) {
    return a.numel() + n + (o ? 100 : 0) + static_cast<int64_t>(l.size() + s.size() + ts.size()) + (b ? 1000 : 0) +
           static_cast<int64_t>(d) + number.to<int64_t>();
}

std::tuple<at::Tensor, at::Tensor> both_ways(const at::Tensor& a) { return {a + 1, a - 1}; }

TORCH_LIBRARY(my_ops, m) {
    m.def("add(Tensor a, Tensor b) -> Tensor");
    m.def("cube(Tensor x) -> Tensor");
    m.def("fill_one_(Tensor(a!) x) -> Tensor(a!)");
    m.def("scaled(Tensor x, float factor=2.0, *, int[]? sizes=None, bool again=False) -> Tensor",
          [](const at::Tensor& x, double factor, at::OptionalIntArrayRef sizes, bool again) {
              at::Tensor y = x * factor;
              if (again) y = y * factor;
              return sizes ? y.view(*sizes) : y;
          });
    m.def("types", types);
    m.def("both_ways", &both_ways);
    m.def("halves(Tensor x) -> Tensor[]", [](const at::Tensor& x) { return x.chunk(2); });
}

TORCH_LIBRARY_IMPL(my_ops, CPU, m) {
    m.impl("add", TORCH_FN(my_fast_add_cpu));
    m.impl("cube", cube_cpu);
    m.impl("fill_one_", fill_one_);
}

TORCH_LIBRARY_IMPL(my_ops, Meta, m) { m.impl("add", my_add_meta); }
TORCH_LIBRARY_IMPL(my_ops, Autograd, m) { m.impl("cube", cube_autograd); }

TORCH_LIBRARY_FRAGMENT(my_ops, m) { m.def("late(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(my_ops, CompositeExplicitAutograd, m) {
    m.impl("late", torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, [](const at::Tensor& x) { return x + 1; }));
}

// Functions ----------------------------------------------------------------------------------------------------------

// The C++ function of document 004.
struct Square : torch::autograd::Function<Square> {
    static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x, double factor) {
        ctx->save_for_backward({x});
        ctx->saved_data["factor"] = factor;
        return x * x * factor;
    }
    static variable_list backward(AutogradContext* ctx, variable_list grads) {
        const auto saved = ctx->get_saved_variables();
        return {grads[0] * saved[0] * 2 * ctx->saved_data["factor"].toDouble(), torch::Tensor()};
    }
};

struct TooFew : torch::autograd::Function<TooFew> {
    static torch::Tensor forward(AutogradContext*, torch::Tensor x, double factor) { return x * factor; }
    static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0]}; }
};

struct ForANumber : torch::autograd::Function<ForANumber> {
    static torch::Tensor forward(AutogradContext*, torch::Tensor x, double factor) { return x * factor; }
    static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0], grads[0]}; }
};

// Two results, of which one carries no gradient.
struct Parts : torch::autograd::Function<Parts> {
    static variable_list forward(AutogradContext* ctx, torch::Tensor x, std::optional<torch::Tensor> y) {
        const auto sum = x + y.value_or(x), sign = (x > 0).to(torch::kLong);
        ctx->mark_non_differentiable({sign});
        ctx->set_materialize_grads(false);
        return {sum, sign};
    }
    static variable_list backward(AutogradContext* ctx, variable_list grads) {
        TORCH_CHECK(grads.size() == 2 && !grads[1].defined());
        return {ctx->needs_input_grad(0) ? grads[0] : torch::Tensor(), grads[0] * 2};
    }
};

struct Doubled_ : torch::autograd::Function<Doubled_> {
    static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x) {
        x.mul_(2);
        ctx->mark_dirty({x});
        return x;
    }
    static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 2}; }
};

torch::Tensor square(torch::Tensor x, double factor) { return Square::apply(x, factor); }
torch::Tensor too_few(torch::Tensor x, double factor) { return TooFew::apply(x, factor); }
torch::Tensor for_a_number(torch::Tensor x, double factor) { return ForANumber::apply(x, factor); }
variable_list parts(torch::Tensor x, torch::Tensor y) { return Parts::apply(x, std::optional<torch::Tensor>(y)); }

// A list of tensors is an argument like a number: no gradient goes to its elements.
struct OfAList : torch::autograd::Function<OfAList> {
    static torch::Tensor forward(AutogradContext*, variable_list xs) { return xs[0] + xs[1]; }
    static variable_list backward(AutogradContext*, variable_list) { return {torch::Tensor()}; }
};

torch::Tensor of_a_list(variable_list xs) { return OfAList::apply(xs); }
torch::Tensor doubled_(torch::Tensor x) { return Doubled_::apply(x); }

void fails(const std::string& how) {
    const auto x = torch::ones({2});
    TORCH_CHECK(how != "check", "no ", how, ' ', 3);
    TORCH_CHECK_INDEX(how != "index", "out of range");
    TORCH_CHECK_VALUE(how != "value", "a value");
    TORCH_CHECK_TYPE(how != "type", "a type");
    TORCH_CHECK_NOT_IMPLEMENTED(how != "not implemented", "not yet");
    if (how == "runtime_error") throw std::runtime_error("plain");
    if (how == "out_of_range") throw std::out_of_range("far");
    if (how == "invalid_argument") throw std::invalid_argument("odd");
    if (how == "number") throw 3;
    if (how == "at error") AT_ERROR("at ", 7);
    if (how == "view") x.view({3});
    if (how == "data_ptr") x.data_ptr<double>();
    if (how == "accessor") x.accessor<float, 2>();
    if (how == "undefined") torch::Tensor().sum();
    if (how == "size") x.size(4);
    if (how == "item") x.item<float>();
    if (how == "dispatch") AT_DISPATCH_FLOATING_TYPES(torch::kLong, "mine", [] {});
    if (how == "schema") c10::Dispatcher::singleton().findSchemaOrThrow("my_ops::nothing", "");
}

// What a program can catch, and go on.
std::string caught() {
    try {
        torch::ones({2}).view({3});
    } catch (const c10::Error& error) {
        return "caught";
    }
    return "nothing";
}

double sum_of(torch::Tensor x) {
    auto elements = x.accessor<double, 2>();
    double sum = 0;
    for (int64_t i = 0; i < elements.size(0); ++i)
        for (int64_t j = 0; j < elements.size(1); ++j) sum += elements[i][j];
    return sum;
}

// Sizes that are held while something else changes, and those of a tensor that changes itself.
std::vector<int64_t> sizes_over_time(torch::Tensor x) {
    const auto before = x.sizes();
    const auto y = x + 1;
    std::vector<int64_t> seen = before.vec();
    x.unsqueeze_(0);
    for (auto size : x.sizes()) seen.push_back(size);
    seen.push_back(y.dim());
    return seen;
}

std::vector<torch::Tensor> arithmetic(torch::Tensor a, torch::Tensor b) {
    auto c = a.clone();
    c += b;
    c -= 1;
    c *= 2;
    c /= b;
    return {a + b, a - b, a * b, a / b, 1 + a, 1 - a, 2 * a, 2 / a, a + 1, a - 1, a * 2, a / 2, -a, a < b, a == b, c,
            a[0], a.sum({0}), a.sum(), a.mean(0, true), a.transpose(0, 1), a.matmul(b.t()), torch::stack({a, b}),
            torch::where(a > 0, a, b), a.to(torch::kInt), a.select(1, 0), a.pow(2), a.max(), std::get<1>(a.max(0)),
            at::clamp(a, 0, 1), torch::relu(a), a.add(b, 2), a.softmax(-1), torch::cat({a, b}, 1), a.view({-1}),
            a.permute({1, 0}), a.index_select(0, torch::arange(1))};
}

std::vector<torch::Tensor> made() {
    const auto options = torch::TensorOptions().dtype(torch::kDouble);
    static float memory[] = {1, 2, 3, 4};
    return {torch::zeros({2, 3}), torch::ones({2}, torch::kInt), torch::full({2}, 1.5), torch::arange(3),
            torch::arange(0, 1, 0.5), torch::eye(2, options), torch::empty({0}), torch::tensor({1.5, 2.5}),
            torch::tensor({1, 2}), torch::tensor(3.5, options), torch::linspace(0, 1, 3), torch::zeros_like(torch::ones({2})),
            torch::from_blob(memory, {2, 2}), torch::ones({2}, torch::requires_grad()), torch::tensor({true, false})};
}

// Recorded, and not.
std::vector<bool> recorded(torch::Tensor x) {
    std::vector<bool> seen{(x * 2).requires_grad()};
    {
        torch::NoGradGuard guard;
        seen.push_back((x * 2).requires_grad());
    }
    {
        torch::AutoGradMode guard(false);
        seen.push_back((x * 2).requires_grad());
    }
    seen.push_back((x * 2).requires_grad());
    seen.push_back(x.detach().requires_grad());
    return seen;
}

torch::Tensor gradient_of_squares(torch::Tensor x) {
    auto leaf = x.detach().clone().set_requires_grad(true);
    (leaf * leaf).sum().backward();
    return leaf.grad();
}

std::string described(torch::Tensor x) {
    std::ostringstream text;
    text << x.sizes() << ' ' << x.strides() << ' ' << x.dtype() << ' ' << x.scalar_type() << ' ' << x.device() << ' '
         << x.numel() << ' ' << x.element_size() << ' ' << x.storage_offset() << ' ' << x.is_contiguous() << ' '
         << x.toString() << ' ' << x.is_floating_point() << x.is_cpu() << x.defined() << ' ' << x.nbytes();
    return text.str();
}

double elements_from(double first, std::vector<int64_t> more, std::optional<double> last) {
    for (auto each : more) first += static_cast<double>(each);
    return first + last.value_or(0.5);
}

void keep(torch::Tensor x) {
    static torch::Tensor kept;  // destroyed after Python has ended
    kept = x;
}

torch::Tensor same(torch::Tensor x) { return x; }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.doc() = "What the tests call.";
    m.attr("version") = 3;
    m.def("square", &square, "x * x * factor", py::arg("x"), py::arg("factor") = 1.0);
    m.def("too_few", &too_few);
    m.def("for_a_number", &for_a_number);
    m.def("parts", &parts);
    m.def("of_a_list", &of_a_list);
    m.def("doubled_", &doubled_);
    m.def("fails", &fails);
    m.def("caught", &caught);
    m.def("sum_of", &sum_of);
    m.def("sizes_over_time", &sizes_over_time);
    m.def("arithmetic", &arithmetic);
    m.def("made", &made);
    m.def("recorded", &recorded);
    m.def("gradient_of_squares", &gradient_of_squares, py::call_guard<py::gil_scoped_release>());
    m.def("described", &described);
    m.def("elements_from", &elements_from);
    m.def("keep", &keep);
    m.def("same", &same);
    m.def("warn", [](const std::string& text) { TORCH_WARN("careful: ", text); });
    m.def("chosen", [](int64_t n) { return c10::str("integer ", n); });
    m.def("chosen", [](double n) { return c10::str("float ", n); });
    m.def("pair", [](torch::Tensor x, int64_t n) { return std::make_tuple(x + n, n); });
}
