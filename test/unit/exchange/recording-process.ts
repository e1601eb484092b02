// A process that records one call, says how many samples are given to the recorder, and is killed by whoever has started it.
import { DatabaseSync } from "node:sqlite";
import { Recorder } from "../../../src/exchange/recorder.ts";

const [folder = ""] = process.argv.slice(2);
const db = new DatabaseSync(`${folder}/store`);
const recorder = await Recorder.open({ folder, db, maxDays: 1, maxBytes: 2 ** 30 });
recorder.begin({ id: "call", record: true });
for (let packet = 0; ; packet++) {
  const samples = new Int16Array(160).map((_, at) => (packet * 160 + at) % 30_000);
  recorder.frame("call", "callee", packet * 20, samples);
  recorder.frame("call", "application", packet * 20, samples);
  // Its timer writes each half a second: here as often by the samples, whatever the machine does.
  if (packet % 25 !== 24) continue;
  console.log(160 * (packet + 1));
  await recorder.flush();
}
