"""1.x programs with monitored sessions and hooks, whose results TensorFlow recorded; see `v1_saving_programs.py`.

    python tests/compat/record_v1_saving.py    # with TensorFlow
"""

# A variable that counts, in the default graph.
_GRAPH = """
g = stack.enter_context(tf.Graph().as_default())
T = v1.train
step = T.get_or_create_global_step()
w = v1.get_variable("w", initializer=1.0)
train = tf.group(v1.assign_add(w, 1.0), v1.assign_add(step, 1), name="train")
v1.summary.scalar("w", w)
notes = []
class Noting(T.SessionRunHook):
    def __init__(self, name, **answers): self.name, self.answers = name, answers
    def begin(self): notes.append(f"{self.name} begin")
    def after_create_session(self, session, coord): notes.append(f"{self.name} created")
    def before_run(self, context):
        notes.append(f"{self.name} before")
        return self.answers.get("args")
    def after_run(self, context, values):
        notes.append(f"{self.name} after {values.results}")
        if self.answers.get("stop"): context.request_stop()
    def end(self, session): notes.append(f"{self.name} end")
"""


def _loop(session, body="s.run(train)"):
    return f"with {session} as s:\n    while not s.should_stop():\n        {body}\n"


HOOKS = {
    "order": _GRAPH
    + _loop("T.MonitoredSession(hooks=[Noting('a'), Noting('b', stop=True)])")
    + "notes",
    "what hooks ask for": _GRAPH
    + "x = v1.placeholder_with_default(2.0, [])\ny = x * 3.0\n"
    + "a = Noting('a', args=T.SessionRunArgs(y, {x: 5.0}))\n"
    + _loop("T.MonitoredSession(hooks=[a, T.StopAtStepHook(num_steps=2)])", "notes.append(s.run([y, train]))")
    + "notes",
    "fed twice": _GRAPH
    + "x = v1.placeholder(tf.float32, [])\na = Noting('a', args=T.SessionRunArgs(w, {x: 5.0}))\n"
    "with T.MonitoredSession(hooks=[a]) as s: found = attempt(s.run, x, {x: 1.0})\nfound",
    "stops at a step": _GRAPH
    + "counts = []\n"
    + _loop("T.MonitoredSession(hooks=[T.StopAtStepHook(last_step=3)])", "counts.append(s.run([train, step])[1])")
    + "[len(counts), attempt(T.StopAtStepHook), attempt(T.StopAtStepHook, 1, 2)]",
    "the end of the data": _GRAPH
    + """
x = v1.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
found = []
with T.MonitoredSession(hooks=[Noting("a")]) as s:
    while not s.should_stop(): found.append(s.run(x))
[found, notes[-1]]
""",
    "another error": _GRAPH
    + """
def run():
    with T.MonitoredSession(hooks=[Noting("a")]) as s: raise KeyError("k")
[attempt(run), notes]
""",
    "after the end": _GRAPH
    + "with T.MonitoredSession() as s: s.run(train)\n[attempt(s.run, train), s.should_stop()]",
    "saved": _GRAPH
    + """
hooks = [T.StopAtStepHook(last_step=5), T.CheckpointSaverHook("d", save_steps=2)]
"""
    + _loop("T.MonitoredSession(hooks=hooks)")
    + "[[n for n in listing('d') if 'events' not in n], tf.train.latest_checkpoint('d'), "
    "tf.train.load_variable('d', 'w')]",
    "listeners": _GRAPH
    + """
class Listener(T.CheckpointSaverListener):
    def begin(self): notes.append("begin")
    def before_save(self, session, step): notes.append(f"before {step}")
    def after_save(self, session, step):
        notes.append(f"after {step}")
        return step >= 4
    def end(self, session, step): notes.append(f"end {step}")
os.mkdir("d")
hooks = [T.CheckpointSaverHook("d", save_steps=2, listeners=[Listener()], save_graph_def=False)]
"""
    + _loop("T.MonitoredSession(hooks=hooks)")
    + "[notes, [n for n in listing('d') if 'events' not in n]]",
    "training": _GRAPH
    + """
for last in (3, 6):
    with T.MonitoredTrainingSession(checkpoint_dir="d", save_checkpoint_steps=2, save_summaries_steps=2,
                                    log_step_count_steps=None, hooks=[T.StopAtStepHook(last_step=last)]) as s:
        notes.append(s.run(w))
        while not s.should_stop(): s.run(train)
    stack.enter_context(tf.Graph().as_default())
    if last == 3:
        step = T.get_or_create_global_step()
        w = v1.get_variable("w", initializer=1.0)
        train = tf.group(v1.assign_add(w, 1.0), v1.assign_add(step, 1), name="train")
        v1.summary.scalar("w", w)
[notes, tf.train.latest_checkpoint("d"), tf.train.load_variable("d", "w")]
""",
    "summaries": _GRAPH
    + """
writer = v1.summary.FileWriter("d")
hooks = [T.StopAtStepHook(last_step=5),
         T.SummarySaverHook(save_steps=2, summary_writer=writer, summary_op=v1.summary.merge_all())]
"""
    + _loop("T.MonitoredSession(hooks=hooks)")
    + "writer.close()\n[e.split()[0] for e in events('d') if 'summary' in e]",
    "refused": _GRAPH
    + "[attempt(T.SummarySaverHook, save_steps=2), attempt(T.SummarySaverHook), attempt(T.CheckpointSaverHook, 'd'),"
    " attempt(T.CheckpointSaverHook, 'd', 1, 2), attempt(T.CheckpointSaverHook, 'd', save_steps=1, "
    "saver=T.Saver(), scaffold=T.Scaffold()), attempt(T.LoggingTensorHook, [w]), attempt(T.SecondOrStepTimer, 1, 2)]",
    "not a number": _GRAPH
    + """
loss = tf.math.log(w - 3.0) if False else tf.where(w > 2.0, np.float32(np.nan), w)
def run(fail):
    with T.MonitoredSession(hooks=[T.NanTensorHook(loss, fail_on_nan_loss=fail)]) as s:
        while not s.should_stop(): s.run(train)
        return s.should_stop()
[attempt(run, True), attempt(run, False)]
""",
    "final operations": _GRAPH
    + """
final = T.FinalOpsHook([w, step])
with T.MonitoredSession(hooks=[final, T.StopAtStepHook(num_steps=2)]) as s:
    while not s.should_stop(): s.run(train)
final.final_ops_values
""",
    "fed by a function": _GRAPH
    + """
x = v1.placeholder(tf.float32, [])
values = iter([1.0, 2.0, 3.0])
with T.MonitoredSession(hooks=[T.FeedFnHook(lambda: {x: next(values)})]) as s:
    found = [float(s.run(x)) for _ in range(2)]
found
""",
    "step functions": _GRAPH
    + """
def two(step_context):
    step_context.session.run(train)
    return step_context.run_with_hooks(step)
def stop(step_context): step_context.request_stop()
with T.MonitoredSession(hooks=[Noting("a")]) as s: found = [s.run_step_fn(two), s.should_stop()]
with T.MonitoredSession() as s: found.append(attempt(s.run_step_fn, stop))
[found, notes]
""",
    "one session": _GRAPH
    + """
with T.SingularMonitoredSession(hooks=[T.StopAtStepHook(num_steps=2)]) as s:
    while not s.should_stop(): s.run(train)
    found = s.raw_session().run(w)
found
""",
    "scaffold": _GRAPH
    + """
u = v1.get_local_variable("u", initializer=4.0)
scaffold = T.Scaffold(init_fn=lambda scaffold, session: session.run(v1.assign(w, 9.0).op) if False else None,
                      local_init_op=u.initializer)
with T.MonitoredSession(T.ChiefSessionCreator(scaffold)) as s: found = s.run([w, u])
[found, g.finalized, scaffold.saver is not None, scaffold.summary_op is not None,
 [v1.get_collection(k) != [] for k in ("init_op", "ready_op", "local_init_op", "summary_op", "savers")]]
""",
    "not ready": _GRAPH
    + """
u = v1.get_variable("u", initializer=1.0, collections=["variables"])
def run():
    with T.MonitoredSession(T.ChiefSessionCreator(T.Scaffold(init_op=w.initializer))) as s: s.run(w)
attempt(run)
""",
    "timer": """
T = v1.train
t = T.SecondOrStepTimer(every_steps=3)
found = [t.should_trigger_for_step(5), t.update_last_triggered_step(5)[1], t.should_trigger_for_step(5),
         t.should_trigger_for_step(7), t.should_trigger_for_step(8), t.last_triggered_step()]
found.append(t.update_last_triggered_step(8)[1])
t.reset()
[found, t.last_triggered_step()]
""",
}
