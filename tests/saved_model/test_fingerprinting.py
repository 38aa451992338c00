"""Fingerprints of SavedModels that are written: what counts, and what does not."""

import re

from google.protobuf import text_format

import headrace as tf
from headrace._src.formats.model_messages import SavedModel
from headrace._src.saved_model.fingerprinting import fingerprint_of


def hashes(meta_graph):
    fingerprint = fingerprint_of(meta_graph, b"", None)
    return fingerprint.graph_def_program_hash, fingerprint.saved_object_graph_hash


def test_names_of_functions_may_have_more_digits(tmp_path):
    module = tf.Module()
    module.inner = tf.function(lambda x: x * 2.0)
    module.run = tf.function(lambda x: module.inner(x) + 1.0, input_signature=[tf.TensorSpec([None])])
    tf.saved_model.save(module, tmp_path)
    meta_graph = SavedModel.FromString((tmp_path / "saved_model.pb").read_bytes()).meta_graphs[0]
    names = [function.signature.name for function in meta_graph.graph_def.library.function]
    later = re.sub(r"(__inference_\w+?_)(\d+)", r"\g<1>1000\2", str(meta_graph))
    renamed = text_format.Parse(later, type(meta_graph)())
    assert not set(names) & {function.signature.name for function in renamed.graph_def.library.function}
    assert hashes(renamed) == hashes(meta_graph)
    changed = text_format.Parse(str(meta_graph).replace("float_val: 2", "float_val: 3"), type(meta_graph)())
    assert hashes(changed)[0] != hashes(meta_graph)[0]
