import { launch } from "./browser.ts";
import { bundle } from "./bundle.ts";

const [, , peer = "", list = ""] = process.argv;
const browser = await launch();
try {
  const page = await browser.newPage();
  page.on("console", (message) => console.log(message.text()));
  page.on("pageerror", (error) => console.log(`UNHANDLED ${error}`));
  // Another host than the peer's 127.0.0.1, so that every request crosses origins.
  await page.goto(peer.replace("127.0.0.1", "localhost"));
  await page.addScriptTag({ content: await bundle("./page.ts", "iife", "list") });
  const args = ["chromium", peer, list].map((each) => JSON.stringify(each));
  console.log(await page.evaluate(`list.conform(${args})`));
} finally {
  await browser.close();
}
