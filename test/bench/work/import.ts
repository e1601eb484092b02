import process from "node:process";
import type { Connect } from "../clients/client.ts";

/** The memory of a process that has imported a client and made one, in bytes. */
const [, , module] = process.argv;
if (module) {
  const { connect }: { connect: Connect } = await import(module);
  connect("http://127.0.0.1:9");
}
console.log(process.memoryUsage().rss);
