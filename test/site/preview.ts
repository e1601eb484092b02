/** `npm run docs -- --serve`: serves the built site until ctrl-C. */
import { serveSite } from "./serve.ts";
import { base, builtFolder } from "./sources.ts";

console.log(`${await serveSite(builtFolder, base)} shows the site. Ctrl-C ends it.`);
process.on("SIGINT", () => process.exit());
setInterval(() => {}, 2 ** 30); // Until then.
