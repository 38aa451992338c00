"""1.x programs around SavedModels, whose results TensorFlow recorded; see `v1_saving_programs.py`.

    python tests/compat/record_v1_saving.py    # with TensorFlow
"""

_MODEL = """
g = stack.enter_context(tf.Graph().as_default())
x = v1.placeholder(tf.float32, [None, 2], name="x")
w = v1.get_variable("w", initializer=[[1.0], [2.0]])
b = v1.get_variable("b", initializer=[0.5], trainable=False)
y = tf.add(tf.matmul(x, w.value()), b.value(), name="y")
sess = v1.Session()
sess.run(v1.global_variables_initializer())
"""
_SAVED = _MODEL + 'v1.saved_model.simple_save(sess, "m", {"x": x}, {"y": y})\n'
# With a table that is filled from a file.
_ASSETS = """
g = stack.enter_context(tf.Graph().as_default())
os.mkdir("files")
pathlib.Path("files/words.txt").write_text("red\\ngreen\\nblue\\n")
path = tf.constant("files/words.txt", name="path")
v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, path)
table = tf.lookup.StaticVocabularyTable(
    tf.lookup.TextFileInitializer(path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                                  tf.lookup.TextFileIndex.LINE_NUMBER), 2)
x = v1.placeholder(tf.string, [None], name="x")
w = v1.get_variable("w", initializer=[10.0, 20.0, 30.0, 40.0, 50.0])
y = tf.gather(w, table.lookup(x), name="y")
sess = v1.Session()
sess.run([v1.global_variables_initializer(), v1.tables_initializer()])
signature = v1.saved_model.predict_signature_def({"x": x}, {"y": y})
"""
_LOAD = """
stack.enter_context(tf.Graph().as_default())
other = v1.Session()
m = v1.saved_model.load(other, ["serve"], "m")
"""

MODELS = {
    "simple": _SAVED + "[listing('m'), shown(model('m').meta_graphs[0]), model('m').saved_model_schema_version]",
    "loaded": _SAVED
    + _LOAD
    + """
new = v1.get_default_graph()
[other.run("y:0", {"x:0": [[1.0, 1.0]]}), [v.name for v in v1.global_variables()],
 parts(m.signature_def["serving_default"]), list(m.meta_info_def.tags), sorted(new.get_all_collection_keys())]
""",
    "loaded into a scope": _SAVED
    + """
stack.enter_context(tf.Graph().as_default())
other = v1.Session()
m = v1.saved_model.loader.load(other, ["serve"], "m", import_scope="q")
[other.run("q/y:0", {"q/x:0": [[1.0, 1.0]]}), [v.name for v in v1.global_variables()],
 parts(m.signature_def["serving_default"])]
""",
    "loaded with other tags": _SAVED + "v1.saved_model.load(sess, ['train'], 'm')",
    "loaded from nowhere": _SAVED + "attempt(v1.saved_model.load, sess, ['serve'], 'none').split('{')[0]",
    "where models are": _SAVED
    + "[v1.saved_model.contains_saved_model('m'), v1.saved_model.maybe_saved_model_directory('m'),"
    " v1.saved_model.loader.maybe_saved_model_directory('none')]",
    "builder": _MODEL
    + """
builder = v1.saved_model.Builder("m")
signature = v1.saved_model.predict_signature_def({"a": x}, {"b": y})
builder.add_meta_graph_and_variables(sess, ["serve", "mine"], {"serving_default": signature, "two": signature})
builder.add_meta_graph(["train"], strip_default_attrs=True)
[builder.save(), listing("m"), [list(g.meta_info_def.tags) for g in model("m").meta_graphs],
 [sorted(g.signature_def) for g in model("m").meta_graphs], [str(g.saver_def) for g in model("m").meta_graphs],
 [g.meta_info_def.stripped_default_attrs for g in model("m").meta_graphs]]
""",
    "builder, text": _MODEL
    + """
builder = v1.saved_model.builder.SavedModelBuilder("m")
builder.add_meta_graph_and_variables(sess, ["serve"])
path = builder.save(as_text=True)
""" + _LOAD + "[path, listing('m'), other.run('y:0', {'x:0': [[1.0, 1.0]]})]",
    "builder, errors": _MODEL
    + """
found = []
builder = v1.saved_model.Builder("m")
found.append(attempt(builder.add_meta_graph, ["serve"]))
found.append(attempt(builder.add_meta_graph_and_variables, sess, []))
found.append(attempt(builder.add_meta_graph_and_variables, sess, ["a"], main_op=3))
builder = v1.saved_model.Builder("m1")
builder.add_meta_graph_and_variables(sess, ["serve"])
found.append(attempt(builder.add_meta_graph_and_variables, sess, ["serve"]))
builder.save()
found.append(attempt(v1.saved_model.Builder, "m1"))
bad = v1.saved_model.build_signature_def({"x": v1.TensorInfo(name="x:0")}, {}, "m")
builder = v1.saved_model.Builder("m2")
found.append(attempt(builder.add_meta_graph_and_variables, sess, ["serve"], {"k": bad}))
builder = v1.saved_model.Builder("m3")
found.append(attempt(builder.add_meta_graph_and_variables, sess, ["serve"], {"__saved_model_init_op": bad}))
found.append(attempt(builder.add_meta_graph_and_variables, sess, ["serve"], legacy_init_op=3))
found
""",
    "main op": _MODEL
    + """
builder = v1.saved_model.Builder("m")
u = v1.get_local_variable("u", initializer=7.0)
builder.add_meta_graph_and_variables(sess, ["serve"], main_op=v1.saved_model.main_op.main_op())
builder.save()
""" + _LOAD + "[other.run('u:0' if False else v1.local_variables()[0]), shown(m)[1]['signatures'], "
    "sorted(m.collection_def), operations(v1.get_default_graph(), 'group')]",
    "legacy init op": _MODEL
    + """
u = v1.get_local_variable("u", initializer=7.0)
v1.saved_model.simple_save(sess, "m", {"x": x}, {"y": y}, legacy_init_op=tf.group(u.initializer, name="first"))
""" + _LOAD + "[other.run(v1.local_variables()[0]), shown(m)[1]['signatures'], sorted(m.collection_def)]",
    "a saver of one's own": _MODEL
    + """
builder = v1.saved_model.Builder("m")
builder.add_meta_graph_and_variables(sess, ["serve"], saver=v1.train.Saver({"other": w, "b": b}))
builder.save()
[tf.train.list_variables("m/variables/variables"), str(model("m").meta_graphs[0].saver_def)]
""",
    "no variables": """
stack.enter_context(tf.Graph().as_default())
x = v1.placeholder(tf.float32, [], name="x")
y = tf.add(x, 1.0, name="y")
sess = v1.Session()
v1.saved_model.simple_save(sess, "m", {"x": x}, {"y": y})
""" + _LOAD + "[listing('m'), other.run('y:0', {'x:0': 1.0})]",
    "assets": _ASSETS
    + """
builder = v1.saved_model.Builder("m")
builder.add_meta_graph_and_variables(sess, ["serve"], {"serving_default": signature},
    assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS), main_op=v1.tables_initializer())
builder.save()
os.rename("files", "elsewhere")
""" + _LOAD + "[listing('m'), [str(a) for a in m.asset_file_def], other.run('y:0', {'x:0': ['blue', 'red']}), "
    "str(m.collection_def['asset_filepaths']), 'saved_model_assets' in m.collection_def]",
    "assets of the same name": """
stack.enter_context(tf.Graph().as_default())
for folder, text in (("a", "1"), ("b", "2"), ("c", "1")):
    os.mkdir(folder)
    pathlib.Path(f"{folder}/f.txt").write_text(text)
    v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, tf.constant(f"{folder}/f.txt"))
sess = v1.Session()
builder = v1.saved_model.Builder("m")
builder.add_meta_graph_and_variables(sess, ["serve"], assets_collection=v1.get_collection("asset_filepaths"))
builder.save()
[listing("m"), [a.filename for a in model("m").meta_graphs[0].asset_file_def]]
""",
    "assets that are not there": """
stack.enter_context(tf.Graph().as_default())
builder = v1.saved_model.Builder("m")
sess = v1.Session()
tf.constant(1.0)
[attempt(builder.add_meta_graph_and_variables, sess, ["serve"], assets_collection=[3]),
 str(attempt(v1.saved_model.Builder("m2").add_meta_graph_and_variables, sess, ["serve"],
             assets_collection=[tf.constant("none.txt")])).split(":")[0]]
""",
    "tensor infos": """
stack.enter_context(tf.Graph().as_default())
S = v1.saved_model
dense, sparse = v1.placeholder(tf.float32, [None, 2], name="d"), v1.sparse_placeholder(tf.int32, [2, 3], name="s")
ragged = v1.ragged.placeholder(tf.int64, 1, name="r")
v = v1.get_variable("v", initializer=1.0)
infos = [S.build_tensor_info(t) for t in (dense, sparse, ragged, v)]
back = [S.get_tensor_from_tensor_info(info) for info in infos[:3]]
[[str(info) for info in infos], back[0] is dense, [type(t).__name__ for t in back], back[1].indices.name,
 back[2].row_splits.name, attempt(S.utils.build_tensor_info, 3),
 attempt(S.utils.get_tensor_from_tensor_info, v1.TensorInfo()),
 attempt(S.utils.get_tensor_from_tensor_info, v1.TensorInfo(name="none:0")),
 S.get_tensor_from_tensor_info(infos[0], import_scope="") is dense]
""",
    "tensor infos eagerly": "attempt(v1.saved_model.build_tensor_info, tf.constant(1.0))",
    "signatures": """
stack.enter_context(tf.Graph().as_default())
S = v1.saved_model.signature_def_utils
text, number = v1.placeholder(tf.string, [None], name="t"), v1.placeholder(tf.float32, [None], name="n")
classes = tf.constant(["a"], name="c")
found = [parts(S.regression_signature_def(text, number)), parts(S.classification_signature_def(text, classes, number)),
         parts(S.classification_signature_def(text, None, number)),
         parts(S.predict_signature_def({"a": text}, {"b": number})),
         parts(S.build_signature_def()), attempt(S.regression_signature_def, number, number),
         attempt(S.regression_signature_def, text, text), attempt(S.regression_signature_def, None, number),
         attempt(S.classification_signature_def, text, None, None),
         attempt(S.classification_signature_def, text, number, None),
         attempt(S.predict_signature_def, {}, {"b": number})]
found + [S.is_valid_signature(x) for x in (
    S.regression_signature_def(text, number), S.classification_signature_def(text, classes, number),
    S.predict_signature_def({"a": text}, {"b": number}), S.build_signature_def())]
""",
    "names of methods": _SAVED
    + """
U = v1.saved_model.signature_def_utils.MethodNameUpdater
updater = U("m")
found = [attempt(updater.replace_method_name, "none", "x"), attempt(updater.replace_method_name, "", "x"),
         attempt(updater.replace_method_name, "serving_default", ""),
         attempt(updater.replace_method_name, "serving_default", "x", tags=["train"])]
updater.replace_method_name("serving_default", "mine")
os.mkdir("m2")
updater.save("m2")
updater.replace_method_name("serving_default", "other", tags="serve")
updater.save()
[found, listing("m2"), [model(f).meta_graphs[0].signature_def["serving_default"].method_name for f in ("m", "m2")]]
""",
    "main op with restore": _MODEL
    + "[op.type for op in [v1.saved_model.main_op_with_restore(w.initializer), v1.saved_model.main_op.main_op()]]",
    "eagerly": _SAVED
    + """
stack.close()
o = tf.saved_model.load("m")
found = [o.signatures["serving_default"](tf.constant([[1.0, 1.0]])), [v.name for v in o.variables],
         [v.numpy() for v in o.variables], [v.name for v in o.trainable_variables] if
         hasattr(o, "trainable_variables") else None, list(o.signatures),
         str(o.signatures["serving_default"].structured_input_signature),
         str(o.signatures["serving_default"].structured_outputs), o.tensorflow_version[:1]]
pruned = o.prune("x:0", "y:0")
found += [pruned(tf.constant([[2.0, 2.0]])), [i.name for i in pruned.inputs][:1],
          o.graph.get_tensor_by_name("y:0").name]
o.variables[0].assign([[3.0], [4.0]])
found.append(pruned(tf.constant([[2.0, 2.0]])))
found
""",
    "eagerly, references": _SAVED.replace("]])", "]], use_resource=False)").replace("trainable", "use_resource")
    + """
stack.close()
o = tf.saved_model.load("m")
o.signatures["serving_default"](tf.constant([[1.0, 1.0]]))
""",
    "eagerly, assets": _ASSETS
    + """
builder = v1.saved_model.Builder("m")
builder.add_meta_graph_and_variables(sess, ["serve"], {"serving_default": signature},
    assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS), main_op=v1.tables_initializer())
builder.save()
os.rename("files", "elsewhere")
stack.close()
o = tf.saved_model.load("m")
found = [o.signatures["serving_default"](x=tf.constant(["blue", "red"])),
         [os.path.basename(a.asset_path.numpy()) for a in o.asset_paths]]
found
""",
    "eagerly, legacy init op": _ASSETS
    + """
v1.saved_model.simple_save(sess, "m", {"x": x}, {"y": y}, legacy_init_op=v1.tables_initializer())
stack.close()
o = tf.saved_model.load("m")
found = [o.signatures["serving_default"](x=tf.constant(["blue", "red"]))]
found
""",
    "eagerly, gradients": _SAVED
    + """
stack.close()
o = tf.saved_model.load("m")
f = o.prune("x:0", "y:0")
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(f(tf.constant([[2.0, 3.0]])) ** 2)
found = [tape.gradient(loss, v) for v in o.variables if v.trainable]
found
""",
}
