"""1.x programs that write summaries, whose results TensorFlow recorded; see `v1_saving_programs.py`.

    python tests/compat/record_v1_saving.py    # with TensorFlow
"""

# `text` shows encoded `Summary` messages; `events` what is in the files of a folder, without times.


def _run(*expressions):
    lines = "".join(f"    found.append(attempt(lambda: text(sess.run({x}))))\n" for x in expressions)
    return f"found = []\nwith tf.Graph().as_default(), v1.Session() as sess:\n{lines}found"


_GRAY = "np.linspace(0, 1, 24).reshape(2, 3, 4, 1)"
OPS = {
    "scalar": _run(
        "v1.summary.scalar('a', 3.5)", "v1.summary.scalar('b/c', tf.constant(3))", "v1.summary.scalar('a', [1.0, 2.0])",
        "v1.summary.scalar('d', tf.constant(2, tf.uint8))", "v1.summary.scalar('e', tf.constant(np.nan, tf.float64))",
        "v1.summary.scalar('f', 1.0, family='g')", "v1.summary.scalar('/h i?', 1.0)",
    ),
    "scalar, raw": _run(
        "tf.raw_ops.ScalarSummary(tags=['x', 'y'], values=[1.0, 2.0])",
        "tf.raw_ops.ScalarSummary(tags='x', values=[[1.0]])",
        "tf.raw_ops.ScalarSummary(tags=['x', 'y'], values=[1.0])",
        "tf.raw_ops.ScalarSummary(tags=tf.zeros([0], tf.string), values=tf.zeros([0]))",
    ),
    "histogram": _run(
        "v1.summary.histogram('a', [1.0, 2.0, 2.0, 3.5, -4.0, 0.0, 1e-13, 1e25])",
        "v1.summary.histogram('b', np.arange(-50, 50))", "v1.summary.histogram('c', [])",
        "v1.summary.histogram('d', tf.constant([1, 1, 1], tf.uint8))", "v1.summary.histogram('e', [1.0], family='g')",
        "v1.summary.histogram('f', 7.0)", "v1.summary.histogram('h', tf.constant([[0.5, 0.25]], tf.float16))",
        "v1.summary.histogram('i', -0.0)", "v1.summary.histogram('j', [-1e-12, 1e-12, -1e20, 1e20, 1.1e-12, -1.1e-12])",
    ),
    "histogram of what is not finite": _run(
        "v1.summary.histogram('a', [1.0, np.nan])", "v1.summary.histogram('b', [1.0, np.inf])",
        "v1.summary.histogram('c', [1.0, -np.inf])",
    ),
    "image": _run(
        f"v1.summary.image('a', {_GRAY}.astype('float32'))",
        f"v1.summary.image('b', ({_GRAY} * 255).astype('uint8'))",
        f"v1.summary.image('c', ({_GRAY} - 0.5).astype('float32'), max_outputs=1)",
        f"v1.summary.image('d', ({_GRAY} * 7 - 3).astype('float16'), max_outputs=2, family='g')",
        "v1.summary.image('e', np.arange(48.0).reshape(1, 4, 4, 3))",
        "v1.summary.image('f', np.arange(48.0).reshape(1, 3, 4, 4))",
        "v1.summary.image('h', np.zeros([1, 2, 2, 1], 'float32'))",
        "v1.summary.image('i', np.full([5, 1, 1, 1], 3.0, 'float32'))",
        "v1.summary.image('j', np.array([np.nan, 1.0, np.inf, -2.0], 'float32').reshape(1, 2, 2, 1))",
        "v1.summary.image('k', np.array([np.nan, 1.0, 0.5, 0.25] * 3, 'float32').reshape(1, 2, 2, 3))",
        "v1.summary.image('l', np.zeros([0, 2, 2, 1], 'float32'))",
    ),
    "image, refused": _run(
        "v1.summary.image('a', np.zeros([2, 2, 1], 'float32'))",
        "v1.summary.image('b', np.zeros([1, 2, 2, 2], 'float32'))",
        "v1.summary.image('c', np.zeros([1, 2, 2, 1], 'int32'))",
    ),
    "image, raw": _run(
        "tf.raw_ops.ImageSummary(tag='t', tensor=np.array([[[[np.nan, 0.0, 0.0]]]], 'float32'), "
        "bad_color=tf.make_tensor_proto([1, 2, 3], tf.uint8))",
        "tf.raw_ops.ImageSummary(tag=['t'], tensor=np.zeros([1, 2, 2, 1], 'float32'))",
    ),
    "audio": _run(
        "v1.summary.audio('a', np.linspace(-1, 1, 20).reshape(2, 10).astype('float32'), 8000)",
        "v1.summary.audio('b', np.linspace(-2, 2, 20).reshape(1, 10, 2).astype('float32'), 44100.0, max_outputs=1)",
        "v1.summary.audio('c', np.zeros([4, 3, 1], 'float32'), tf.constant(16000.0), max_outputs=2, family='g')",
        "v1.summary.audio('d', np.zeros([3], 'float32'), 8000)",
        "v1.summary.audio('e', np.zeros([1, 3], 'float32'), 0)",
    ),
    "text": _run(
        "v1.summary.text('a', tf.constant('hello'))", "v1.summary.text('b', tf.constant([['x', 'y']]))",
        "v1.summary.text('c', tf.constant(1.0))",
    ),
    "tensor": _run(
        "v1.summary.tensor_summary('a', tf.constant([[1, 2], [3, 4]]))",
        "v1.summary.tensor_summary('b', tf.constant(['x', 'y']), summary_description='d', display_name='n')",
        "v1.summary.tensor_summary('c', 1.5, summary_metadata=v1.SummaryMetadata(display_name='q'), family='g')",
    ),
    "merged": _run(
        "v1.summary.merge([v1.summary.scalar('a', 1.0), v1.summary.scalar('b', 2.0)])",
        "tf.raw_ops.MergeSummary(inputs=[b'', b''])", "tf.raw_ops.MergeSummary(inputs=[b'junk'])",
        "tf.raw_ops.MergeSummary(inputs=[v1.Summary(value=[dict(tag='x', simple_value=1)]).SerializeToString()] * 2)",
        "tf.raw_ops.MergeSummary(inputs=[[v1.Summary(value=[dict(tag='x')]).SerializeToString(), b'']])",
    ),
    "merged all": """
with tf.Graph().as_default() as g, v1.Session() as sess:
    before = v1.summary.merge_all()
    with tf.name_scope("s"):
        a = v1.summary.scalar("a", 1.0)
    b = v1.summary.scalar("b", 2.0, collections=["mine"])
    c = v1.summary.text("c", tf.constant("t"))
    m = v1.summary.merge_all()
    found = [before, text(sess.run(m)), text(sess.run(v1.summary.merge_all("mine"))), m.name, a.name, b.name, c.name,
             text(sess.run(v1.summary.merge_all(scope="s/"))), [x.name for x in v1.get_collection("summaries")],
             v1.summary.merge([a], ["kept"], name="q").name, [x.name for x in v1.get_collection("kept")]]
[found, operations(g, "")]
""",
    "eagerly": """
[text(v1.summary.scalar("a", 1.0).numpy()), text(v1.summary.histogram("b", [1.0]).numpy()),
 attempt(v1.summary.merge, [b""]), attempt(v1.summary.merge_all), v1.summary.all_v2_summary_ops(),
 v1.summary.initialize()]
""",
    "a description": """
node = v1.NodeDef(op="TensorSummary")
node.attr["description"].s = b'{"typeHint": "x"}'
[str(v1.summary.get_summary_description(node)), attempt(v1.summary.get_summary_description, v1.NodeDef(op="Add"))]
""",
}

_WRITER = """
with tf.Graph().as_default() as g, v1.Session() as sess:
    c = tf.constant(1.0, name="c")
    s = v1.summary.scalar("a", c)
"""
WRITERS = {
    "a file": _WRITER
    + """
    w = v1.summary.FileWriter("logs", g)
    w.add_summary(sess.run(s), 3)
    w.add_summary(v1.Summary(value=[dict(tag="b", simple_value=2.0)]), global_step=np.int64(4))
    w.add_summary(sess.run(s))
    w.add_event(v1.Event(step=5, wall_time=1.0, log_message=dict(message="m")))
    w.add_session_log(v1.SessionLog(status=v1.SessionLog.START), 6)
    w.add_run_metadata(v1.RunMetadata(), "run", 7)
    w.flush()
    found = [w.get_logdir(), attempt(w.add_run_metadata, v1.RunMetadata(), "run")]
    w.close()
[found, events("logs")]
""",
    "graphs": _WRITER
    + """
    w = v1.summary.FileWriter("logs")
    w.add_graph(g, 2)
    w.add_meta_graph(v1.train.export_meta_graph(), 3)
    w.add_graph(graph=None, graph_def=g.as_graph_def()) if False else None
    found = [attempt(w.add_graph, 3), attempt(w.add_meta_graph, 3)]
    w.close()
[found, events("logs")]
""",
    "closed and opened": _WRITER
    + """
    w = v1.summary.FileWriter("logs", filename_suffix=".x")
    w.add_summary(sess.run(s), 1)
    w.close()
    w.add_summary(sess.run(s), 2)
    w.reopen()
    w.add_summary(sess.run(s), 3)
    w.close()
    w.close()
[events("logs"), [n.endswith(".x") for n in listing("logs")]]
""",
    "with": _WRITER
    + """
    with v1.summary.FileWriter("logs", g.as_graph_def()) as w:
        w.add_summary(sess.run(s), 1)
events("logs")
""",
    "metadata is written once": _WRITER
    + """
    t = v1.summary.text("t", tf.constant("x"))
    with v1.summary.FileWriter("logs") as w:
        for i in range(2): w.add_summary(sess.run(t), i)
events("logs")
""",
    "by a session": _WRITER
    + """
    with v1.summary.FileWriter("logs", session=sess) as w:
        w.add_summary(sess.run(s), 1)
        w.add_summary(sess.run(s), 2)
        w.flush()
events("logs")
""",
    "from a cache": _WRITER
    + """
    w = v1.summary.FileWriterCache.get("logs")
    again = w is v1.summary.FileWriterCache.get("logs")
    w.add_summary(sess.run(s), 1)
    v1.summary.FileWriterCache.clear()
    other = w is v1.summary.FileWriterCache.get("logs")
    v1.summary.FileWriterCache.clear()
[again, other, events("logs")[:2]]
""",
    "eagerly": "v1.summary.FileWriter('logs')",
    "an iterator": _WRITER
    + """
    with v1.summary.FileWriter("logs") as w:
        w.add_summary(sess.run(s), 1)
    (path,) = listing("logs")
    found = [[e.step, e.WhichOneof("what")] for e in v1.train.summary_iterator("logs/" + path)]
    found.append(attempt(lambda: list(v1.train.summary_iterator("none"))).split(":")[0])
found
""",
}
