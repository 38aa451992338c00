"""TensorFlow.js: models as files that its runtime loads in pages and in Node."""
