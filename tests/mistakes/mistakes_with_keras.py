"""Typical mistakes with Keras. See test_mistakes.py."""

MISTAKES: dict[str, tuple[str, list[str]]] = {
    "fit_without_compile": ("""
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.fit(np.zeros((8, 4)), np.zeros(8))  #!
""", ["compile()", "model.compile('adam', 'mse')"]),
    "labels_out_of_range": ("""
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(np.zeros((8, 4)), np.full(8, 7), verbose=0)  #!
""", ["label value of 7", "from 0 to 2"]),
    "labels_that_are_not_one_hot": ("""
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "categorical_crossentropy")
model.fit(np.zeros((8, 4)), np.zeros(8), verbose=0)  #!
""", ["sparse_categorical_crossentropy"]),
    "binary_loss_of_two_outputs": ("""
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(2, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(np.zeros((8, 4)), np.zeros((8, 1)), verbose=0)  #!
""", ["target.shape=(None, 1), output.shape=(None, 2)", "units"]),
    "one_image_without_a_batch": ("""
model = tf.keras.Sequential([tf.keras.Input((28, 28, 1)), tf.keras.layers.Conv2D(2, 3)])
model.predict(np.zeros((28, 28, 1)), verbose=0)  #!
""", ["inputs=tf.Tensor(shape=(28, 28, 1, 1)", "x[None]"]),
    "features_that_do_not_fit": ("""
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.predict(np.zeros((2, 5)), verbose=0)  #!
""", ["to have value 4, but received input with shape (2, 5)"]),
    "lengths_that_differ": ("""
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.zeros((8, 4)), np.zeros(7), verbose=0)  #!
""", ["'x' sizes: 8", "'y' sizes: 7"]),
    "recurrent_layer_of_a_matrix": ("""
model = tf.keras.Sequential([tf.keras.Input((10,)), tf.keras.layers.LSTM(4)])  #!
""", ["expected ndim=3, found ndim=2", "x[..., None]"]),
    "loss_that_is_misspelt": ("""
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("adam", "mean_square_error")
model.fit(np.zeros((8, 4)), np.zeros(8), verbose=0)  #!
""", ["mean_square_error", "Did you mean 'mean_squared_error'?"]),
    "optimizer_that_is_misspelt": ("""
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("adams", "mse")  #!
""", ["adams", "Did you mean 'adam'?"]),
    "argument_that_is_misspelt": ("""
optimizer = tf.keras.optimizers.Adam(learing_rate=0.01)  #!
""", ["Did you mean 'learning_rate'?"]),
    "activation_that_is_misspelt": ("""
layer = tf.keras.layers.Dense(4, activation="rleu")  #!
""", ["rleu", "Did you mean 'relu'?"]),
    "subclass_with_a_wrong_shape": ("""
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.w = self.add_weight(shape=(3, 2))

    def call(self, x):
        return tf.matmul(x, self.w)  #!

Net()(tf.ones((8, 4)))  #!
""", ["shapes (8, 4) and (3, 2)"]),
    "numpy_in_a_subclass": ("""
class Net(tf.keras.Model):
    def call(self, x):
        return tf.constant(x.numpy())  #!

model = Net()
model.compile("sgd", "mse")
model.fit(np.ones((8, 4)), np.ones((8, 4)), verbose=0)  #!
""", ["has no value while the graph"]),
    "super_that_is_forgotten": ("""
class Net(tf.keras.Model):
    def __init__(self):
        self.dense = tf.keras.layers.Dense(2)

Net()(tf.ones((2, 3)))  #!
""", ["super().__init__()"]),
    "summary_before_shapes_are_known": ("""
class Net(tf.keras.Model):
    def call(self, x):
        return x

model = Net()
model.load_weights("weights.weights.h5")  #!
""", ["has not yet been built"]),
    "model_file_that_is_not_there": ("""
tf.keras.models.load_model("model.keras")  #!
""", ["File not found: filepath=model.keras"]),
    "function_in_sequential": ("""
model = tf.keras.Sequential([tf.keras.Input((4,)), lambda x: x * 2])  #!
""", ["tf.keras.layers.Lambda"]),
    "functional_model_of_a_tensor": ("""
model = tf.keras.Model(inputs=tf.ones((2, 3)), outputs=tf.ones((2, 3)))  #!
""", ["tf.keras.Input"]),
    "concatenation_of_other_shapes": ("""
a, b = tf.keras.Input((4, 3)), tf.keras.Input((5, 3))
tf.keras.layers.Concatenate(axis=-1)([a, b])  #!
""", ["[(None, 4, 3), (None, 5, 3)]"]),
    "convolutions_until_nothing_is_left": ("""
model = tf.keras.Sequential([tf.keras.Input((4, 4, 1)), tf.keras.layers.Conv2D(2, 6)])  #!
""", ["negative", "padding='same'"]),
    "texts_as_input": ("""
model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.array([["a"], ["b"]]), np.zeros(2), verbose=0)  #!
""", ["tf.keras.layers.StringLookup"]),
    "lists_of_different_lengths": ("""
model = tf.keras.Sequential([tf.keras.layers.Embedding(10, 4)])
model.compile("sgd", "mse")
model.fit(np.array([[1, 2], [3]], dtype=object), np.zeros(2), verbose=0)  #!
""", ["tf.keras.utils.pad_sequences"]),
    "index_out_of_an_embedding": ("""
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Embedding(10, 4)])
model.predict(np.array([[1, 2, 10]]), verbose=0)  #!
""", ["indices[0,2] = 10 is not in [0, 10)", "Embedding with input_dim=10", "size of the vocabulary"]),
    "loss_of_the_users_that_fails": ("""
def loss(y_true, y_pred):
    return tf.reduce_mean(tf.matmul(y_true, y_pred))  #!

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)])
model.compile("sgd", loss)
model.fit(np.zeros((8, 4)), np.zeros((8, 3)), verbose=0)  #!
""", ["shapes (8, 3) and (8, 3)"]),
    "callback_that_fails": ("""
class Notes(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(logs["val_loss"])  #!

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)])
model.compile("sgd", "mse")
model.fit(np.zeros((8, 4)), np.zeros((8, 3)), verbose=0, callbacks=[Notes()])  #!
""", ["KeyError: 'val_loss'"]),
    "training_that_is_interrupted": ("""
class Stop(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        raise KeyboardInterrupt  #!

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)])
model.compile("sgd", "mse")
model.fit(np.zeros((8, 4)), np.zeros((8, 3)), verbose=0, callbacks=[Stop()])  #!
""", ["KeyboardInterrupt"]),
    "dataset_that_fails_in_fit": ("""
def parse(text):
    return tf.strings.to_number(tf.reshape(text, [1])), 1.0  #!

data = tf.data.Dataset.from_tensor_slices(["1", "x"]).map(parse).batch(2)
model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(data, verbose=0)  #!
""", ["cannot read b'x' as float32", "Dataset.map", "element 1, 'x'"]),
    "labels_that_are_forgotten": ("""
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.zeros((8, 4)), verbose=0)  #!
""", ["pass y to fit"]),
    "split_of_a_dataset": ("""
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
data = tf.data.Dataset.from_tensor_slices((np.zeros((8, 4)), np.zeros(8))).batch(2)
model.fit(data, validation_split=0.2, verbose=0)  #!
""", ["validation_split", "only supported for tensors or NumPy arrays"]),
    "layer_that_is_misspelt": ("""
tf.keras.layers.BatchNormalisation()  #!
""", ["Did you mean: 'BatchNormalization'?"]),
    "class_that_is_not_one": ("""
tf.keras.utils.to_categorical([0, 1, 5], num_classes=3)  #!
""", ["index 5 is out of bounds"]),
    "generator_of_inputs_alone": ("""
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
model.predict((np.ones((2, 3)) for _ in range(3)), verbose=0)  #!
""", ["the generator must return a tuple", "yield (x,)"]),
    "labels_in_a_list": ("""
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((4, 3)), [0.0, 1.0, 1.0, 0.0], verbose=0)  #!
""", ["It is y: a Python list", "y=np.array(y)"]),
    "traced_call_that_adds_a_loss": ("""
class Penalty(tf.keras.layers.Layer):
    @tf.function
    def call(self, x):
        self.add_loss(tf.reduce_sum(x))
        return x

model = tf.keras.Sequential([tf.keras.Input((3,)), Penalty()])
model.compile("sgd", "mse")
model.fit(np.ones((2, 3)), np.ones((2, 3)), verbose=0)  #!
""", ["out of scope", "Penalty.call is a tf.function", "Take the decorator away"]),
}  # fmt: skip
