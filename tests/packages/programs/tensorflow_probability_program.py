"""TensorFlow Probability: densities and seeded samples of distributions, bijectors, chains, optimisers."""

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from checks import check

d, b = tfp.distributions, tfp.bijectors
X = np.array([0.2, 0.7], np.float32)
POINTS = {
    "Normal": d.Normal(0.0, 2.0), "Gamma": d.Gamma(2.0, 3.0), "Beta": d.Beta(2.0, 3.0),
    "StudentT": d.StudentT(3.0, 0.0, 1.0), "Laplace": d.Laplace(0.0, 1.0), "Cauchy": d.Cauchy(0.0, 1.0),
    "Exponential": d.Exponential(2.0), "LogNormal": d.LogNormal(0.0, 1.0), "Uniform": d.Uniform(0.0, 1.0),
    "Weibull": d.Weibull(2.0, 1.0), "Gumbel": d.Gumbel(0.0, 1.0), "HalfNormal": d.HalfNormal(1.0),
    "InverseGamma": d.InverseGamma(2.0, 1.0), "Kumaraswamy": d.Kumaraswamy(2.0, 3.0), "Logistic": d.Logistic(0.0, 1.0),
    "Pareto": d.Pareto(2.0, 0.1), "TruncatedNormal": d.TruncatedNormal(0.0, 1.0, -1.0, 1.0),
    "Triangular": d.Triangular(0.0, 1.0, 0.5), "VonMises": d.VonMises(0.0, 1.0), "Chi2": d.Chi2(3.0),
    "HalfCauchy": d.HalfCauchy(0.0, 1.0), "LogitNormal": d.LogitNormal(0.0, 1.0), "Moyal": d.Moyal(0.0, 1.0),
    "InverseGaussian": d.InverseGaussian(1.0, 2.0),
}  # fmt: skip
COUNTS = {
    "Bernoulli": (d.Bernoulli(probs=0.3), [0.0, 1.0]), "Categorical": (d.Categorical(logits=[0.1, 0.2, 0.3]), [0, 2]),
    "Poisson": (d.Poisson(3.0), [1.0, 4.0]), "Binomial": (d.Binomial(5.0, probs=0.3), [1.0, 4.0]),
    "NegativeBinomial": (d.NegativeBinomial(5.0, probs=0.3), [1.0, 4.0]),
    "Geometric": (d.Geometric(probs=0.3), [1.0, 4.0]),
}  # fmt: skip
VECTORS = {
    "MultivariateNormalTriL": (d.MultivariateNormalTriL([0.0, 1.0], [[1.0, 0.0], [0.5, 2.0]]), [0.3, 0.2]),
    "MultivariateNormalDiag": (d.MultivariateNormalDiag([0.0, 1.0], [1.0, 2.0]), [0.1, 0.2]),
    "Dirichlet": (d.Dirichlet([1.0, 2.0, 3.0]), [0.2, 0.3, 0.5]),
    "Mixture": (d.MixtureSameFamily(d.Categorical(probs=[0.3, 0.7]), d.Normal([0.0, 1.0], [1.0, 2.0])), 0.5),
    "Independent": (d.Independent(d.Normal([0.0, 1.0], 1.0), 1), [0.1, 0.2]),
    "WishartTriL": (d.WishartTriL(3.0, [[1.0, 0.0], [0.5, 1.0]]), [[2.0, 0.3], [0.3, 1.0]]),
}
BIJECTORS = {
    "Exp": b.Exp(), "Sigmoid": b.Sigmoid(), "Softplus": b.Softplus(), "Affine": b.Shift(1.0)(b.Scale(2.0)),
    "Tanh": b.Tanh(), "Softsign": b.Softsign(), "Chain": b.Chain([b.Exp(), b.Scale(2.0)]), "Power": b.Power(2.0),
    "NormalCDF": b.NormalCDF(), "Reciprocal": b.Reciprocal(), "Expm1": b.Expm1(), "Square": b.Square(),
}  # fmt: skip

for name, law in POINTS.items():
    check(f"{name} density", lambda: law.log_prob(X))
    check(f"{name} sample", lambda: law.sample(3, seed=(1, 2)))
    check(f"{name} mean", lambda: law.mean())
for name, (law, values) in {**COUNTS, **VECTORS}.items():
    check(f"{name} density", lambda: law.log_prob(values))
    check(f"{name} sample", lambda: law.sample(3, seed=(1, 2)))
for name, bijector in BIJECTORS.items():
    check(f"{name} forward", lambda: bijector.forward(X))
    check(f"{name} logarithm of the determinant", lambda: bijector.forward_log_det_jacobian(X, 1))
    check(f"{name} back", lambda: bijector.inverse(bijector.forward(X)))


def chain(kernel, state, count):
    return tfp.mcmc.sample_chain(
        count, current_state=state, kernel=kernel, num_burnin_steps=5, trace_fn=None, seed=(1, 2)
    )


def value_and_gradient(x):
    return tfp.math.value_and_gradient(lambda y: tf.reduce_sum((y - 3.0) ** 2), x)


hamiltonian = tfp.mcmc.HamiltonianMonteCarlo(lambda z: -(z**2) / 2, 0.3, 3)
check("HamiltonianMonteCarlo", lambda: chain(hamiltonian, 0.0, 20))
no_u_turn = tfp.mcmc.NoUTurnSampler(lambda z: -tf.reduce_sum(z**2) / 2, 0.3)
check("NoUTurnSampler", lambda: chain(no_u_turn, tf.zeros(2), 5))
walk = tfp.mcmc.RandomWalkMetropolis(lambda z: -(z**2) / 2)
check("RandomWalkMetropolis", lambda: chain(walk, 0.0, 20))
check("lbfgs_minimize", lambda: tfp.optimizer.lbfgs_minimize(value_and_gradient, tf.zeros(2)).position)
check("bfgs_minimize", lambda: tfp.optimizer.bfgs_minimize(value_and_gradient, tf.zeros(2)).position)
check("kl_divergence", lambda: d.kl_divergence(d.Normal(0.0, 1.0), d.Normal(1.0, 2.0)))


def gradient_of_samples():
    with tf.GradientTape() as tape:
        shape = tf.Variable(2.0)
        total = tf.reduce_sum(d.Gamma(shape, 3.0).sample(4, seed=(1, 2)))
    return tape.gradient(total, shape)


check("gradient of samples", gradient_of_samples)
