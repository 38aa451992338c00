"""Save the models of command_models.py with TensorFlow, and record what its `saved_model_cli` prints about them."""

import importlib
import io
import json
import os
import pathlib
import shlex
import shutil
import sys
import tempfile
import traceback
import zipfile

from command_lines import COMMANDS
from command_models import save_all


def recorded(cli, command):
    """What a command prints, its exit code, and the error that ended it. In a process of its own: flags are global."""
    output, error = tempfile.TemporaryFile(), tempfile.TemporaryFile()
    child = os.fork()
    if not child:
        os.dup2(output.fileno(), 1)
        code = 1
        try:
            sys.argv = ["saved_model_cli", *shlex.split(command)]
            cli.main()
            code = 0
        except SystemExit as exit:
            code = exit.code if isinstance(exit.code, int) else 0 if exit.code is None else 1
        except BaseException as problem:
            error.write("".join(traceback.format_exception_only(problem)).encode())
            error.flush()
        sys.stdout.flush()
        os._exit(code)
    _, status = os.waitpid(child, 0)
    for file in (output, error):
        file.seek(0)
    return {"code": os.waitstatus_to_exitcode(status), "out": output.read().decode(), "error": error.read().decode()}


if __name__ == "__main__":
    tf = importlib.import_module("tensorflow")  # only here: this file is also looked through for doctests
    cli = importlib.import_module("tensorflow.python.tools.saved_model_cli")
    target = pathlib.Path(__file__).resolve().parents[2]
    folder = pathlib.Path(tempfile.mkdtemp())
    child = os.fork()  # what saves must not have run in the process that is forked for each command
    if not child:
        save_all(tf, folder)
        os._exit(0)
    os.waitpid(child, 0)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_LZMA) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            inside = zipfile.ZipInfo(path.relative_to(folder).as_posix(), (1980, 1, 1, 0, 0, 0))
            archive.writestr(inside, path.read_bytes(), zipfile.ZIP_LZMA)
    (target / "fixtures" / "saved_models" / "commands.zip").write_bytes(packed.getvalue())
    os.chdir(folder)
    lines = [f"{json.dumps(command)}: {json.dumps(recorded(cli, command))}" for command in COMMANDS]
    (target / "golden" / "saved_model_cli.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    shutil.rmtree(folder)
