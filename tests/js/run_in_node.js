// node run_in_node.js JOBS: computes with models (see computing.js; JOBS is a file), and prints the results as JSON.
const tf = require("@tensorflow/tfjs"), fs = require("fs"), path = require("path");
const {computeAll} = require("./computing.js");

function place(folder) {
  const json = JSON.parse(fs.readFileSync(path.join(folder, "model.json")));
  const group = json.weightsManifest[0];
  const data = Buffer.concat(group.paths.map(name => fs.readFileSync(path.join(folder, name))));
  const weightData = data.buffer.slice(data.byteOffset, data.byteOffset + data.length);
  return {load: async () => ({...json, weightSpecs: group.weights, weightData})};
}

computeAll(tf, JSON.parse(fs.readFileSync(process.argv[2])), place)
  .then(results => process.stdout.write(`${JSON.stringify(results)}\n`))
  .catch(error => { console.error(error.message); process.exit(1); });
