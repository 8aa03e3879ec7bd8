// What does C++ code of a program include, to add operators and functions?
//
// Reading order: glasstorch/abi.h (what passes between the languages), c10/util/Exception.h (refusals), c10/util/Half.h,
// c10/util/ArrayRef.h, c10/core/ScalarType.h, c10/core/TensorOptions.h, c10/core/Scalar.h, ATen/core/TensorAccessor.h,
// ATen/core/TensorBase.h and ATen/core/Tensor.h (a tensor as C++ holds it), ATen/core/ivalue.h (any value),
// glasstorch/bridge.h (a call each way), ATen/Functions.h (the operators), ATen/Dispatch.h (a type for a template),
// torch/library.h (declarations and kernels), torch/autograd.h (a backward), pybind11/pybind11.h (a module).
//
// Mirrors: torch/extension.h
// Differs: a subset, without Python's own headers; decisions/0047 says which.
#pragma once

#include <ATen/ATen.h>

#include <pybind11/pybind11.h>
#include <torch/autograd.h>
#include <torch/library.h>
