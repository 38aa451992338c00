"""KerasHub: models from a configuration; no weights of the network."""

import keras_hub
import numpy as np
import tensorflow as tf
from checks import check

IDS = np.random.default_rng(0).integers(0, 30, (16, 12)).astype("int32")
INPUTS = {"token_ids": IDS, "padding_mask": np.ones_like(IDS), "segment_ids": np.zeros_like(IDS)}
SIZES = {"vocabulary_size": 30, "num_layers": 1, "num_heads": 2, "hidden_dim": 16, "intermediate_dim": 32,
         "max_sequence_length": 12}  # fmt: skip


def classifier():
    model = keras_hub.models.BertTextClassifier(
        backbone=keras_hub.models.BertBackbone(**SIZES), num_classes=2, preprocessor=None
    )
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return len(model.fit(INPUTS, IDS[:, 0] % 2, verbose=0).history["loss"])


def generated():
    model = keras_hub.models.GPT2CausalLM(backbone=keras_hub.models.GPT2Backbone(**SIZES), preprocessor=None)
    model.compile(sampler="greedy")
    prompt = {"token_ids": IDS[:1], "padding_mask": np.array([[1] * 4 + [0] * 8])}
    return np.asarray(model.generate(prompt, stop_token_ids=None)["token_ids"]).shape


def images():
    backbone = keras_hub.models.ResNetBackbone(
        input_conv_filters=[64], input_conv_kernel_sizes=[3], stackwise_num_filters=[64, 64],
        stackwise_num_blocks=[1, 1], stackwise_num_strides=[1, 2], block_type="basic_block", image_shape=(16, 16, 3),
    )  # fmt: skip
    return backbone(np.zeros((1, 16, 16, 3), "float32")).shape


check("a classifier of texts", classifier)
check("a language model", generated)
check("a network for images", images)
check("layers", lambda: keras_hub.layers.SinePositionEncoding()(tf.ones([1, 4, 6])))
check("tokenizer", lambda: keras_hub.layers.StartEndPacker(5, start_value=1, end_value=2)(tf.constant([7, 8])))
