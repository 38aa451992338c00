"""What to use instead of the commands that need TensorFlow's own compilers."""

CONVERT = (
    "SavedModels are not converted for TensorRT here. headrace compiles functions with XLA when they are called; for "
    "TensorRT, convert the SavedModel to ONNX (`python -m tf2onnx.convert --saved-model DIR --output model.onnx`), and "
    "build an engine with NVIDIA's `trtexec`; or use the saved_model_cli of a TensorFlow that was built with TensorRT."
)
AOT_COMPILE = (
    "SavedModels are not compiled to object files here. headrace compiles functions with XLA when they are called, and "
    "keeps programs between processes (`headrace cache`; HEADRACE_COMPILE_CACHE names another folder). For a C++ "
    "program without Python, use the saved_model_cli of TensorFlow (the SavedModel is the same), TensorFlow Serving, "
    "or LiteRT."
)
