"""Save the objects of saved_programs.py with TensorFlow, and record what the expressions about them give there."""

import importlib
import io
import json
import pathlib
import shutil
import tempfile
import zipfile

from model_results import result_of
from saved_programs import PROGRAMS, expressions

if __name__ == "__main__":
    tf = importlib.import_module("tensorflow")  # only here: this file is also looked through for doctests
    results, packed = {}, io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_LZMA) as archive:
        for name, build in sorted(PROGRAMS.items()):
            folder = pathlib.Path(tempfile.mkdtemp())
            obj, keywords = build(tf, folder)
            tf.saved_model.save(obj, str(folder / "model"), **keywords)
            for path in sorted((folder / "model").rglob("*")):
                if path.is_file():
                    inside = f"{name}/{path.relative_to(folder / 'model').as_posix()}"
                    archive.writestr(
                        zipfile.ZipInfo(inside, (1980, 1, 1, 0, 0, 0)), path.read_bytes(), zipfile.ZIP_LZMA
                    )
            loaded = tf.saved_model.load(str(folder / "model"))
            results[name] = [[text, result_of(tf, loaded, text, folder / "model")] for text in expressions(build)]
            shutil.rmtree(folder)
    target = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "saved_models"
    target.mkdir(exist_ok=True)
    (target / "models.zip").write_bytes(packed.getvalue())
    (target / "results.json").write_text(json.dumps(results, indent=0) + "\n")
