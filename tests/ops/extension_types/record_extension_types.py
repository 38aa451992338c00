"""Record with TensorFlow what the programs of `extension_type_programs.py` give."""

import importlib
import json
import os
import pathlib

if __name__ == "__main__":
    os.environ["PROGRAMS_OF"] = "tensorflow"
    programs = importlib.import_module("extension_type_programs")  # only here: this file is looked through for doctests
    found = {name: programs.result_of(program) for name, program in programs.PROGRAMS.items()}
    path = pathlib.Path(__file__).resolve().parents[2] / "golden" / "extension_type_programs.json"
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found))
    path.write_text("{\n" + lines + "\n}\n")
