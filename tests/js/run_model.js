// node run_model.js FOLDER < inputs: loads a graph model, and prints its outputs as JSON.
const tf = require("@tensorflow/tfjs"), fs = require("fs"), path = require("path");

async function main() {
  const folder = process.argv[2];
  const json = JSON.parse(fs.readFileSync(path.join(folder, "model.json")));
  const group = json.weightsManifest[0];
  const data = Buffer.concat(group.paths.map(name => fs.readFileSync(path.join(folder, name))));
  const weightData = data.buffer.slice(data.byteOffset, data.byteOffset + data.length);
  const model = await tf.loadGraphModel({load: async () => ({...json, weightSpecs: group.weights, weightData})});
  const inputs = {};
  for (const [key, [values, shape, dtype]] of Object.entries(JSON.parse(fs.readFileSync(0)))) {
    inputs[json.signature.inputs[key].name] = tf.tensor(values, shape, dtype);
  }
  const keys = Object.keys(json.signature.outputs);
  const names = keys.map(key => json.signature.outputs[key].name);
  const results = await model.executeAsync(inputs, names);
  const tensors = Array.isArray(results) ? results : [results];
  const found = Object.fromEntries(keys.map((key, i) => [key, [Array.from(tensors[i].dataSync()), tensors[i].shape]]));
  console.log(JSON.stringify(found));
}

main().catch(error => { console.error(error.message); process.exit(1); });
