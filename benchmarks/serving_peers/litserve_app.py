"""LitServe with TensorFlow inside: `litserve_app.py MODEL PORT`."""

import sys

import litserve
import numpy as np
import tensorflow as tf


class Predict(litserve.LitAPI):
    """Batches of rows, as LitServe's documents show."""

    def setup(self, device):
        self.model = tf.saved_model.load(sys.argv[1])
        self.function = self.model.signatures["serving_default"]
        (self.name,) = self.function.structured_input_signature[1]

    def decode_request(self, request):
        return np.asarray(request["instances"][0], np.float32)

    def batch(self, inputs):
        return np.stack(inputs)

    def predict(self, inputs):
        (outputs,) = self.function(**{self.name: tf.constant(inputs)}).values()
        return outputs.numpy()

    def unbatch(self, output):
        return list(output)

    def encode_response(self, output):
        return {"predictions": [output.tolist()]}


if __name__ == "__main__":
    api = Predict(max_batch_size=16, batch_timeout=0.001)
    litserve.LitServer(api, accelerator="cpu", workers_per_device=1).run(
        host="127.0.0.1", port=int(sys.argv[2]), generate_client_file=False, log_level="error"
    )
