// The same as torch/extension.h, under another of the names that programs include.
#pragma once

#include <torch/extension.h>
