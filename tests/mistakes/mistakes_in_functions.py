"""Typical mistakes in functions that run as graphs, with gradients and with datasets. See test_mistakes.py."""

MISTAKES: dict[str, tuple[str, list[str]]] = {
    "numpy_in_a_function": ("""
@tf.function
def f(x):
    return x.numpy()  #!

f(tf.constant(1.0))
""", ["has no value while the graph", "tf.py_function", "run_functions_eagerly"]),
    "array_of_a_symbol": ("""
@tf.function
def f(x):
    return np.array(x)  #!

f(tf.constant(1.0))
""", ["Cannot convert a symbolic tf.Tensor", "tf.numpy_function"]),
    "float_of_a_symbol": ("""
import math

@tf.function
def f(x):
    return math.sqrt(x)  #!

f(tf.constant(1.0))
""", ["has no value while the graph is built"]),
    "if_without_conversion": ("""
@tf.function(autograph=False)
def f(x):
    if x > 0:  #!
        return x
    return -x

f(tf.constant(1.0))
""", ["OperatorNotAllowedInGraphError", "autograph=False", "tf.cond"]),
    "variable_in_each_call": ("""
@tf.function
def f(x):
    v = tf.Variable(1.0)  #!
    return v * x

f(tf.constant(1.0))
""", ["tried to create variables on non-first call", "created outside tf.function"]),
    "tensor_that_leaks": ("""
kept = []

@tf.function
def f(x):
    kept.append(x + 1.0)
    return x

f(tf.constant(1.0))
print(kept[0] * 2.0)  #!
""", ["headrace.errors.InaccessibleTensorError", "out of scope", "tensor_that_leaks.py:7 in f"]),
    "shapes_at_run_time": ("""
@tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([None, None])])
def f(a, b):
    return tf.matmul(a, b)  #!

f(tf.ones((2, 3)), tf.ones((2, 3)))  #!
""", ["shapes (2, 3) and (2, 3)"]),
    "nested_functions": ("""
@tf.function
def look_up(table, index):
    return tf.gather(table, index)  #!

@tf.function
def f(table, index):
    return look_up(table, index) + 1.0  #!

f(tf.constant([1.0, 2.0]), tf.constant([5]))  #!
""", ["indices[0] = 5 is not in [0, 2)"]),
    "loop_that_changes_a_shape": ("""
@tf.function
def f(n):
    rows = tf.zeros((0, 2))
    for _ in tf.range(n):
        rows = tf.concat([rows, tf.ones((1, 2))], axis=0)
    return rows

f(tf.constant(3))  #!
""", ["'rows' has shape (0, 2) before the loop, but shape (1, 2) after one iteration"]),
    "loop_that_fails": ("""
@tf.function
def f(x):
    total = 0.0
    for i in tf.range(5):
        total += tf.gather(x, i)  #!
    return total

f(tf.constant([1.0, 2.0]))  #!
""", ["= 2 is not in [0, 2)"]),
    "variable_of_one_branch": ("""
@tf.function
def f(x):
    if x > 0:  #!
        y = x
    return y

f(tf.constant(1.0))
""", ["'y' must also be initialized in the else branch"]),
    "branches_of_different_dtypes": ("""
@tf.function
def f(x):
    if x > 0:  #!
        y = 1
    else:
        y = 1.0
    return y

f(tf.constant(1.0))
""", ["'y' has dtype int32 in the main branch, but dtype float32 in the else branch"]),
    "signature_that_does_not_fit": ("""
@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def f(x):
    return x

f(tf.constant([1, 2]))  #!
""", ["argument 'x' does not fit the input_signature"]),
    "tape_used_twice": ("""
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x * x
tape.gradient(y, x)
tape.gradient(y, x)  #!
""", ["persistent=True"]),
    "gradients_that_are_none": ("""
x = tf.Variable(3.0)
optimizer = tf.keras.optimizers.SGD()
with tf.GradientTape() as tape:
    y = tf.constant(2.0)
gradients = tape.gradient(y, [x])
optimizer.apply_gradients(zip(gradients, [x]))  #!
""", ["No gradients provided", "within `with tf.GradientTape()`"]),
    "error_in_a_python_function": ("""
def load(name):
    return np.load(name.numpy().decode())  #!

@tf.function
def f(name):
    return tf.py_function(load, [name], tf.float32)  #!

f(tf.constant("nothing.npy"))  #!
""", ["FileNotFoundError", "nothing.npy"]),
    "wrong_dtype_of_a_numpy_function": ("""
@tf.function
def f(x):
    return tf.numpy_function(lambda a: a * 2, [x], tf.float64)  #!

f(tf.constant(1.0))  #!
""", ["returned by func is float32, but expects float64"]),
    "retraced_variable": ("""
class Model(tf.Module):
    @tf.function
    def __call__(self, x):
        self.w = tf.Variable(tf.ones((x.shape[-1], 2)))  #!
        return x @ self.w

Model()(tf.ones((3, 4)))
""", ["tried to create variables on non-first call"]),
    "map_of_pairs_with_one_argument": ("""
data = tf.data.Dataset.from_tensor_slices(([1, 2], [3, 4]))
data = data.map(lambda x: x * 2)  #!
""", ["takes 1 positional argument but 2 were given", "elements have 2 component(s)"]),
    "map_that_fails": ("""
names = tf.constant(["a", "b"])
data = tf.data.Dataset.range(3).map(lambda i: tf.gather(names, i))  #!
for name in data:  #!
    pass
""", ["= 2 is not in [0, 2)", "element 2"]),
    "parallel_map_that_fails": ("""
def parse(text):
    return tf.strings.to_number(text)  #!

data = tf.data.Dataset.from_tensor_slices(["1", "2", "x"]).map(parse, num_parallel_calls=2)
print(list(data))  #!
""", ["cannot read b'x' as float32", "element 2"]),
    "numpy_in_a_map": ("""
def load(name):
    return np.load(name.numpy())  #!

data = tf.data.Dataset.from_tensor_slices(["a.npy"]).map(load)  #!
""", ["has no value while the graph", "tf.py_function"]),
    "elements_that_do_not_batch": ("""
data = tf.data.Dataset.range(1, 5).map(lambda n: tf.ones([n])).batch(2)
for batch in data:  #!
    pass
""", ["different shapes", "[1] and element 1 had shape [2]"]),
    "slices_of_different_lengths": ("""
images, labels = np.zeros((10, 28, 28)), np.zeros(9)
data = tf.data.Dataset.from_tensor_slices((images, labels))  #!
""", ["dimensions 9 and 10 are not compatible"]),
    "generator_of_another_dtype": ("""
def rows():
    yield "text"

data = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([], tf.float32))
next(iter(data))  #!
""", ["The expected type was float32, but the yielded element was text"]),
    "generator_that_fails": ("""
def rows():
    yield 1.0
    raise KeyError("label")  #!

data = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([], tf.float32))
for row in data:  #!
    pass
""", ["KeyError: 'label'", "element 1"]),
    "dataset_with_an_index": ("""
data = tf.data.Dataset.range(3)
data[0]  #!
""", ["not subscriptable"]),
    "length_of_an_unknown_dataset": ("""
data = tf.data.Dataset.range(3).filter(lambda x: x > 1)
len(data)  #!
""", ["length is unknown"]),
    "shuffle_without_a_size": ("""
data = tf.data.Dataset.range(3).shuffle()  #!
""", ["buffer_size"]),
    "records_that_are_not_there": ("""
data = tf.data.TFRecordDataset("train.tfrecord")
for record in data:  #!
    pass
""", ["train.tfrecord"]),
    "feature_that_is_not_there": ("""
example = tf.train.Example()
tf.io.parse_single_example(example.SerializeToString(), {"image": tf.io.FixedLenFeature([], tf.string)})  #!
""", ["Feature: image", "default_value"]),
    "interrupted_iteration": ("""
def rows():
    yield 1.0
    raise KeyboardInterrupt  #!

for row in tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([], tf.float32)):  #!
    pass
""", ["KeyboardInterrupt"]),
    "loaded_model_with_another_shape": ("""
class Model(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def score(self, x):
        return tf.reshape(x, [4])

tf.saved_model.save(Model(), "saved")
tf.saved_model.load("saved").score(tf.ones((3, 2)))  #!
""", ["a tensor with 6 values, but the requested shape has 4: (4,)"]),
    "model_that_is_not_there": ("""
tf.saved_model.load("no_model")  #!
""", ["headrace.errors.NoSavedModelError", "no_model"]),
    "checkpoint_that_is_not_there": ("""
tf.train.Checkpoint(v=tf.Variable(1.0)).restore("missing/ckpt-1")  #!
""", ["missing/ckpt-1"]),
    "tensor_that_grows_in_a_loop": ("""
@tf.function
def collect(n):
    values = tf.zeros([1])
    for i in tf.range(n):  #!
        values = tf.concat([values, [1.0]], 0)
    return values

collect(tf.constant(3))  #!
""", ["'values' has shape (1,) before the loop, but shape (2,)",
      "set_loop_options(shape_invariants=[(values, tf.TensorShape([None]))])", "tf.TensorArray"]),
    "file_of_an_interleave_that_is_not_there": ("""
files = tf.data.Dataset.from_tensor_slices(["missing.txt"])
lines = files.interleave(lambda path: tf.data.TextLineDataset(path))
list(lines)  #!
""", ["missing.txt; No such file", "file_of_an_interleave_that_is_not_there.py:4): element 0]"]),
    "csv_record_with_too_many_fields": ("""
with open("people.csv", "w") as file:
    file.write("age,size\\n1,2\\n3,4,5\\n")
list(tf.data.experimental.CsvDataset("people.csv", [tf.int32, tf.int32], header=True))  #!
""", ["people.csv; record 3 (the header is record 1)", "Expect 2 fields but have more in record: 3.",
      "[CsvDataset (", "csv_record_with_too_many_fields.py:5)]"]),
}  # fmt: skip
