"""All rows of the table, with their goals."""

from workloads import arrays, decoder, dense, input_files, loops, recurrent, transformer_block
from workloads.convolutional import application_predicting, application_training, cnn_predicting, cnn_training
from workloads.row import Row


def _application_rows(name):
    yield Row(f"{name} predict b8", *application_predicting(name), goal=1.0, warm=3, unit="batch", tolerance=1e-2)
    yield Row(f"{name} training b8", *application_training(name), goal=1.0, warm=3, tolerance=5e-2)


def _decoder_rows(dtype, tolerance):
    yield Row(f"decoder training, {dtype}", decoder.training(dtype), decoder.torch_training(dtype), 1.2, 1.0, warm=4,
              calls=decoder.TRAINED_TOKENS, unit="token", tolerance=tolerance)  # fmt: skip
    yield Row(f"decoder generation, {dtype}", decoder.generation(dtype), decoder.torch_generation(dtype), 1.2, 1.0,
              warm=4, calls=decoder.GENERATED_TOKENS, unit="token",
              tolerance=1e-3 if dtype == "float32" else None)  # fmt: skip


ROWS = [
    Row("CNN step compiled b50", *cnn_training(50), goal=1.4, torch_goal=1.2),
    Row("CNN step compiled b256", *cnn_training(256), goal=1.15, torch_goal=1.0, warm=10),
    Row("CNN predict b256", *cnn_predicting(256), goal=1.1, torch_goal=1.2, warm=10, unit="batch"),
    *_application_rows("ResNet50"),
    *_application_rows("MobileNetV2"),
    Row("CNN step eager b50", *cnn_training(50, eager=True), goal=2.5, torch_goal=1.2, eager=True, warm=5),
    Row("MLP step eager", dense.eager_step, dense.torch_twin, 10, eager=True),
    Row("MLP step compiled", dense.compiled_step, dense.torch_twin, 2.2, 1.5, warm=300),
    Row("MLP fit", dense.fit, goal=3.5, warm=4, calls=dense.FIT_STEPS),
    Row("LSTM(256) x 40, Python loop", recurrent.loop, recurrent.torch_loop, 1.8),
    Row("keras.layers.LSTM training", recurrent.layer("LSTM"), recurrent.torch_layer("LSTM"), 2, 0.8),
    Row("keras.layers.GRU training", recurrent.layer("GRU"), recurrent.torch_layer("GRU"), 2, 0.8),
    Row("Transformer block training", transformer_block.block, transformer_block.torch_block, 1.2, 1.0),
    *_decoder_rows("float32", 1e-3),
    *_decoder_rows("bfloat16", 2e-2),
    Row("JPEG, resize", input_files.jpeg, goal=2, warm=2, unit="96 photos", needs_files=True),
    Row("TFRecord write", input_files.write, goal=2, warm=2, unit="20,000 records", tolerance=None, needs_files=True),
    Row("VarLen parse", input_files.varlen, goal=3, warm=2, unit="5,000 records", needs_files=True),
    *(Row(f"element-wise, 10^{power}", arrays.elementwise(10**power), arrays.torch_elementwise(10**power), 1.0, 1.0,
          eager=True, warm=2, unit="function", tolerance=None, seconds=2.0) for power in (4, 6, 7)),
    Row("while loop, first call", loops.first_call, goal=1.0, warm=2, unit="call"),
    Row("while loop, warm", loops.warm_call, goal=100, unit="call"),
]  # fmt: skip
