"""How a gamma-distributed sample changes with the distribution's shape parameter.

Implicit reparameterisation (Figurnov et al., "Implicit reparameterization gradients", 2018): a sample x is
kept at the same quantile, so dx/da = -(dP/da) / p, with P(a, x) the regularised incomplete gamma function and
p its density.
"""

from __future__ import annotations

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.lazy import jax, jnp, scipy_special
from headrace._src.op.definition import Op, unregistered
from headrace._src.op.infer import broadcast
from headrace._src.op.traits import ELEMENTWISE

_STEPS = 2000


def gamma_sample_derivative(alpha: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """dx/da of samples x of the gamma distribution with parameter a, in float64; the arguments broadcast."""
    a, x = (np.array(part) for part in np.broadcast_arrays(alpha, sample))
    a, x = a.astype(np.float64), x.astype(np.float64)
    result = np.full(a.shape, np.nan)
    result[x == 0.0] = 0.0
    valid = (x > 0.0) & (a > 0.0) & np.isfinite(a) & np.isfinite(x)
    tail = valid & (x > 1.0) & (x > a)
    series = valid & ~tail
    if series.any():
        result[series] = _by_series(a[series], x[series])
    if tail.any():
        result[tail] = _by_continued_fraction(a[tail], x[tail])
    return result


def _by_series(a, x):
    # P = x**a e**-x / Gamma(a + 1) * sum, and the sum's terms are products of x / (a + n).
    denominator = a.copy()
    term, total = np.ones_like(a), np.ones_like(a)
    term_slope, total_slope = np.zeros_like(a), np.zeros_like(a)
    for _ in range(_STEPS):
        denominator += 1.0
        factor = x / denominator
        term_slope = factor * term_slope - factor / denominator * term
        term *= factor
        total += term
        total_slope += term_slope
        if (np.abs(term_slope) <= 1e-17 * np.abs(total_slope)).all():
            break
    log_slope = np.log(x) - scipy_special.digamma(a + 1.0)
    return -(total_slope + total * log_slope) * x / a


def _by_continued_fraction(a, x):
    # 1 - P = x**a e**-x / Gamma(a) * fraction; numerators and denominators of the convergents, and their
    # slopes with a, by recurrence.
    y = 1.0 - a
    z = x + y + 1.0
    previous = [np.ones_like(a), x.copy(), np.zeros_like(a), np.zeros_like(a)]
    current = [x + 1.0, z * x, np.zeros_like(a), -x]
    fraction = current[0] / current[1]
    slope = (current[2] - fraction * current[3]) / current[1]
    for step in range(1, _STEPS):
        y = y + 1.0
        z = z + 2.0
        yc = y * step
        following = [
            current[0] * z - previous[0] * yc,
            current[1] * z - previous[1] * yc,
            current[2] * z - current[0] - previous[2] * yc + previous[0] * step,
            current[3] * z - current[1] - previous[3] * yc + previous[1] * step,
        ]
        before = slope
        usable = following[1] != 0.0
        fraction = np.where(usable, following[0] / following[1], fraction)
        slope = np.where(usable, (following[2] - fraction * following[3]) / following[1], slope)
        previous, current = current, following
        if (np.abs(slope - before) <= 1e-15 * np.abs(slope)).all():
            break
        large = np.abs(current[0]) > 2.0**52
        if large.any():
            shrink = np.where(large, 2.0**-52, 1.0)
            previous = [part * shrink for part in previous]
            current = [part * shrink for part in current]
    log_slope = np.log(x) - scipy_special.digamma(a)
    return (slope + fraction * log_slope) * x


def _lower_derivative(ctx, alpha, sample):
    wide = alpha.dtype if alpha.dtype == np.float64 else jnp.float32
    alpha, sample = jnp.broadcast_arrays(alpha.astype(wide), sample.astype(wide))
    return jax.lax.random_gamma_grad(alpha, sample)


RANDOM_GAMMA_GRAD = Op(
    "RandomGammaGrad",
    "alpha: T, sample: T -> output: T",
    traits=ELEMENTWISE,
    T=frozenset({dtypes.float16, dtypes.float32, dtypes.float64}),
    infer=broadcast,
    kernel=lambda alpha, sample: gamma_sample_derivative(alpha, sample).astype(alpha.dtype),
    lower=lambda ctx, alpha, sample: _lower_derivative(ctx, alpha, sample).astype(alpha.dtype),
    grad=unregistered,  # TF: the derivative has no derivative
)
