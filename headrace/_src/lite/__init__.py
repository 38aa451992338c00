"""TensorFlow Lite: models as files that LiteRT runs on phones and small machines."""
