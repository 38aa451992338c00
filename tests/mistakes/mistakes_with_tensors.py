"""Typical mistakes with tensors, names and files. See test_mistakes.py."""

MISTAKES: dict[str, tuple[str, list[str]]] = {
    "matmul_of_shapes_that_do_not_fit": ("""
a, b = tf.ones((2, 3)), tf.ones((2, 3))
tf.matmul(a, b)  #!
""", ["matmul: Matrix size-incompatible: shapes (2, 3) and (2, 3)"]),
    "sum_of_shapes_that_do_not_fit": ("""
a, b = tf.ones((2, 3)), tf.ones((2, 4))
c = a + b  #!
""", ["Incompatible shapes: x (2, 3) vs. y (2, 4)"]),
    "int_plus_float": ("""
steps = tf.constant(3)
rate = tf.constant(0.5)
print(steps * rate)  #!
""", ["headrace.errors.DTypeMismatchError", "int32", "float32", "tf.cast"]),
    "numpy_float64_times_float32": ("""
w = tf.Variable(tf.ones((3, 2)))
x = tf.constant(np.random.rand(4, 3))
tf.matmul(x, w)  #!
""", ["float64", "tf.constant(array, tf.float32)"]),
    "item_assignment": ("""
x = tf.zeros((3, 3))
x[0, 1] = 5.0  #!
""", ["does not support item assignment", "tf.tensor_scatter_nd_update", "tf.Variable"]),
    "item_assignment_of_a_variable": ("""
v = tf.Variable([1.0, 2.0])
v[0] = 5.0  #!
""", ["does not support item assignment", "v[i].assign(value)"]),
    "method_sum": ("""
x = tf.constant([1.0, 2.0])
x.sum()  #!
""", ["has no attribute 'sum'", "tf.reduce_sum"]),
    "method_mean": ("""
loss = tf.constant([1.0, 2.0])
loss.mean()  #!
""", ["has no attribute 'mean'", "tf.reduce_mean"]),
    "method_reshape": ("""
x = tf.constant([1.0, 2.0])
x.reshape(2, 1)  #!
""", ["has no attribute 'reshape'", "tf.reshape(x, shape)", "experimental_enable_numpy_behavior"]),
    "attribute_transposed": ("""
x = tf.constant([[1.0, 2.0]])
x.T  #!
""", ["has no attribute 'T'", "tf.transpose"]),
    "method_view": ("""
x = tf.constant([[1.0, 2.0]])
x.view(-1)  #!
""", ["has no attribute 'view'", "tf.reshape"]),
    "method_item": ("""
loss = tf.constant(2.0)
loss.item()  #!
""", ["has no attribute 'item'", "x.numpy().item()"]),
    "method_detach": ("""
loss = tf.constant(2.0)
loss.detach()  #!
""", ["has no attribute 'detach'", "tf.stop_gradient"]),
    "method_astype": ("""
x = tf.constant([1, 2])
x.astype("float32")  #!
""", ["has no attribute 'astype'", "tf.cast"]),
    "concat_with_the_old_order": ("""
a, b = tf.ones((2, 3)), tf.ones((2, 3))
tf.concat(0, [a, b])  #!
""", ["the tensors come first", "tf.concat(values, axis)"]),
    "split_with_the_old_order": ("""
a = tf.ones((2, 4))
tf.split(1, 2, a)  #!
""", ["the tensor comes first", "tf.split(value, num_or_size_splits, axis)"]),
    "concat_of_shapes_that_do_not_fit": ("""
a, b = tf.ones((2, 3)), tf.ones((2, 4))
tf.concat([a, b], axis=0)  #!
""", ["values[0] has shape (2, 3), values[1] has shape (2, 4)"]),
    "stack_of_different_shapes": ("""
rows = [tf.ones(3), tf.ones(4)]
tf.stack(rows)  #!
""", ["values[0] has shape (3,), values[1] has shape (4,)"]),
    "reshape_to_another_size": ("""
images = tf.zeros((10, 28, 28))
tf.reshape(images, (10, 783))  #!
""", ["a tensor with 7840 values, but the requested shape has 7830: (10, 783)"]),
    "gather_out_of_range": ("""
table = tf.constant([10, 20, 30])
tf.gather(table, [0, 3])  #!
""", ["indices[1] = 3 is not in [0, 3)"]),
    "rows_of_different_lengths": ("""
tf.constant([[1, 2], [3]])  #!
""", ["non-rectangular", "[[1, 2], [3]]"]),
    "array_of_objects": ("""
x = np.array([np.zeros(2), np.zeros(3)], dtype=object)
tf.convert_to_tensor(x)  #!
""", ["Unsupported object type"]),
    "truth_of_several_elements": ("""
x = tf.constant([1.0, -1.0])
if x > 0:  #!
    pass
""", ["ambiguous", "tf.reduce_any or tf.reduce_all"]),
    "tensor_as_key": ("""
seen = {tf.constant(1): "one"}  #!
""", ["unhashable", "tensor.ref()"]),
    "cast_of_a_text": ("""
tf.cast(tf.constant(["1", "2"]), tf.float32)  #!
""", ["tf.strings.to_number"]),
    "assign_of_another_shape": ("""
v = tf.Variable(tf.zeros((2, 2)))
v.assign(tf.ones((3, 2)))  #!
""", ["variable shape (2, 2)", "assigned value shape (3, 2)"]),
    "number_of_a_vector": ("""
x = tf.constant([1.0, 2.0])
float(x)  #!
""", ["this tensor has shape (2,)"]),
    "index_out_of_bounds": ("""
x = tf.constant([1, 2, 3])
x[3]  #!
""", ["slice index 3 of dimension 0 out of bounds, its size is 3"]),
    "float_as_index": ("""
x = tf.constant([1, 2, 3])
x[len(x) / 2]  #!
""", ["valid indices, got 1.5"]),
    "axis_out_of_range": ("""
x = tf.ones((2, 3))
tf.reduce_mean(x, axis=2)  #!
""", ["Invalid reduction dimension 2 for input with 2 dimension(s)"]),
    "split_that_does_not_come_out_even": ("""
tf.split(tf.zeros((10, 4)), 3)  #!
""", ["got 3 for a dimension of 10"]),
    "convolution_without_a_batch": ("""
image, kernel = tf.zeros((28, 28, 3)), tf.zeros((3, 3, 3, 8))
tf.nn.conv2d(image, kernel, strides=1, padding="SAME")  #!
""", ["input must have 4 dimensions, got shape (28, 28, 3)"]),
    "convolution_of_other_channels": ("""
image, kernel = tf.zeros((1, 28, 28, 1)), tf.zeros((3, 3, 3, 8))
tf.nn.conv2d(image, kernel, strides=1, padding="SAME")  #!
""", ["the 1 channels of input", "the 3 of filter"]),
    "square_root_of_an_int": ("""
tf.sqrt(4)  #!
""", ["sqrt: x must be one of", "got int32", "tf.cast"]),
    "matrix_without_an_inverse": ("""
tf.linalg.inv(tf.ones((2, 2)))  #!
""", ["not invertible"]),
    "file_that_is_not_there": ("""
data = tf.io.read_file("images/cat.jpg")  #!
""", ["headrace.errors.NotFoundError", "images/cat.jpg"]),
    "image_of_a_name": ("""
image = tf.io.decode_jpeg("cat.jpg")  #!
""", ["contents must be a JPEG"]),
    "number_in_a_text": ("""
tf.strings.to_number(["3.5", "n/a"])  #!
""", ["cannot read b'n/a' as float32"]),
    "assertion": ("""
x = tf.constant([1.0, -2.0])
tf.debugging.assert_positive(x, message="prices are positive")  #!
""", ["prices are positive", "begins [1.0 -2.0]"]),
    "session": ("""
with tf.Session() as session:  #!
    pass
""", ["ops run at once", "tf.compat.v1.Session"]),
    "placeholder": ("""
x = tf.placeholder(tf.float32, [None, 784])  #!
""", ["tf.keras.Input", "tf.compat.v1.placeholder"]),
    "get_variable": ("""
w = tf.get_variable("w", [2, 2])  #!
""", ["make a tf.Variable", "tf.compat.v1.get_variable"]),
    "variables_initializer": ("""
init = tf.global_variables_initializer()  #!
""", ["leave the line out", "tf.compat.v1.global_variables_initializer"]),
    "contrib": ("""
layers = tf.contrib.layers  #!
""", ["which TensorFlow 2 does not have either", "tf.keras"]),
    "lite": ("""
tf.lite.experimental.QuantizationDebugger("m.tflite")  #!
""", ["tf.lite.compare", "it is planned"]),
    "strategy_of_several_machines": ("""
import os
os.environ["TF_CONFIG"] = '{"cluster": {"worker": "localhost:2222"}, "task": {"type": "worker", "index": 0}}'
strategy = tf.distribute.MultiWorkerMirroredStrategy()  #!
""", ["TF_CONFIG", "worker"]),
    "estimator": ("""
model = tf.estimator.BoostedTreesClassifier  #!
""", ["which TensorFlow removed", "scikit-learn"]),
    "session_of_v1_misspelt": ("""
tf.compat.v1.Sesion()  #!
""", ["Did you mean: 'Session'?"]),
    "optimizer_of_1_x": ("""
optimizer = tf.train.AdamOptimizer(0.001)  #!
""", ["tf.keras.optimizers"]),
    "name_that_is_misspelt": ("""
tf.reduce_men([1.0])  #!
""", ["Did you mean: 'reduce_mean'?"]),
    "internal_module": ("""
tf.install_as_tensorflow()
from tensorflow.python.client.timeline import Timeline  #!
""", ["tf.profiler for timeline"]),
    "module_that_is_not_there": ("""
tf.install_as_tensorflow()
from tensorflow.contrib import layers  #!
""", ["tf.keras"]),
}  # fmt: skip
