"""Programs that write summaries, and what any `tf` writes to its event files for them."""

import ast
import glob
import linecache
import os
import struct
import tempfile
import warnings

import numpy as np

_BEGIN = """
def scalar(name, data=1.0, step=1):
    return tf.summary.scalar(name, data, step=step)
"""

# Each runs with a default writer. What it writes is compared byte for byte, without the times.
PROGRAMS = [
    # Scalars.
    "tf.summary.scalar('s', 1.5, step=3, description='It is *described*.')",
    "tf.summary.scalar('s', 2, step=0)",
    "tf.summary.scalar('s', tf.constant(3, tf.int64), step=-1)",
    "tf.summary.scalar('s', True, step=2**40)",
    "tf.summary.scalar('s', np.float64(0.1), step=np.int32(7))",
    "tf.summary.scalar('s', tf.constant(0.1, tf.bfloat16), step=tf.constant(7, tf.int64))",
    "tf.summary.scalar('s', tf.Variable(2.0), step=tf.Variable(7, dtype=tf.int64))",
    "tf.summary.scalar('s', 1.0, step=[1])",
    "tf.summary.scalar('', 1.0, step=1)",
    "tf.summary.scalar(None, 1.0, step=1)",
    "tf.summary.scalar('what is this? \\u00e9', 1.0, step=1)",
    "tf.summary.scalar('s', float('nan'), step=1)",
    "with tf.name_scope('a'), tf.name_scope('b'):\n    scalar('s')",
    "tf.summary.scalar('s', 1.0)",
    "tf.summary.scalar('s', [1.0], step=1)",
    "tf.summary.scalar('s', 'a', step=1)",
    "tf.summary.scalar('s', 1.0, step=1.5)",
    "tf.summary.scalar('s', 1.0, step=[1, 2])",
    "tf.summary.scalar('s', 1.0, step=tf.constant(1))",
    "tf.summary.scalar('s', 1.0, step=2**70)",
    "tf.summary.scalar(3, 1.0, step=1)",
    # Text.
    "tf.summary.text('t', 'hello', step=1)",
    "tf.summary.text('t', [['a', 'b'], ['c', '\\u00e9']], step=1, description='d')",
    "tf.summary.text('t', tf.constant([], tf.string), step=1)",
    "tf.summary.text('t', 1.0, step=1)",
    # Histograms.
    "tf.summary.histogram('h', [1.0, 2.0, 3.0], step=1, buckets=4, description='d')",
    "tf.summary.histogram('h', np.sin(np.arange(1000.0)).reshape(10, 100), step=1)",
    "tf.summary.histogram('h', np.arange(100) % 7, step=1, buckets=7)",
    "tf.summary.histogram('h', tf.constant([1.5, -2.5, 1e30, 3.0]), step=1, buckets=3)",
    "tf.summary.histogram('h', [], step=1, buckets=3)",
    "tf.summary.histogram('h', [5, 5], step=1, buckets=3)",
    "tf.summary.histogram('h', 7, step=1)",
    "tf.summary.histogram('h', [1, 2], step=1, buckets=0)",
    "tf.summary.histogram('h', [1, 2], step=1, buckets=-1)",
    "tf.summary.histogram('h', [1.0, float('inf')], step=1, buckets=2)",
    "tf.summary.histogram('h', [1.0, float('nan')], step=1, buckets=2)",
    "tf.summary.histogram('h', [True, False, True], step=1, buckets=2)",
    "tf.summary.histogram('h', ['a'], step=1)",
    "tf.summary.histogram('h', [1, 2], step=1, buckets=2.5)",
    # Images and sound.
    "tf.summary.image('i', np.arange(48, dtype=np.uint8).reshape(4, 2, 2, 3) * 5, step=1)",
    "tf.summary.image('i', np.linspace(-0.5, 1.5, 24).reshape(1, 2, 3, 4), step=1, description='d')",
    "tf.summary.image('i', np.zeros((5, 2, 3, 1), np.float32), step=1, max_outputs=4)",
    "tf.summary.image('i', np.zeros((0, 2, 3, 1)), step=1)",
    "tf.summary.image('i', np.zeros((2, 2, 3, 1)), step=1, max_outputs=0)",
    "tf.summary.image('i', np.zeros((2, 3, 1)), step=1)",
    "tf.summary.image('i', np.zeros((1, 2, 3, 5)), step=1)",
    "tf.summary.image('i', np.zeros((1, 2, 3, 1)), step=1, max_outputs=-1)",
    "tf.summary.audio('a', np.linspace(-1.2, 1.2, 24).reshape(4, 3, 2).astype(np.float32), 8000, step=1)",
    "tf.summary.audio('a', np.zeros((1, 4, 1), np.float32), tf.constant(800), step=1, encoding='wav', description='d')",
    "tf.summary.audio('a', np.zeros((0, 4, 1), np.float32), 800, step=1)",
    "tf.summary.audio('a', np.zeros((1, 4), np.float32), 800, step=1)",
    "tf.summary.audio('a', np.zeros((1, 4, 1), np.float32), 800, step=1, encoding='mp3')",
    # Any tensor.
    "tf.summary.write('w', [[1, 2], [3, 4]], step=1)",
    "tf.summary.write('w', lambda: tf.constant(['a']), step=1)",
    "tf.summary.write('w', tf.zeros([0, 3], tf.complex64), step=1)",
    "tf.summary.write('w', 1.0, step=1, metadata=b'\\n\\x03\\n\\x01p')",
    "tf.summary.write('w', 1.0, step=1, metadata=5)",
    "tf.summary.write(tf.constant('w'), 1.0, step=1)",
    "tf.summary.experimental.write_raw_pb([b'\\n\\x08\\n\\x01a\\x15\\x00\\x00\\x80?', b''], step=1)",
    "tf.summary.experimental.write_raw_pb(b'zz', step=1)",
    "tf.summary.experimental.write_raw_pb(b'')",
    "tf.summary.graph(3)",
    "with tf.summary.experimental.summary_scope('a b', 'c') as (tag, scope):\n    tf.summary.text(tag, scope, step=1)",
    "with tf.name_scope('n'), tf.summary.experimental.summary_scope('!', 'c') as (tag, scope):\n"
    "    tf.summary.text(tag, scope, step=1)",
    # Steps, writers and conditions.
    "tf.summary.experimental.set_step(5)\nscalar('s', step=None)\ntf.summary.experimental.set_step(None)",
    "with writer.as_default(step=3):\n    scalar('a', step=None)\n"
    "    with writer.as_default(4):\n        scalar('b', step=None)\n    scalar('c', step=None)\n"
    "scalar('d', step=None)",
    "with tf.summary.record_if(False):\n    scalar('a')\n"
    "    with tf.summary.record_if(True):\n        scalar('b')\n    tf.summary.scalar('s', [1.0], step=1)",
    "with tf.summary.record_if(lambda: tf.constant(True)):\n    scalar('a')\n"
    "with tf.summary.record_if(tf.constant(False)):\n    scalar('b')",
    "with tf.summary.record_if(3):\n    scalar('a')",
    "with tf.summary.create_noop_writer().as_default():\n    scalar('a')",
    "writer.close()\nscalar('a')",
    "writer.close()\nwriter.close()\nwriter.flush()\nwriter.as_default()",
    "tf.summary.create_file_writer(None)",
    "tf.summary.create_file_writer(3)",
    "tf.summary.flush(3)",
    # In functions.
    "@tf.function\ndef f(x, i):\n    scalar('a', x, i)\n    tf.summary.text('t', 'x', step=i)\n"
    "    tf.summary.histogram('h', [x, 2.0, 7.0], step=i, buckets=5)\n"
    "    tf.summary.image('i', tf.fill([2, 2, 2, 1], x), step=i)\n"
    "    tf.summary.audio('u', tf.fill([2, 3, 1], x), 100, step=i)\n"
    "for i in range(3):\n    f(tf.constant(i / 4), tf.constant(i, tf.int64))",
    "@tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])\ndef f(x):\n"
    "    tf.summary.histogram('h', x, step=1, buckets=3)\n"
    "f([])\nf([[1.0, 2.0]])\nf([2.0, 2.0])\nf([float('nan'), 1.0])",
    "@tf.function(input_signature=[tf.TensorSpec([None, None, None], tf.float32)])\ndef f(x):\n"
    "    tf.summary.audio('a', x, 100, step=1)\nf(np.zeros([0, 3, 1]))\nf(np.zeros([4, 3, 1]))",
    "step = tf.Variable(1, dtype=tf.int64)\n@tf.function\ndef f():\n    scalar('a', 1.0, step)\n"
    "    step.assign_add(1)\n"
    "    scalar('b', 1.0, step)\nf()\nf()",
    "@tf.function\ndef f(i):\n    with tf.summary.record_if(i % 2 == 0):\n        scalar('a', 1.0, i)\n"
    "    with tf.summary.record_if(lambda: i > 2):\n        scalar('b', 1.0, i)\n"
    "for i in range(4):\n    f(tf.constant(i, tf.int64))",
    "with tf.summary.record_if(False):\n    f = tf.function(lambda: scalar('a'))\n    f()\nf()",
    "@tf.function\ndef f(x):\n    with tf.name_scope('n'):\n        if x > 0:\n            with tf.name_scope('m'):\n"
    "                scalar('a')\n            if x > 1:\n                scalar('b')\n"
    "        tf.cond(x > 0, lambda: scalar('c'), lambda: "
    "scalar('d'))\n        for i in tf.range(2):\n            scalar('e', 1.0, tf.cast(i, tf.int64))\n"
    "f(tf.constant(2))",
    "f = tf.function(lambda x: tf.switch_case(x, [lambda: scalar('a'), lambda: scalar('b')]))\n"
    "f(tf.constant(1))\nf(tf.constant(7))",
    "f = tf.function(lambda x: tf.case([(x > 0, lambda: scalar('a'))], default=lambda: scalar('b')))\n"
    "f(tf.constant(1))",
    "@tf.function\ndef f():\n    for x in tf.data.Dataset.range(2):\n        scalar('a', 1.0, x)\n"
    "        for y in tf.range(1):\n            scalar('b', 1.0, x)\nf()",
    "@tf.function\ndef f():\n    with tf.name_scope('n'):\n"
    "        tf.map_fn(lambda x: tf.cast(scalar('a', x), tf.float32), tf.constant([1.0, 2.0]))\n"
    "        tf.while_loop(lambda i: i < 2, lambda i: [i + tf.cast(scalar('b', i), tf.int32)], [0], name='w')\nf()",
    "@tf.function\ndef g(x):\n    scalar('g', x)\n@tf.function\ndef f(x):\n    with tf.name_scope('n'):\n"
    "        g(x)\n        g(x + 1)\n"
    "with tf.name_scope('m'):\n    f(tf.constant(1.0))",
    "f = tf.function(lambda: scalar('a', 1.0, None))\nf()",
    "@tf.function\ndef f():\n    writer.flush()\nf()\nscalar('a')",
    "@tf.function\ndef f(p):\n    tf.summary.create_file_writer(p)\nf(tf.constant('x'))",
    "@tf.function\ndef f(x):\n    with tf.GradientTape() as tape:\n        tape.watch(x)\n        y = x * x\n"
    "        scalar('a', y)\n"
    "    return tape.gradient(y, x)\nscalar('g', f(tf.constant(3.0)))",
    "for x in tf.data.Dataset.range(2).map(lambda x: (scalar('a', 1.0, x), x)[1]):\n    pass",
]


def events_of(path) -> list[bytes]:
    """The events of a file, without their times."""
    with open(path, "rb") as file:
        data = file.read()
    events, at = [], 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        events.append(data[at + 12 + 9 : at + 12 + size])
        at += size + 16
    return events


def result_of(tf, code) -> dict:
    """The events that a program writes, as hexadecimal text, and the class of the exception that it raises, if any."""
    file = f"<summary program {abs(hash(code))}>"
    linecache.cache[file] = (len(code), None, code.splitlines(True), file)  # AutoGraph reads it
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        writer = tf.summary.create_file_writer(folder)
        names = {"tf": tf, "np": np, "writer": writer, "__name__": __name__}
        exec(_BEGIN, names)
        raised = None
        with writer.as_default():
            try:
                exec(compile(ast.parse(code, file), file, "exec"), names)
            except Exception as error:
                raised = class_name(error)
            tf.summary.experimental.set_step(None)
        writer.close()
        (path,) = glob.glob(os.path.join(folder, "*"))
        return {"events": [event.hex() for event in events_of(path)[1:]], "raises": raised}


def class_name(error) -> str:
    """The public class of an exception."""
    kinds = [kind.__name__ for kind in type(error).__mro__]
    hidden = ("GraphBuildError", "DTypeMismatchError", "CompositeConversionError")
    return next(kind for kind in kinds if kind not in hidden)
