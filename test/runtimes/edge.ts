import { EdgeVM } from "@edge-runtime/vm";
import { bundle } from "./bundle.ts";

// Unhandled rejections in the VM end Node, with a failure.
const [, , peer = ""] = process.argv;
const vm = new EdgeVM();
vm.evaluate(await bundle("./page.ts", "iife", "list"));
console.log(await vm.evaluate(`list.conform("edge", ${JSON.stringify(peer)})`));
