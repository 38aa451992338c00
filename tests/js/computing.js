// Loads a model of TensorFlow.js, and computes with it: in Node (`require`) and in a page (`window.compute`).
// A job is {folder, format, inputs: {key: [values, shape, dtype]}, fit, backend}; `place` says where a folder is loaded from.

function tensorOf(tf, [values, shape, dtype]) {
  return tf.tensor(values, shape, dtype);
}

function plain(tensor) {
  return [Array.from(tensor.dataSync()), tensor.shape];
}

async function computeGraph(tf, job, place) {
  const model = await tf.loadGraphModel(place(job.folder));
  const {inputs, outputs} = model.modelSignature;
  const given = {};
  for (const [key, value] of Object.entries(job.inputs)) given[inputs[key].name] = tensorOf(tf, value);
  const keys = Object.keys(outputs);
  const found = await model.executeAsync(given, keys.map(key => outputs[key].name));
  const tensors = Array.isArray(found) ? found : [found];
  return Object.fromEntries(keys.map((key, i) => [key, plain(tensors[i])]));
}

async function computeLayers(tf, job, place) {
  const model = await tf.loadLayersModel(place(job.folder));
  const inputs = Object.values(job.inputs).map(value => tensorOf(tf, value));
  const x = inputs.length === 1 ? inputs[0] : inputs;
  const found = model.predict(x);
  const tensors = Array.isArray(found) ? found : [found];
  const result = Object.fromEntries(tensors.map((tensor, i) => [`output_${i}`, plain(tensor)]));
  if (job.fit) {
    for (const name of job.fit.frozen || []) model.getLayer(name).trainable = false;
    model.compile({optimizer: tf.train.sgd(job.fit.rate), loss: job.fit.loss});
    const y = tensorOf(tf, job.fit.y);
    const history = await model.fit(x, y, {epochs: 1, batchSize: y.shape[0], shuffle: false, verbose: 0});
    result.loss = [[history.history.loss[0]], []];
    for (const weight of model.weights) result[`weight ${weight.originalName}`] = plain(weight.read());
  }
  return result;
}

async function compute(tf, job, place) {
  return (job.format === "layers" ? computeLayers : computeGraph)(tf, job, place);
}

// The results of many jobs; the message of the error where there is one.
async function computeAll(tf, jobs, place) {
  await tf.ready();
  const results = [], usual = tf.getBackend();
  for (const job of jobs) {
    tf.engine().startScope();
    try {
      await tf.setBackend(job.backend || usual);
      results.push(await compute(tf, job, place));
    } catch (error) {
      results.push({error: String(error.message || error)});
    }
    tf.engine().endScope();
  }
  return results;
}

if (typeof module !== "undefined") module.exports = {computeAll};
