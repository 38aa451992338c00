// node draw_in_browser.js CHROMIUM ADDRESS PICTURE [X Y ...]: opens the page of `headrace js-demo`, draws a line through
// these points (of 280 x 280), and prints the row that the page then shows as the best one, and what its status says.
const puppeteer = require("puppeteer-core");

async function main() {
  const [executablePath, address, picture, ...numbers] = process.argv.slice(2);
  const points = numbers.map(Number);
  const browser = await puppeteer.launch({
    executablePath, headless: true,
    args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader",
           "--enable-unsafe-swiftshader"],
  });
  try {
    const page = await browser.newPage();
    await page.setViewport({width: 900, height: 520});
    const problems = [];
    page.on("pageerror", error => problems.push(error.message));
    const isElsewhere = url => new URL(url).origin !== new URL(address).origin;
    page.on("request", request => { if (isElsewhere(request.url())) problems.push(request.url()); });
    await page.goto(address);
    await page.waitForFunction(() => !document.getElementById("status").textContent.startsWith("Loading"));
    if (points.length) {
      const box = await (await page.$("#drawing")).boundingBox();
      if (!box) throw new Error(await page.$eval("#status", status => status.textContent));
      await page.mouse.move(box.x + points[0], box.y + points[1]);
      await page.mouse.down();
      for (let i = 2; i < points.length; i += 2) await page.mouse.move(box.x + points[i], box.y + points[i + 1], {steps: 8});
      await page.mouse.up();
      await page.waitForSelector("tr.best");
    } else {
      await page.click("button[type=submit]");
      await page.waitForFunction(() => document.getElementById("outputs").textContent);
    }
    await page.screenshot({path: picture});
    const shown = await page.evaluate(() => ({
      best: (document.querySelector("tr.best") || {}).textContent, rows: document.querySelectorAll("tr").length,
      outputs: document.getElementById("outputs").textContent, status: document.getElementById("status").textContent,
    }));
    console.log(JSON.stringify({...shown, problems}));
  } finally {
    await browser.close();
  }
}

main().catch(error => { console.error(error.message); process.exit(1); });
