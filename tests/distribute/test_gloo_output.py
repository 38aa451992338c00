"""Lines of gloo do not reach standard output; those of everybody else do."""

import os
import subprocess
import sys

from headrace._src.distribute.gloo_output import without_gloos_lines

PROGRAM = """
import os, sys
from headrace._src.distribute.gloo_output import without_gloos_lines

print("before", end=" ")
with without_gloos_lines():
    os.write(1, b"[Gloo] Rank 0 is connected to 1 peer ranks.\\n")
    print("within")
    os.write(1, b"[Gloo] again\\nby the descriptor\\n")
    print("no [Gloo] line")
print("after")
block = without_gloos_lines()
block.__enter__()  # never left
print("at the end")
"""


def test_lines_of_others_are_passed_on():
    done = subprocess.run([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True)
    assert done.stdout == "before within\nby the descriptor\nno [Gloo] line\nafter\nat the end\n"


def test_a_program_without_standard_output(monkeypatch):
    def closed(descriptor):
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(os, "dup", closed)
    with without_gloos_lines():
        entered = True
    assert entered
