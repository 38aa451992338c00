"""Record with TensorFlow what its `tf_upgrade_v2` makes of the calls and programs here, and what the programs print.

    python tests/upgrade/record_upgrade.py [--probe]    # scripts/golden_upgrade runs it

It writes tests/golden/upgrade_calls.tsv, whose first column has the calls, and tests/golden/upgrade_programs.json.
With --probe it also asks about a call of every name of 1.x, with each of its arguments, and prints those on which
headrace differs.
"""

import contextlib
import importlib
import io
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden"
CALLS, PROGRAMS = GOLDEN / "upgrade_calls.tsv", GOLDEN / "upgrade_programs.json"
IMPORT = "import tensorflow as tf\n"


def tool(text):
    """What TensorFlow's tool makes of a source; None if it fails."""
    edits = importlib.import_module("tensorflow.tools.compatibility.ast_edits")
    rules = importlib.import_module("tensorflow.tools.compatibility.tf_upgrade_v2")
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            done, result, _, _ = edits.ASTCodeUpgrader(rules.TFAPIChangeSpec(
                import_rename=False, upgrade_compat_v1_import=True)).update_string_pasta(text, "program.py")
        except Exception:
            return None
    return result if done else None


def one_line(call):
    """What the tool makes of a call on a line of its own."""
    result = tool(f"{IMPORT}{call}\n")
    return "fails" if result is None else result[len(IMPORT) :].rstrip("\n")


def printed(text):
    """What a program of 1.x prints."""
    tf = importlib.import_module("tensorflow")
    tf.compat.v1.disable_v2_behavior()
    tf.compat.v1.reset_default_graph()
    tf.compat.v1.set_random_seed(1)
    # What contrib had, by the initializer that TensorFlow's documentation names instead.
    text = text.replace("tf.contrib.layers.xavier_initializer(uniform=True, ", "tf.glorot_uniform_initializer(")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(text.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf"), {"__name__": "__main__"})
    return out.getvalue()


def names_of_1x():
    """Calls of all names of `tf.compat.v1`: without arguments, with all of them, and with each by its keyword."""
    inspect = importlib.import_module("inspect")
    v1 = importlib.import_module("tensorflow").compat.v1
    seen = set()
    stack = [("tf", v1)]
    while stack:
        path, module = stack.pop()
        for name in sorted(set(dir(module)) - {"keras", "compat"}):
            value = getattr(module, name, None)
            if name.startswith("_") or value is None:
                continue
            full = f"{path}.{name}"
            if inspect.ismodule(value):
                if "tensorflow" in value.__name__ and value.__name__ not in seen:
                    seen.add(value.__name__)
                    stack.append((full, value))
                continue
            yield f"x = {full}"
            try:
                parameters = [p.name for p in inspect.signature(value).parameters.values()
                              if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "self"]
            except (TypeError, ValueError):
                continue
            yield f"{full}()"
            for count in range(1, len(parameters) + 1):
                yield f"{full}({', '.join(f'p{k}' for k in range(count))})"
            yield from (f"{full}({parameter}=v)" for parameter in parameters)


def probe():
    """Print where headrace and TensorFlow's tool differ on calls of all names."""
    sys.path.insert(0, str(HERE.parents[1]))
    upgrade = importlib.import_module("headrace._src.upgrade.rewriting").upgrade
    count = different = 0
    for call in names_of_1x():
        count += 1
        theirs = one_line(call)
        ours = upgrade(f"{IMPORT}{call}\n".encode()).data.decode()[len(IMPORT) :].rstrip("\n")
        if ours != theirs:
            different += 1
            print(f"{call}\n  TensorFlow: {theirs}\n  headrace:   {ours}")
    print(f"{count} calls, {different} of them differ")


def main():
    rows = [line.split("\t") for line in CALLS.read_text(encoding="utf-8").splitlines()]
    rows = [[call, one_line(call), *rest] for call, _, *rest in rows]
    CALLS.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    found = {}
    for path in sorted((HERE / "programs").glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        found[path.stem] = {"tool": tool(text), "prints": printed(text)}
    PROGRAMS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    if "--probe" in sys.argv:
        probe()


if __name__ == "__main__":
    main()
