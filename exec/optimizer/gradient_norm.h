#pragma once

// Clipping by the norm of all gradients together (Pascanu et al. 2013). Sums have one order, which depends on shape alone:
// within a parameter here, then over the parameters in declaration order, whichever stage or rank holds them.

#include <cstddef>
#include <span>

namespace penstock {

// Σ g[i]², in double. Lane l of 8 adds the elements l, l + 8, l + 16, … in that order; then the lanes are folded in halves.
double squared_norm(const float* gradient, std::size_t elements);

// √ of the sum from the first to the last.
double global_norm(std::span<const double> squares);

// What every gradient is multiplied with: min(1, clip/(norm + 1e-6)).
float clip_factor(double norm, double clip);

// g ← factor·g, elementwise; nothing is touched where the factor is 1.
void scale_gradient(float factor, std::size_t elements, float* gradient);

}  // namespace penstock
