"""GPflow: regressions with exact and sparse Gaussian processes."""

import gpflow
import numpy as np
import tensorflow as tf
from checks import check

rng = np.random.default_rng(1)
X = rng.random((20, 1))
Y = np.sin(6 * X) + 0.1 * rng.standard_normal((20, 1))
NEW = np.linspace(0, 1, 5)[:, None]


def regression(kernel):
    model = gpflow.models.GPR((X, Y), kernel=kernel, noise_variance=0.01)
    before = model.log_marginal_likelihood()
    gpflow.optimizers.Scipy().minimize(model.training_loss, model.trainable_variables, options={"maxiter": 20})
    mean, variance = model.predict_f(NEW)
    return {"before": before, "after": model.log_marginal_likelihood(), "mean": mean, "variance": variance}


def sparse():
    model = gpflow.models.SVGP(gpflow.kernels.Matern52(), gpflow.likelihoods.Gaussian(), X[:5].copy(), num_data=20)
    optimizer = tf.optimizers.Adam(0.05)
    loss = model.training_loss_closure((X, Y), compile=True)
    losses = []
    for _ in range(10):
        with tf.GradientTape() as tape:
            value = loss()
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(value, variables), variables))
        losses.append(value)
    return losses


for name, kernel in {
    "SquaredExponential": gpflow.kernels.SquaredExponential(), "Matern32": gpflow.kernels.Matern32(),
    "sum": gpflow.kernels.RBF() + gpflow.kernels.Linear(), "Periodic": gpflow.kernels.Periodic(gpflow.kernels.RBF()),
}.items():  # fmt: skip
    check(f"regression: {name}", lambda: regression(kernel))
check("sparse: Adam", sparse)
check("sparse regression", lambda: gpflow.models.SGPR((X, Y), gpflow.kernels.RBF(), X[:6].copy()).elbo())
signs = (X, (Y > 0).astype(float))
check("variational", lambda: gpflow.models.VGP(signs, gpflow.kernels.RBF(), gpflow.likelihoods.Bernoulli()).elbo())
check("parameters", lambda: sorted(gpflow.utilities.parameter_dict(gpflow.models.GPR((X, Y), gpflow.kernels.RBF()))))
