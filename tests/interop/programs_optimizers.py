"""Programs with every optimizer, saved in the middle of a training."""

from catalog import Program, add, program, trainer
from programs_layers import Layers

TABLE = {
    "sgd": lambda o: o.SGD(0.1),
    "sgd_momentum": lambda o: o.SGD(0.05, momentum=0.9, nesterov=True),
    "adam": lambda o: o.Adam(0.01),
    "adam_amsgrad": lambda o: o.Adam(0.01, amsgrad=True, epsilon=1e-4),
    "adamw": lambda o: o.AdamW(0.01, weight_decay=0.02),
    "adamax": lambda o: o.Adamax(0.01),
    "nadam": lambda o: o.Nadam(0.01),
    "rmsprop": lambda o: o.RMSprop(0.01),
    "rmsprop_centered": lambda o: o.RMSprop(0.01, momentum=0.5, centered=True),
    "adagrad": lambda o: o.Adagrad(0.1),
    "adadelta": lambda o: o.Adadelta(1.0),
    "ftrl": lambda o: o.Ftrl(0.1, l1_regularization_strength=0.001, l2_regularization_strength=0.01),
    "lion": lambda o: o.Lion(0.01),
    "adafactor": lambda o: o.Adafactor(0.05),
    "lamb": lambda o: o.Lamb(0.01),
    "muon": lambda o: o.Muon(0.01),
    "ema": lambda o: o.Adam(0.01, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=4),
    "decay_and_clips": lambda o: o.SGD(0.05, momentum=0.5, weight_decay=0.01, global_clipnorm=0.5),
    "accumulation": lambda o: o.Adam(0.01, gradient_accumulation_steps=3),
    "schedule": lambda o: o.SGD(o.schedules.ExponentialDecay(0.1, 4, 0.5), momentum=0.9),
    "schedule_cosine": lambda o: o.Adam(o.schedules.CosineDecay(0.02, 20, warmup_target=0.05, warmup_steps=5)),
    "loss_scale": lambda o: o.LossScaleOptimizer(o.Adam(0.01), initial_scale=8.0, dynamic_growth_steps=4),
}


class Optimized(Layers):
    """In double precision: an optimizer that divides by a small root makes rounding errors of floats visible."""

    def __init__(self, name, optimizer):
        # Keras's Muon mixes float32 into it.
        super().__init__(f"optimizer_{name}", (6, 4), None, dtype="float32" if name == "muon" else "float64")
        self.chosen = optimizer
        self.has_functions = name in ("adam", "sgd_momentum", "loss_scale", "schedule", "ema", "ftrl")

    def model(self, tf):
        k = tf.keras.layers
        layers = [k.Dense(5, "tanh", dtype=self.dtype), k.Dense(3, dtype=self.dtype)]
        return tf.keras.Sequential([tf.keras.Input((4,), dtype=self.dtype), *layers])

    def optimizer(self, tf):
        return self.chosen(tf.keras.optimizers)


for name, optimizer in TABLE.items():
    add(Optimized(name, optimizer))


@program
class OptimizerOfPlainVariables(Program):
    """A Keras optimizer for variables of a module."""

    def build(self, tf):
        class Line(tf.Module):
            def __init__(self):
                super().__init__()
                self.w = tf.Variable(tf.random.normal([4, 2]))
                self.b = tf.Variable(tf.zeros([2]))

            def __call__(self, x, training=None):
                return tf.matmul(x, self.w) + self.b

        return trainer(tf, Line(), tf.TensorSpec([None, 4]), tf.keras.optimizers.Adam(0.05))


@program
class OptimizerAndModelApart(Program):
    """`Checkpoint(model=, optimizer=)`, the form of the guides, with a step counter."""

    has_functions = False

    def build(self, tf):
        k = tf.keras.layers
        model = tf.keras.Sequential([tf.keras.Input((4,)), k.Dense(3, "relu"), k.Dense(1)])
        optimizer = tf.keras.optimizers.Adam(0.05)
        optimizer.build(model.trainable_variables)
        return tf.train.Checkpoint(step=tf.Variable(1), optimizer=optimizer, model=model)

    def checkpoint(self, tf, obj):
        return obj

    def outputs(self, tf, obj):
        return obj.model(self.inputs(tf)[0]), obj.step.read_value()

    def train(self, tf, obj, step):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(obj.model(self.inputs(tf, step)[0]) - 1.0))
        variables = obj.model.trainable_variables
        obj.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        obj.step.assign_add(1)
        return loss
