"""Programs with Keras's preprocessing layers, adapted before saving, in a module with a function."""

import numpy as np
from catalog import PROGRAMS, Program, add, dynamic, numbers, program, seeds_of

WORDS = np.array([b"red", b"green", b"blue", b"red", b"blue", b"red"], object)
TEXT = np.array([b"the cat sat", b"On the MAT, today!", b"a dog", b""], object)


class Preprocessing(Program):
    """`layers` makes the layers, adapted; `run` uses them."""

    trains = False

    def __init__(self, name, value, make, **settings):
        self.name, self.value, self.make = name, value, make
        vars(self).update(settings)

    def inputs(self, tf, seed=0):
        return (self.value,)

    def build(self, tf):
        obj = tf.Module()
        obj.layers, run = self.make(tf.keras.layers)
        dtype = tf.string if self.value.dtype == object else self.value.dtype

        @tf.function(input_signature=[tf.TensorSpec(dynamic(self.value.shape), dtype, name="x")])
        def predict(x):
            return run(x)

        obj.predict = predict
        return obj


def adapted(layer, data):
    layer.adapt(data)
    return layer


def one(layer):
    return [layer], lambda x: layer(x)


TABLE = [
    ("normalization", numbers([5, 3]), lambda k: one(adapted(k.Normalization(), numbers([20, 3], 3) * 4 + 2))),
    ("discretization", numbers([5, 3]), lambda k: one(adapted(k.Discretization(num_bins=4), numbers([50], 3)))),
    (
        "rescaling",
        numbers([2, 6, 6, 3]),
        lambda k: (
            layers := [k.Rescaling(0.5, 1.0), k.Resizing(4, 5), k.CenterCrop(3, 3)],
            lambda x: layers[2](layers[1](layers[0](x))),
        ),
    ),
    (
        "category_encoding",
        numbers([5, 3], 0, "int64"),
        lambda k: (
            layers := [k.CategoryEncoding(9, output_mode=m) for m in ("multi_hot", "count")],
            lambda x: [f(x) for f in layers],
        ),
    ),
    (
        "hashing",
        WORDS,
        lambda k: (layers := [k.Hashing(5), k.Hashing(7, salt=[1, 2])], lambda x: [f(x) for f in layers]),
    ),
    ("hashed_crossing", WORDS, lambda k: (layers := [k.HashedCrossing(6)], lambda x: layers[0]((x, x)))),
    (
        "string_lookup",
        WORDS,
        lambda k: (
            layers := [
                adapted(k.StringLookup(num_oov_indices=2), WORDS[:4]),
                k.StringLookup(vocabulary=["red", "blue"]),
                k.StringLookup(vocabulary=["red", "blue"], output_mode="multi_hot"),
            ],
            lambda x: [f(x) for f in layers],
        ),
    ),
    (
        "string_lookup_back",
        np.array([0, 1, 2, 3], "int64"),
        lambda k: (layers := [k.StringLookup(vocabulary=["red", "blue"], invert=True)], lambda x: layers[0](x)),
    ),
    (
        "integer_lookup",
        np.array([5, 7, 9, 5], "int64"),
        lambda k: (
            layers := [
                adapted(k.IntegerLookup(), np.array([7, 7, 9, 11])),
                k.IntegerLookup(vocabulary=[5, 9], output_mode="one_hot"),
            ],
            lambda x: [f(x) for f in layers],
        ),
    ),
    (
        "text_vectorization",
        TEXT,
        lambda k: (
            layers := [adapted(k.TextVectorization(max_tokens=8, output_sequence_length=5), TEXT)],
            lambda x: layers[0](x),
        ),
    ),
    (
        "text_vectorization_counts",
        TEXT,
        lambda k: (
            layers := [
                adapted(k.TextVectorization(output_mode="tf_idf", ngrams=2), TEXT),
                adapted(k.TextVectorization(output_mode="count", split="character"), TEXT),
            ],
            lambda x: [f(x) for f in layers],
        ),
    ),
    (
        "spectrogram",
        numbers([2, 64]),
        lambda k: one(
            k.MelSpectrogram(
                num_mel_bins=8, fft_length=16, sequence_stride=8, sampling_rate=1000, min_freq=10, max_freq=400
            )
        ),
    ),
]
for line in TABLE:
    add(Preprocessing(*line))
PROGRAMS["spectrogram"].rtol = 1e-4
PROGRAMS["spectrogram"].reason = "logarithms of sums that nearly cancel"


@program
class Augmentation(Program):
    """Random layers: their seeds are state that is saved."""

    shape = (2, 6, 6, 3)

    def build(self, tf):
        k = tf.keras.layers
        model = tf.keras.Sequential(
            [
                tf.keras.Input((6, 6, 3)),
                k.RandomFlip(seed=1),
                k.RandomTranslation(0.2, 0.2, seed=2),
                k.RandomRotation(0.1, seed=3),
                k.RandomZoom(0.2, seed=4),
                k.RandomContrast(0.3, seed=5),
                k.RandomBrightness(0.2, value_range=(0, 1), seed=6),
                k.RandomCrop(4, 4, seed=7),
            ]
        )

        class Root(tf.Module):
            def __init__(self):
                super().__init__()
                self.model = model
                self.seeds = seeds_of(model)

            @tf.function(input_signature=[tf.TensorSpec([None, 6, 6, 3])])
            def predict(self, x):
                return self.model(x, training=False)

            @tf.function(input_signature=[tf.TensorSpec([None, 6, 6, 3])])
            def step(self, x):
                return self.model(x, training=True)

        return Root()

    def inputs(self, tf, seed=0):
        return (np.abs(numbers(self.shape, seed)) % 1.0,)


@program
class TextClassifier(Program):
    """From strings to a trained score, in one model."""

    def build(self, tf):
        k = tf.keras.layers
        vectorize = adapted(k.TextVectorization(max_tokens=12, output_sequence_length=4), TEXT)
        model = tf.keras.Sequential(
            [tf.keras.Input((), dtype="string"), vectorize, k.Embedding(12, 3), k.GlobalAveragePooling1D(), k.Dense(1)]
        )
        optimizer = tf.keras.optimizers.Adam(0.05)
        optimizer.build(model.trainable_variables)

        class Root(tf.Module):
            def __init__(self):
                super().__init__()
                self.model, self.optimizer = model, optimizer

            @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")])
            def predict(self, text):
                return self.model(text)

            @tf.function(input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec([None, 1])])
            def step(self, text, truth):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(self.model(text, training=True) - truth))
                variables = self.model.trainable_variables
                self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
                return loss

        return Root()

    def inputs(self, tf, seed=0):
        return (TEXT,) if seed == 0 else (TEXT, numbers([4, 1], seed))
