"""Distributions of 1.x as expressions over `D`, `tf` and `np`, eagerly.

    python tests/compat/record_distributions.py    # with TensorFlow; writes tests/golden/compat_distributions.json
"""

import numpy as np

# How each kind is made, values to ask about, and what it has.
KINDS = {
    "Normal(1.0, [0.5, 2.0])": ("[[0.0], [1.5]]", "log_prob prob cdf log_cdf survival_function log_survival_function"),
    "Normal(np.float64(0.0), np.float64(1.0))": ("[-30.0, -5.0, 8.0]", "log_cdf log_survival_function"),
    "Normal([0.0], 1.0, True)": ("[0.1, 0.9]", "quantile prob"),
    "Uniform([0.0, 1.0], 3.0)": ("[[-1.0], [2.0], [3.0]]", "log_prob prob cdf survival_function"),
    "Uniform(2.0, 3.0, validate_args=True)": ("[0.25, 2.5]", "prob cdf"),
    "Laplace([0.0, 1.0], 2.0)": ("[[-1.0], [2.0]]", "log_prob prob cdf log_cdf log_survival_function"),
    "Gamma([0.5, 3.0], 2.0)": ("[[0.5], [2.0]]", "log_prob prob cdf"),
    "Exponential([0.5, 3.0])": ("[[0.5], [2.0]]", "log_prob cdf survival_function"),
    "StudentT([0.5, 1.5, 3.0], 1.0, 2.0)": ("[-0.5, 2.0, 1.0]", "log_prob prob cdf"),
    "Beta([0.5, 2.0, 3.0], [1.5, 1.0, 2.0])": ("[0.25, 0.75, 0.5]", "log_prob prob cdf"),
    "Dirichlet([1.5, 2.0, 3.0])": ("[0.2, 0.3, 0.5]", "log_prob prob"),
    "Bernoulli(logits=[0.5, -1.0])": ("[[0], [1]]", "log_prob prob"),
    "Bernoulli(probs=[0.25, 0.5], dtype=tf.float32)": ("[0.0, 1.0]", "prob"),
    "Categorical(logits=[[0.5, -1.0, 1.0], [0.0, 0.0, 2.0]])": ("[[0, 1], [2, 2]]", "log_prob prob cdf"),
    "Categorical(probs=[0.25, 0.5, 0.25])": ("[0, 1, 2]", "prob cdf"),
    "Multinomial([4.0, 3.0], probs=[0.2, 0.3, 0.5])": ("[[1.0, 1.0, 2.0], [3.0, 0.0, 0.0]]", "log_prob prob"),
    "Multinomial(2.0, logits=[[0.0, 1.0], [1.0, 1.0]])": ("[1.0, 1.0]", "log_prob"),
    "DirichletMultinomial(4.0, [[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]])": ("[1.0, 1.0, 2.0]", "log_prob prob"),
}
STATISTICS = ("mean", "mode", "variance", "stddev", "entropy", "covariance")
PAIRS = ["Normal([0.0, 1.0], 2.0)|Normal(1.0, 3.0)", "Uniform(1.0, [2.0, 4.0])|Uniform(0.0, 3.0)",
         "Gamma(2.0, 3.0)|Gamma([1.0, 4.0], 2.0)", "Beta(2.0, 3.0)|Beta([1.0, 4.0], 2.0)",
         "Dirichlet([1.0, 2.0])|Dirichlet([3.0, 2.5])", "Bernoulli(probs=0.2)|Bernoulli(probs=[0.4, 0.6])",
         "Categorical(probs=[0.2, 0.8])|Categorical(logits=[1.0, 3.0])", "Normal(0.0, 1.0)|Beta(1.0, 1.0)",
         "Exponential(2.0)|Gamma(2.0, 2.0)"]  # fmt: skip


def plain(value):
    """A tensor as JSON."""
    array = np.asarray(value)
    return np.round(array.astype(np.float64), 5).tolist() if array.dtype.kind == "f" else array.tolist()


def attempt(call):
    """What a call gives, or the class of its error."""
    try:
        return plain(call())
    except Exception as error:
        return type(error).__name__


def outcome(tf, made, value, functions):
    """All that there is to know about a distribution."""
    D = tf.compat.v1.distributions
    tf.random.set_seed(5)
    one = eval(f"D.{made}", {"D": D, "tf": tf, "np": np})
    value = np.asarray(eval(value), one.dtype.as_numpy_dtype)
    found = {name: attempt(lambda name=name: getattr(one, name)(value)) for name in functions.split()}
    found.update({name: attempt(getattr(one, name)) for name in STATISTICS})
    sample = one.sample([2, 3], seed=7)
    found["shapes"] = [one.batch_shape.as_list(), one.event_shape.as_list(), sample.shape.as_list(),
                       one.batch_shape_tensor().numpy().tolist(), one.event_shape_tensor().numpy().tolist()]
    found["about"] = [str(one), one.dtype.name, repr(one.reparameterization_type), sample.dtype.name]
    # Counts are drawn in another order of random numbers.
    found["sample"] = None if "Multinomial" in made else plain(sample)
    return found


def divergence(tf, pair):
    """The divergences and cross entropy of a pair."""
    D = tf.compat.v1.distributions
    a, b = (eval(f"D.{made}", {"D": D}) for made in pair.split("|"))
    return [attempt(lambda: D.kl_divergence(a, b)), attempt(lambda: a.kl_divergence(b)),
            attempt(lambda: a.cross_entropy(b))]  # fmt: skip
