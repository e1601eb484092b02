import { EdgeVM } from "@edge-runtime/vm";
import { bundle } from "./bundle.ts";

// Unhandled rejections in the VM end Node, with a failure.
const [, , peer = "", list = ""] = process.argv;
const vm = new EdgeVM();
vm.evaluate(await bundle("./page.ts", "iife", "list"));
const args = ["edge", peer, list].map((each) => JSON.stringify(each));
console.log(await vm.evaluate(`list.conform(${args})`));
