// What is in the namespaces at and torch?
//
// Mirrors: ATen/ATen.h, torch/types.h
// Differs: see the headers.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/Functions.h>

namespace at {
using namespace c10;
}
namespace torch {
using namespace at;
}
