"""What a program of the interoperability proof is, and the list of all of them.

A program runs unchanged on TensorFlow and on headrace: it takes the framework as `tf`. What it builds is trained a
little, saved by one framework, loaded by the other, compared, and trained on.
"""

import numpy as np

PROGRAMS = {}


class Program:
    """One program. Subclasses say what differs from the usual: an object with functions `predict` and `step`."""

    name = ""
    has_functions = True  # it is saved as a SavedModel too
    has_signature = True  # of `predict`
    trains = True
    warm_up = 3  # steps before saving
    is_whole_there = True  # TensorFlow leaves nothing out of the checkpoint
    loads_there = True  # TensorFlow can load what headrace saved
    consumed = True  # everything in the checkpoint has a place in a fresh object
    rtol, atol = 1e-5, 1e-6
    shape = (3, 4)  # of the input, with the batch
    dtype = "float32"
    reason = ""  # why `rtol` is not the usual, or what is left out

    def build(self, tf):
        """A fresh object with variables that depend on the random seed."""
        raise NotImplementedError

    def inputs(self, tf, seed=0):
        """The arguments of `predict`."""
        return (numbers(self.shape, seed, self.dtype),)

    def outputs(self, tf, obj):
        """What the object computes, without changing it: a nest of tensors."""
        return obj.predict(*self.inputs(tf))

    def train(self, tf, obj, step):
        """One step with the data of that step; the loss, or whatever the step returns."""
        return obj.step(*self.inputs(tf, step + 1))

    def checkpoint(self, tf, obj):
        return tf.train.Checkpoint(obj=obj)

    def signatures(self, tf, obj):
        """What `tf.saved_model.save` gets as `signatures`."""
        return obj.predict if self.has_signature else None

    def save_model(self, tf, obj, folder):
        tf.saved_model.save(obj, folder, signatures=self.signatures(tf, obj))

    def load_model(self, tf, folder):
        return tf.saved_model.load(folder)

    def call_signatures(self, tf, loaded):
        """The outputs of each signature, called with the arguments that it names."""
        values = self.inputs(tf)
        outputs = {}
        for name in sorted(loaded.signatures) if self.has_signature else ():
            function = loaded.signatures[name]
            specs = function.structured_input_signature[1]
            arguments = dict(zip(sorted(specs), values, strict=True))
            outputs[name] = function(**{key: tf.constant(value, specs[key].dtype) for key, value in arguments.items()})
        return outputs


def program(cls):
    """Puts a program, an instance of this class, on the list; its name is the class's in small letters."""
    instance = cls()
    instance.name = instance.name or "".join("_" + c.lower() if c.isupper() else c for c in cls.__name__).lstrip("_")
    return add(instance)


def add(instance):
    if instance.name in PROGRAMS:
        raise ValueError(f"two programs are called {instance.name}")
    PROGRAMS[instance.name] = instance
    return instance


def numbers(shape, seed=0, dtype="float32"):
    """Numbers that are the same everywhere: of a bell curve, or small non-negative integers."""
    source = np.random.RandomState(seed)
    if np.dtype(dtype).kind in "iu":
        return source.randint(0, 7, shape).astype(dtype)
    return source.standard_normal(shape).astype(dtype)


def dynamic(shape):
    """The shape with an unknown batch."""
    return [None, *shape[1:]]


def seeds_of(model):
    """The states of Keras's random layers: it does not track them, and a saved function could not draw from them."""
    return [x for x in model.variables if "seed_generator" in getattr(x, "path", "")]


def trainer(tf, model, spec, optimizer=None, loss=None):
    """A module with a Keras model (or any callable with variables), an optimizer, `predict` and `step`."""

    def distance(outputs):
        return sum(tf.reduce_mean(tf.square(tf.cast(y, tf.float64) - 0.3)) for y in tf.nest.flatten(outputs))

    class Trainer(tf.Module):
        def __init__(self):
            super().__init__()
            self.model = model
            self.optimizer = optimizer
            self.seeds = seeds_of(model)
            optimizer.build(model.trainable_variables)

        @tf.function(input_signature=[spec])
        def predict(self, x):
            return self.model(x, training=False)

        @tf.function(input_signature=[spec])
        def step(self, x):
            with tf.GradientTape() as tape:
                value = (loss or distance)(self.model(x, training=True))
                scaled = self.optimizer.scale_loss(value)
            variables = self.model.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(scaled, variables), variables))
            return value

    return Trainer()
