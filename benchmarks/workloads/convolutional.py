"""A small convolutional network on digits, and ResNet-50 and MobileNetV2 of keras.applications."""

from workloads.torch_images import mobile_net, resnet_50, small_cnn
from workloads.training import Jit, keras_step, torch_step
from workloads.weights import fill, images

_CNN_IMAGES, _PHOTO = (28, 1), (224, 3)
LARGE_BATCH = 8
# Of the large networks: so small that three steps in different libraries stay comparable.
_RATE, _SMALL_RATE = 1e-3, 1e-5


def _cnn(tf):
    layers = tf.keras.layers
    return fill(tf.keras.Sequential([
        tf.keras.Input([28, 28, 1]),
        layers.Conv2D(32, 5, padding="same", activation="relu", name="conv1"), layers.MaxPool2D(2),
        layers.Conv2D(64, 5, padding="same", activation="relu", name="conv2"), layers.MaxPool2D(2),
        layers.Flatten(), layers.Dense(1024, activation="relu", name="hidden"), layers.Dense(10, name="out"),
    ]))  # fmt: skip


def _application(name):
    def build(tf):
        return fill(getattr(tf.keras.applications, name)(weights=None, classes=10, classifier_activation=None))

    return build


def _training(model, size, batch, eager=False, rate=_RATE):
    return lambda tf: keras_step(tf, model(tf), *images(batch, *size), eager=eager, rate=rate)


def _predicting(model, size, batch):
    def build(tf):
        built, x = model(tf), images(batch, *size)[0]
        if Jit.enabled:
            built.compile(jit_compile=True)
        return lambda: float(abs(built.predict(x, batch_size=batch, verbose=0)).mean())

    return build


def _torch_images(torch, size, batch):
    x, y = images(batch, *size)
    x = torch.from_numpy(x.transpose(0, 3, 1, 2).copy()).to(memory_format=torch.channels_last)
    return x, torch.from_numpy(y)


def _torch_training(model, size, batch, rate=_RATE):
    def build(torch, compiled):
        built = model(torch).to(memory_format=torch.channels_last).train()
        x, y = _torch_images(torch, size, batch)
        forward = lambda: torch.nn.functional.cross_entropy(built(x), y)
        return torch_step(torch, forward, built.parameters(), compiled, rate)

    return build


def _torch_predicting(model, size, batch):
    def build(torch, compiled):
        built = model(torch).to(memory_format=torch.channels_last).eval()
        run = compiled(built)
        x, _ = _torch_images(torch, size, batch)

        def predict():
            with torch.inference_mode():
                return float(run(x).abs().mean())

        return predict

    return build


def cnn_training(batch, eager=False):
    """The step of the small network in TensorFlow and in PyTorch."""
    return _training(_cnn, _CNN_IMAGES, batch, eager), _torch_training(small_cnn, _CNN_IMAGES, batch)


def cnn_predicting(batch):
    return _predicting(_cnn, _CNN_IMAGES, batch), _torch_predicting(small_cnn, _CNN_IMAGES, batch)


_TWINS = {"ResNet50": resnet_50, "MobileNetV2": mobile_net}


def application_training(name):
    """A step of a network of keras.applications, in TensorFlow and in PyTorch."""
    return (
        _training(_application(name), _PHOTO, LARGE_BATCH, rate=_SMALL_RATE),
        _torch_training(_TWINS[name], _PHOTO, LARGE_BATCH, _SMALL_RATE),
    )


def application_predicting(name):
    return (_predicting(_application(name), _PHOTO, LARGE_BATCH), _torch_predicting(_TWINS[name], _PHOTO, LARGE_BATCH))
