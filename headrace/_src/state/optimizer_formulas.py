"""How the fused optimizer ops of TensorFlow change a variable and its slots, element by element.

Each formula takes the module of arrays (NumPy or jax.numpy), the values of the variable and its slots, and the other
inputs by name; it gives the new values in the same order.
"""


def gradient_descent(xp, var, alpha, delta):
    return (var - alpha * delta,)


def proximal_gradient_descent(xp, var, alpha, l1, l2, grad):
    return (_shrunk(xp, var - alpha * grad, alpha, l1, l2),)


def _shrunk(xp, stepped, rate, l1, l2):
    """What both penalties leave of a value."""
    shrunk = xp.sign(stepped) * xp.maximum(xp.abs(stepped) - rate * l1, 0)
    return xp.where(l1 > 0, shrunk, stepped) / (1 + l2 * rate)


def momentum(xp, var, accum, lr, grad, momentum, use_nesterov):
    accum = accum * momentum + grad
    if use_nesterov:
        return var - grad * lr - accum * momentum * lr, accum
    return var - accum * lr, accum


def keras_momentum(xp, var, accum, lr, grad, momentum, use_nesterov):
    accum = accum * momentum - grad * lr
    if use_nesterov:
        return var + accum * momentum - grad * lr, accum
    return var + accum, accum


def adagrad(xp, var, accum, lr, grad, update_slots):
    if update_slots:
        accum = accum + grad * grad
    return var - grad * lr / xp.sqrt(accum), accum


def adagrad_with_epsilon(xp, var, accum, lr, epsilon, grad, update_slots):
    if update_slots:
        accum = accum + grad * grad
    return var - grad * lr / (xp.sqrt(accum) + epsilon), accum


def proximal_adagrad(xp, var, accum, lr, l1, l2, grad):
    accum = accum + grad * grad
    rate = lr / xp.sqrt(accum)
    return _shrunk(xp, var - grad * rate, rate, l1, l2), accum


def adagrad_dual_averaging(
    xp, var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step
):
    step = global_step.astype(var.dtype)
    total = gradient_accumulator + grad
    squares = gradient_squared_accumulator + grad * grad
    shrunk = xp.sign(total) * xp.maximum(xp.abs(total) - l1 * step, 0)
    value = -lr * xp.where(l1 > 0, shrunk, total) / (l2 * step * lr + xp.sqrt(squares))
    return value, total, squares


def adadelta(xp, var, accum, accum_update, lr, rho, epsilon, grad):
    accum = accum * rho + grad * grad * (1 - rho)
    update = xp.sqrt(accum_update + epsilon) / xp.sqrt(accum + epsilon) * grad
    accum_update = accum_update * rho + update * update * (1 - rho)
    return var - update * lr, accum, accum_update


def adam(xp, var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, use_nesterov):
    alpha = lr * xp.sqrt(1 - beta2_power) / (1 - beta1_power)
    m = m + (grad - m) * (1 - beta1)
    v = v + (grad * grad - v) * (1 - beta2)
    step = grad * (1 - beta1) + beta1 * m if use_nesterov else m
    return var - step * alpha / (xp.sqrt(v) + epsilon), m, v


def adam_with_amsgrad(xp, var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad):
    alpha = lr * xp.sqrt(1 - beta2_power) / (1 - beta1_power)
    m = m + (grad - m) * (1 - beta1)
    v = v + (grad * grad - v) * (1 - beta2)
    vhat = xp.maximum(vhat, v)
    return var - m * alpha / (xp.sqrt(vhat) + epsilon), m, v, vhat


def adamax(xp, var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad):
    m = m + (grad - m) * (1 - beta1)
    v = xp.maximum(beta2 * v, xp.abs(grad))
    return var - lr / (1 - beta1_power) * (m / (v + epsilon)), m, v


def rms_prop(xp, var, ms, mom, lr, rho, momentum, epsilon, grad):
    ms = ms + (grad * grad - ms) * (1 - rho)
    mom = mom * momentum + grad * lr / xp.sqrt(ms + epsilon)
    return var - mom, ms, mom


def centered_rms_prop(xp, var, mg, ms, mom, lr, rho, momentum, epsilon, grad):
    ms = ms + (grad * grad - ms) * (1 - rho)
    mg = mg + (grad - mg) * (1 - rho)
    mom = mom * momentum + grad * lr / xp.sqrt(ms - mg * mg + epsilon)
    return var - mom, mg, ms, mom


def ftrl(xp, var, accum, linear, grad, lr, l1, l2, lr_power, multiply_linear_by_lr):
    return _ftrl(xp, var, accum, linear, grad, grad, lr, l1, l2, lr_power, multiply_linear_by_lr)


def ftrl_with_shrinkage(xp, var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power, multiply_linear_by_lr):
    shrunk = grad + 2 * l2_shrinkage * var
    return _ftrl(xp, var, accum, linear, grad, shrunk, lr, l1, l2, lr_power, multiply_linear_by_lr)


def _ftrl(xp, var, accum, linear, grad, shrunk, lr, l1, l2, lr_power, multiplied):
    after = accum + grad * grad
    power, power_after = xp.power(accum, -lr_power), xp.power(after, -lr_power)
    if multiplied:
        linear = linear + shrunk * lr - (power_after - power) * var
        limit, quadratic = l1 * lr, power_after + 2 * l2 * lr
    else:
        linear = linear + shrunk - (power_after - power) / lr * var
        limit, quadratic = l1, power_after / lr + 2 * l2
    value = (limit * xp.sign(linear) - linear) / quadratic
    return xp.where(xp.abs(linear) > limit, value, xp.zeros_like(value)), after, linear


def add_sign(xp, var, m, lr, alpha, sign_decay, beta, grad):
    m = m * beta + grad * (1 - beta)
    agreement = xp.sign(grad) * xp.sign(m)
    return var - lr * (alpha + sign_decay * agreement) * grad, m


def power_sign(xp, var, m, lr, logbase, sign_decay, beta, grad):
    m = m * beta + grad * (1 - beta)
    agreement = xp.sign(grad) * xp.sign(m)
    return var - lr * xp.exp(logbase * sign_decay * agreement) * grad, m
