"""Import statements: which of them must say `tensorflow.compat.v1` or `tensorflow`, and which no longer work."""

import ast
import re

from headrace._src.upgrade import rules
from headrace._src.upgrade.names import PACKAGE, ROOT, dotted_path, is_tensorflow

V1 = f"{PACKAGE}.compat.v1"
_INNER = ("contrib", "python", "core", "examples", "compat")  # parts that compat.v1 does not have below it
_GRAPH_ONLY = {"tf.compat.v1.Session", "tf.compat.v1.InteractiveSession", "tf.compat.v1.placeholder",
               "tf.compat.v1.train.MonitoredTrainingSession", "tf.compat.v1.train.MonitoredSession"}
_SWITCHES = {"disable_v2_behavior", "disable_eager_execution"}


def rewrite(rewriter) -> None:
    """Change the imports of a source after its names have been seen."""
    for statement in rewriter.names.imports:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                if is_tensorflow(alias.name):
                    _plain(rewriter, statement, alias)
        else:
            _from(rewriter, statement)
    if not rewriter.options.safety:
        _graph_mode(rewriter)


def _plain(rewriter, statement, alias):
    """`import tensorflow.x as y`."""
    path, api = dotted_path(alias.name)
    if rewriter.options.safety:
        if not api and not _is_inner(path) and path.split(".")[1:2] != ["keras"]:  # Keras is one and the same in both
            _to_v1(rewriter, statement, alias)
    elif api:
        if api == "v1" and alias.asname == ROOT and path == ROOT and rewriter.options.upgrade_compat_v1_import:
            _replace(rewriter, statement, alias, alias.name, PACKAGE)
        else:
            rewriter.say(statement, "INFO", f"Not upgrading symbols of `{alias.name}`: it says itself what it means.")
    if _is_inner(path):
        _gone(rewriter, statement, path)


def _to_v1(rewriter, statement, alias):
    new = V1 + alias.name[len(PACKAGE) :]
    if alias.asname is None and alias.name == PACKAGE:
        new += f" as {PACKAGE}"
    elif alias.asname is None:
        return  # `import tensorflow.keras` binds `tensorflow`, which another name would not
    _replace(rewriter, statement, alias, alias.name, new)


def _replace(rewriter, statement, alias, old, new):
    start = rewriter.source.start(alias)
    old_text = rewriter.source.text(statement)
    rewriter.edits.replace(start, start + len(old), new)
    rewriter.say(statement, "INFO", f"Changed import from '{old_text}' to '{old_text.replace(old, new, 1)}'.")


def _is_inner(path):
    return path.split(".")[1:2] != [] and path.split(".")[1] in _INNER


def _from(rewriter, statement):
    """`from tensorflow.x import y`."""
    path, api = dotted_path(statement.module)
    names = [alias.name for alias in statement.names]
    if api or path.startswith("tf.compat"):
        return
    inner = [f"{path}.{name}" for name in names if _is_inner(f"{path}.{name}") and f"{path}.{name}" != "tf.compat"]
    for name in inner:
        _gone(rewriter, statement, name)
    if inner or path == "tf.keras" or path.startswith("tf.keras."):
        return
    star = "*" in names
    needs = star or rewriter.options.safety or statement in rewriter.from_v1 or any(
        _changes(rewriter, f"{path}.{name}") for name in names)
    if not needs:
        return
    place = re.compile(rb"from[\s\\]+").match(rewriter.source.data, rewriter.source.start(statement)).end()
    rewriter.edits.replace(place, place + len(PACKAGE), V1)
    old = rewriter.source.text(statement)
    level = "WARNING" if star and not rewriter.options.safety else "INFO"
    rewriter.say(statement, level, f"Changed import from '{old}' to '{old.replace(PACKAGE, V1, 1)}': its names keep "
                                   "their meaning of 1.x" + (" (manual check required)." if star else "."))


def _changes(rewriter, name):
    rule = rewriter.symbols.get(name)
    return rule is not None and rule.changes


def _gone(rewriter, statement, path):
    """A part that 2.x does not have, or that is nobody's business."""
    if path.startswith("tf.contrib"):
        rewriter.say(statement, "ERROR", f"Importing {path}, which TensorFlow 2 does not have. It cannot be converted "
                                         f"automatically. Use instead: {rules.contrib_advice(path)}.")
    elif path.startswith("tf.examples"):
        rewriter.say(statement, "ERROR", f"Importing {path}, which TensorFlow 2 does not have. Use instead: "
                                         "tf.keras.datasets (mnist.load_data() and others).")
    elif path.startswith(("tf.python", "tf.core")):
        rewriter.say(statement, "WARNING", f"Importing {path}, an inner module of TensorFlow, which may be another one "
                                           "in 2.x (manual check required).")


def _graph_mode(rewriter):
    """Programs with sessions need graphs: 2.x runs everything at once unless it is told not to."""
    used = sorted(_GRAPH_ONLY & rewriter.used)
    if not used or _builds_graphs_itself(rewriter):
        return
    root = rewriter.names.root()
    first = next((name.statement for name in rewriter.names.bound.values() if name.path == ROOT), None)
    switch = "tf.compat.v1.disable_v2_behavior()"
    if not rewriter.options.graph_mode or first is None or first not in rewriter.source.tree.body:
        place = first or rewriter.source.tree.body[0]
        rewriter.say(place, "WARNING", f"{used[0]} needs graphs: call {switch} right after the imports, or run the "
                                       "tool with --graph_mode, if this is a program and not a module of one.")
        return
    body = rewriter.source.tree.body
    block = [statement for statement in body if isinstance(statement, (ast.Import, ast.ImportFrom))
             and not _follows_code(body, statement)]
    last = block[-1] if first in block else first
    rewriter.edits.after(rewriter.source.end(last), f"{_line_end(rewriter.source)}{root}{switch[2:]}")
    rewriter.say(last, "INFO", f"Added {switch}: the program uses {used[0]}.")


def _builds_graphs_itself(rewriter):
    return any(isinstance(node, ast.Attribute) and node.attr in {*_SWITCHES, "as_default"} for node in rewriter.nodes)


def _follows_code(body, statement):
    """Whether something else than imports and the docstring comes before a statement."""
    for other in body[: body.index(statement)]:
        if not isinstance(other, (ast.Import, ast.ImportFrom)) and not (
                isinstance(other, ast.Expr) and isinstance(other.value, ast.Constant)):
            return True
    return False


def _line_end(source):
    end = re.search(rb"\r\n|\r|\n", source.data)
    return end.group().decode() if end else "\n"
