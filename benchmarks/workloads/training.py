"""Training steps that the workloads share: Adam and cross entropy, in TensorFlow's words and in PyTorch's."""

_RATE, _EPSILON = 1e-3, 1e-7


class Jit:
    """Whether `tf.function` gets `jit_compile=True`, which all.py reports in a column of its own."""

    enabled = False


def function(tf, python_function):
    """`tf.function`, as users call it."""
    return tf.function(python_function, jit_compile=True) if Jit.enabled else tf.function(python_function)


def keras_step(tf, model, x, y, loss_of=None, eager=False, rate=_RATE):
    """A call that does one step of training of a Keras model, in a loop of one's own."""
    optimizer = tf.keras.optimizers.Adam(rate, epsilon=_EPSILON)
    loss_of = loss_of or tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer.build(model.trainable_variables)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    run = step if eager else function(tf, step)
    x, y = tf.constant(x), tf.constant(y)
    return lambda: float(run(x, y))


def torch_step(torch, forward, parameters, compiled, rate=_RATE):
    """A call that does one step of training: `forward()` is the loss. The optimizer is PyTorch's fused one."""
    optimizer = torch.optim.Adam(parameters, rate, eps=_EPSILON, fused=True)
    forward = compiled(forward)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = forward()
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


class Adam:
    """Adam, written with ops, for variables without Keras."""

    def __init__(self, tf, variables):
        self.tf = tf
        self.variables = variables
        self.m = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.v = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.t = tf.Variable(0.0)

    def apply(self, gradients):
        tf = self.tf
        self.t.assign_add(1.0)
        rate = _RATE * tf.sqrt(1 - tf.pow(0.999, self.t)) / (1 - tf.pow(0.9, self.t))
        for variable, m, v, gradient in zip(self.variables, self.m, self.v, gradients):
            if isinstance(gradient, tf.IndexedSlices):
                gradient = tf.convert_to_tensor(gradient)
            m.assign_add((gradient - m) * 0.1)
            v.assign_add((tf.square(gradient) - v) * 0.001)
            variable.assign_sub(rate * m / (tf.sqrt(v) + _EPSILON))
