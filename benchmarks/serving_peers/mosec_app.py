"""mosec with headrace inside: `SERVED_MODEL=PATH mosec_app.py --port PORT`."""

import os

import mosec
import numpy as np

import headrace as tf


class Predict(mosec.Worker):
    """Batches of rows, as mosec's documents show."""

    def __init__(self):
        self.model = tf.saved_model.load(os.environ["SERVED_MODEL"])
        self.function = self.model.signatures["serving_default"]
        (self.name,) = self.function.structured_input_signature[1]

    def forward(self, data):
        rows = np.stack([np.asarray(one["instances"][0], np.float32) for one in data])
        (outputs,) = self.function(**{self.name: tf.constant(rows)}).values()
        return [{"predictions": [row.tolist()]} for row in outputs.numpy()]


if __name__ == "__main__":
    server = mosec.Server()
    server.append_worker(Predict, num=1, max_batch_size=16, max_wait_time=1)
    server.run()
