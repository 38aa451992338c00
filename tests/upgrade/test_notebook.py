"""Notebooks: code is upgraded, and every other byte stays."""

import json

import pytest

from headrace._src.upgrade.notebook import upgrade_notebook
from headrace._src.upgrade.source import SourceError

# As some program wrote it: spaces, escapes and the order of keys are nobody else's business.
NOTEBOOK = r"""{
 "cells": [
  {"cell_type": "markdown", "metadata": {}, "source": ["tf.Session \u00e9"]},
  {
   "cell_type": "code", "execution_count":3,
   "outputs": [{"text": ["tf.log(1)\n"], "data": {"source": "tf.log"}}],
   "metadata": {"source": ["tf.log"], "x":1.50},
   "source": [
    "%matplotlib inline\n",
    "import tensorflow as t\n",
    "!pip install \\\n",
    "   tensorflow==1.15\n",
    "files = !ls\n",
    "x = t.log(1)   # \u00e9\n",
    "if x:\n",
    "    %time t.Session()\n",
    "y = (x\n",
    "  % t.to_float(2))"
   ]
  },
  {"cell_type": "code", "source": "%%bash\nimport tensorflow; t.log(1)", "outputs": []},
  {"cell_type": "code", "source": "%%time\ns = t.Session()\nt.log?", "outputs": []},
  {"cell_type": "raw", "source": ["t.log(1)"]}
 ],
 "nbformat": 4,   "nbformat_minor": 2
}
"""


def test_only_code_changes():
    expected = NOTEBOOK.replace('"x = t.log(1)   # \\u00e9\\n"', '"x = t.math.log(1)   # \\u00e9\\n"')
    expected = expected.replace("% t.to_float(2))", "% t.cast(2, dtype=t.float32))")
    expected = expected.replace("s = t.Session()\\nt.log?", "s = t.compat.v1.Session()\\nt.log?")
    result = upgrade_notebook(NOTEBOOK.encode("utf-8"))
    assert result.data.decode("utf-8") == expected
    assert json.loads(result.data)["nbformat"] == 4
    assert any(m.text == "cell 2: Renamed 'tf.log' to 'tf.math.log'" and m.line == 6 for m in result.messages)
    assert any(m.text.startswith("cell 4: Renamed 'tf.Session'") and m.line == 2 for m in result.messages)


def test_a_notebook_without_tensorflow_stays():
    original = NOTEBOOK.replace("t.", "u.").replace("tensorflow", "other").encode("utf-8")
    assert upgrade_notebook(original).data == original


def test_lists_of_lines_that_become_more():
    lines = ["tf.cond(a, b, c, \n", "  True, \n", "d)"]
    text = json.dumps({"cells": [{"cell_type": "code", "source": lines}]}, indent=1)
    code = "".join(json.loads(upgrade_notebook(text.encode()).data)["cells"][0]["source"])
    assert code == "tf.cond(a, b, c, \n  name=d)"


def test_old_notebooks_with_worksheets():
    text = '{"worksheets": [{"cells": [{"cell_type": "code", "input": ["tf.log(1)"]}]}], "nbformat": 3}'
    assert upgrade_notebook(text.encode()).data.decode() == text.replace("tf.log", "tf.math.log")


def test_broken_cells_are_named_and_the_others_upgraded():
    text = json.dumps({"cells": [{"cell_type": "code", "source": source} for source in ("print 'x'", "tf.log(1)")]})
    with pytest.raises(SourceError, match="cell 1: it does not parse") as raised:
        upgrade_notebook(text.encode())
    assert raised.value.args[1].data.decode() == text.replace("tf.log", "tf.math.log")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cells": 3}', '{"cells": [1]}', "\xff"])
def test_what_is_not_a_notebook_is_named(text):
    with pytest.raises(SourceError, match="not a notebook"):
        upgrade_notebook(text.encode("latin-1"))
