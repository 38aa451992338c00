"""Input pipelines of 1.x as small programs; the arguments are the module `tensorflow` or `headrace`, and a folder.

    python tests/compat/record_v1_input.py    # with TensorFlow; writes tests/golden/compat_v1_input.json
"""

import os


def _files(tf, folder):
    paths = []
    for name, lines in (("a.csv", "1,2\n3,4\n5,6\n"), ("b.csv", "7,8\n9,10")):
        paths.append(os.path.join(folder, name))
        with open(paths[-1], "w") as file:
            file.write(lines)
    records = os.path.join(folder, "r.tfrecord")
    with tf.io.TFRecordWriter(records) as writer:
        for i in range(4):
            feature = {"x": tf.train.Feature(int64_list=tf.train.Int64List(value=range(i)))}
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    return paths, records


def _all(tf, build, most=40):
    """What a program gives until its input ends."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        fetches = build()
        sess.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        coordinator = v1.train.Coordinator()
        threads = v1.train.start_queue_runners(coord=coordinator)
        found = []
        try:
            while not coordinator.should_stop() and len(found) < most:
                found.append(sess.run(fetches))
        except tf.errors.OutOfRangeError:
            found.append("end")
        finally:
            coordinator.request_stop()
            coordinator.join(threads, stop_grace_period_secs=20)
    return [_plain(tf, one) for one in found]


def _plain(tf, value):
    if isinstance(value, dict):
        return {key: _plain(tf, one) for key, one in value.items()}
    if hasattr(value, "indices"):
        return [_plain(tf, one) for one in value]
    if isinstance(value, (list, tuple)):
        return [_plain(tf, one) for one in value]
    if hasattr(value, "tolist"):
        return _plain(tf, value.tolist())
    return os.path.basename(value.decode("latin-1")) if isinstance(value, bytes) else value


def programs(tf, folder):
    """The programs by name; each gives what its pipeline gave."""
    v1 = tf.compat.v1
    T = v1.train
    paths, records = _files(tf, folder)

    def strings(**keywords):
        return lambda: T.string_input_producer(["a", "b", "c"], shuffle=False, **keywords).dequeue()

    def lines():
        queue = T.string_input_producer(paths, num_epochs=2, shuffle=False)
        key, line = v1.TextLineReader().read(queue)
        x, y = tf.io.decode_csv(line, [[0], [0.0]])
        return T.batch([key, x, y], 3, allow_smaller_final_batch=True)

    def whole():
        queue = T.string_input_producer(paths, num_epochs=1, shuffle=False)
        return v1.WholeFileReader().read(queue)

    def padded():
        number = T.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()
        return T.batch({"n": number, "r": tf.range(number)}, 2, dynamic_pad=True, allow_smaller_final_batch=True)

    def sparse():
        queue = T.string_input_producer([records], num_epochs=1, shuffle=False)
        _, value = v1.TFRecordReader().read(queue)
        parsed = tf.io.parse_single_example(value, {"x": tf.io.VarLenFeature(tf.int64)})
        return T.batch([parsed["x"]], 2)

    def slices():
        return T.slice_input_producer([[1, 2, 3], ["a", "b", "c"]], num_epochs=2, shuffle=False)

    def kept():
        number = T.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
        return T.maybe_batch([number], tf.equal(number % 2, 0), 2, allow_smaller_final_batch=True)

    def many():
        numbers = tf.reshape(T.range_input_producer(4, num_epochs=1, shuffle=False).dequeue(), [1]) + [0, 10, 20]
        return T.batch([numbers], 5, enqueue_many=True, allow_smaller_final_batch=True)

    def shuffled():
        number = T.range_input_producer(10, num_epochs=1).dequeue()
        return T.shuffle_batch([number], 4, 20, 2, allow_smaller_final_batch=True)

    def joined():
        readers = [[T.range_input_producer(3, num_epochs=1, shuffle=False).dequeue() + 10 * i] for i in range(2)]
        return T.batch_join(readers, 2, allow_smaller_final_batch=True)

    def reader(make, names):
        def build():
            queue = v1.FIFOQueue(10, [tf.string], shapes=[[]])
            T.add_queue_runner(T.QueueRunner(queue, [queue.enqueue_many([T.limit_epochs(tf.constant(names), 1)])]))
            made = make()
            key, value = made.read(queue)
            with tf.control_dependencies([key]):
                counts = [made.num_records_produced(), made.num_work_units_completed()]
                states = [made.serialize_state()] if made.supports_serialize else []
            return [key, value, *counts, *states]

        return lambda: _all(tf, build)

    def up_to():
        queue = T.string_input_producer(paths, num_epochs=1, shuffle=False)
        return v1.TextLineReader().read_up_to(queue, 2)

    return {
        "reader of lines": reader(lambda: v1.TextLineReader(skip_header_lines=1), paths),
        "reader of records": reader(lambda: v1.TFRecordReader(), [records]),
        "reader of names": reader(lambda: v1.IdentityReader(), ["x", "y"]),
        "reader of pieces": reader(lambda: v1.FixedLengthRecordReader(2, 1, 1), paths),
        "reader of pieces that overlap": reader(lambda: v1.FixedLengthRecordReader(4, 1, 0, 2), paths),
        "up to": lambda: _all(tf, up_to),
        "strings": lambda: _all(tf, strings(num_epochs=2)),
        "strings without end": lambda: _all(tf, strings(), most=7),
        "lines": lambda: _all(tf, lines),
        "whole files": lambda: _all(tf, whole),
        "padded": lambda: _all(tf, padded),
        "sparse": lambda: _all(tf, sparse),
        "slices": lambda: _all(tf, slices),
        "kept": lambda: _all(tf, kept),
        "many": lambda: _all(tf, many),
        "shuffled, sorted": lambda: sorted(x for batch in _all(tf, shuffled)[:-1] for x in batch),
        "joined, sorted": lambda: sorted(x for batch in _all(tf, joined)[:-1] for x in batch),
    }
