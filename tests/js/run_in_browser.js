// node run_in_browser.js JOBS CHROMIUM ADDRESS [BACKEND]: the same as run_in_node.js, in a page of Chromium.
// The server at ADDRESS has tf.min.js, computing.js, and the folders of the jobs.
const puppeteer = require("puppeteer-core"), fs = require("fs");

async function main() {
  const [file, executablePath, address, backend] = process.argv.slice(2), jobs = JSON.parse(fs.readFileSync(file));
  const browser = await puppeteer.launch({
    executablePath, headless: true, protocolTimeout: 600000,
    args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
           "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
  });
  try {
    const page = await browser.newPage();
    await page.goto(`${address}/blank.html`);
    await page.addScriptTag({url: `${address}/tf.min.js`});
    await page.addScriptTag({url: `${address}/computing.js`});
    const results = await page.evaluate(async (jobs, backend) => {
      if (backend) await tf.setBackend(backend);
      return computeAll(tf, jobs, folder => `${folder}/model.json`);
    }, jobs, backend);
    const found = {results, backend: await page.evaluate(() => tf.getBackend()), version: await browser.version()};
    process.stdout.write(`${JSON.stringify(found)}\n`);
  } finally {
    await browser.close();
  }
}

main().catch(error => { console.error(error.message); process.exit(1); });
