// Runs the model beside this page. DEMO, in index.html, says what it is:
// {path, format: "graph" | "layers", kind: "digits" | "form", inputs: [{key, name, shape, dtype}]}; sizes of -1 are free.
"use strict";

const element = id => document.getElementById(id);
let model;

function say(text, isBad) {
  element("status").textContent = text;
  element("status").className = isBad ? "bad" : "";
}

// The outputs by name, for tensors in the order of DEMO.inputs; all are disposed here.
async function run(tensors) {
  let found, names;
  if (DEMO.format === "layers") {
    found = model.predict(tensors.length === 1 ? tensors[0] : tensors);
    names = model.outputNames;
  } else {
    const given = Object.fromEntries(DEMO.inputs.map((input, i) => [input.name, tensors[i]]));
    names = Object.keys(model.modelSignature.outputs);
    // Models with loops, branches or tables run asynchronously only.
    found = await model.executeAsync(given, names.map(name => model.modelSignature.outputs[name].name));
  }
  const outputs = Array.isArray(found) ? found : [found];
  const results = {};
  for (let i = 0; i < outputs.length; i++) {
    results[names[i]] = {shape: outputs[i].shape, values: await outputs[i].array()};
  }
  tf.dispose([tensors, outputs]);
  return results;
}

// Digits: 28 x 28 numbers, white on black, the digit in a box of 20 x 20 whose centre of mass is in the middle.

function pixels() {
  const drawing = element("drawing"), size = drawing.width;
  const ink = drawing.getContext("2d").getImageData(0, 0, size, size).data;
  let left = size, right = -1, top = size, bottom = -1, mass = 0, sumX = 0, sumY = 0;
  for (let y = 0; y < size; y++) for (let x = 0; x < size; x++) {
    const value = ink[4 * (y * size + x)];
    if (!value) continue;
    left = Math.min(left, x); right = Math.max(right, x); top = Math.min(top, y); bottom = Math.max(bottom, y);
    mass += value; sumX += value * (x + 0.5); sumY += value * (y + 0.5);
  }
  const small = element("small").getContext("2d");
  small.fillStyle = "#000";
  small.fillRect(0, 0, 28, 28);
  if (mass) {
    const scale = 20 / Math.max(right - left + 1, bottom - top + 1);
    // In halves, so that no line is lost.
    let source = drawing, width = size;
    while (width * 0.5 > size * scale) {
      const half = document.createElement("canvas");
      half.width = half.height = Math.round(width / 2);
      half.getContext("2d").drawImage(source, 0, 0, half.width, half.height);
      source = half; width = half.width;
    }
    const shift = (middle, first, last) => Math.min(Math.max(14 - middle * scale, 1 - first * scale), 27 - (last + 1) * scale);
    small.imageSmoothingQuality = "high";
    small.drawImage(source, shift(sumX / mass, left, right), shift(sumY / mass, top, bottom), size * scale, size * scale);
  }
  const found = small.getImageData(0, 0, 28, 28).data;
  const most = element("bytes").checked ? 1 : 255;
  return Float32Array.from({length: 784}, (_, i) => found[4 * i] / most);
}

function shares(values) {
  const total = values.reduce((sum, value) => sum + value, 0);
  if (values.every(value => value >= 0) && Math.abs(total - 1) < 1e-3) return values;
  const most = Math.max(...values), powers = values.map(value => Math.exp(value - most));
  return powers.map(power => power / powers.reduce((sum, value) => sum + value, 0));
}

function showClasses(values) {
  const rows = shares(values), best = rows.indexOf(Math.max(...rows));
  element("classes").replaceChildren(...rows.map((share, i) => {
    const row = document.createElement("tr"), bar = document.createElement("div");
    row.className = i === best ? "best" : "";
    bar.className = "bar";
    bar.style.width = `${100 * share}%`;
    for (const content of [String(i), bar, `${(100 * share).toFixed(1)} %`]) {
      const cell = document.createElement("td");
      cell.append(content);
      if (content === bar) cell.className = "bar-space";
      row.append(cell);
    }
    return row;
  }));
}

async function recognize() {
  const shape = DEMO.inputs[0].shape.map(size => size < 0 ? 1 : size);
  const begun = performance.now();
  const results = await run([tf.tensor(pixels(), shape)]);
  showClasses(Object.values(results)[0].values.flat());
  say(`${(performance.now() - begun).toFixed(0)} ms (${tf.getBackend()})`);
}

function startDigits() {
  const drawing = element("drawing"), pen = drawing.getContext("2d", {willReadFrequently: true});
  let last = null;
  const place = event => [event.offsetX, event.offsetY];
  const clear = () => {
    pen.fillStyle = "#000";
    pen.fillRect(0, 0, drawing.width, drawing.height);
    element("classes").replaceChildren();
    pixels();
  };
  const draw = event => {
    const next = place(event);
    pen.strokeStyle = "#fff";
    pen.lineWidth = 22;
    pen.lineCap = pen.lineJoin = "round";
    pen.beginPath();
    pen.moveTo(...last);
    pen.lineTo(...next);
    pen.stroke();
    last = next;
  };
  const attempt = () => recognize().catch(error => say(String(error.message || error), true));
  drawing.addEventListener("pointerdown", event => { last = place(event); drawing.setPointerCapture(event.pointerId); draw(event); });
  drawing.addEventListener("pointermove", event => { if (last) draw(event); });
  drawing.addEventListener("pointerup", () => { if (last) { last = null; attempt(); } });
  element("clear").addEventListener("click", clear);
  element("bytes").addEventListener("change", attempt);
  element("digits").hidden = false;
  clear();
}

// Any other model: a field for each input.

function example(shape, dtype) {
  if (!shape.length) return dtype === "string" ? "text" : dtype === "bool" ? false : 0;
  return Array.from({length: shape[0] < 0 ? 1 : shape[0]}, () => example(shape.slice(1), dtype));
}

function field(input) {
  const part = document.createElement("p"), area = document.createElement("textarea"), label = document.createElement("label");
  const sizes = input.shape === null ? "any shape" : `[${input.shape.map(size => size < 0 ? "?" : size).join(", ")}]`;
  label.textContent = `${input.key}: ${input.dtype} ${sizes}`;
  area.value = JSON.stringify(input.shape === null ? 0 : example(input.shape, input.dtype));
  label.append(area);
  part.append(label);
  const shape = input.shape || [];
  if (shape.length === 4 && shape[1] > 0 && shape[2] > 0 && [1, 3].includes(shape[3])) part.append(picture(area, shape));
  return {part, value: () => tf.tensor(JSON.parse(area.value), undefined, input.dtype)};
}

// A file with a picture, as numbers from 0 to 1.
function picture(area, [, height, width, channels]) {
  const label = document.createElement("label"), file = document.createElement("input");
  label.textContent = "or a picture: ";
  file.type = "file";
  file.accept = "image/*";
  file.addEventListener("change", async () => {
    const image = await createImageBitmap(file.files[0]);
    const numbers = tf.tidy(() => tf.image.resizeBilinear(tf.browser.fromPixels(image, channels), [height, width]).div(255).expandDims(0));
    area.value = JSON.stringify(await numbers.array());
    numbers.dispose();
  });
  label.append(file);
  return label;
}

function startForm() {
  const fields = DEMO.inputs.map(field);
  element("inputs").replaceChildren(...fields.map(one => one.part));
  document.querySelector("form").addEventListener("submit", async event => {
    event.preventDefault();
    const begun = performance.now();
    try {
      const results = await run(fields.map(one => one.value()));
      element("outputs").textContent = Object.entries(results)
        .map(([name, {shape, values}]) => `${name} [${shape.join(", ")}]\n${JSON.stringify(values)}`).join("\n\n");
      say(`${(performance.now() - begun).toFixed(0)} ms (${tf.getBackend()})`);
    } catch (error) {
      say(String(error.message || error), true);
    }
  });
  element("form").hidden = false;
}

async function start() {
  model = await (DEMO.format === "layers" ? tf.loadLayersModel : tf.loadGraphModel)(DEMO.path);
  (DEMO.kind === "digits" ? startDigits : startForm)();
  say(`Ready (${tf.getBackend()})`);
}

start().catch(error => say(
  location.protocol === "file:"
    ? "A browser loads models from a server only. Run `python -m http.server` in this folder, and open http://localhost:8000."
    : String(error.message || error), true));
