import { launch } from "../../runtimes/browser.ts";
import { bundle } from "../../runtimes/bundle.ts";

const [, , control = "", , spki = ""] = process.argv;
// Trusts the good certificate, and no other.
const browser = await launch(`--ignore-certificate-errors-spki-list=${spki}`);
try {
  const page = await browser.newPage();
  page.on("console", (message) => console.log(message.text()));
  page.on("pageerror", (error) => console.log(`UNHANDLED ${error}`));
  // Another host than the server's 127.0.0.1, so that every request crosses origins.
  await page.goto(control.replace("127.0.0.1", "localhost"));
  await page.addScriptTag({ content: await bundle("../faults/runtimes/page.ts", "iife", "list") });
  const args = [control, "chromium"].map((each) => JSON.stringify(each));
  console.log(await page.evaluate(`list.meet(${args})`));
} finally {
  await browser.close();
}
