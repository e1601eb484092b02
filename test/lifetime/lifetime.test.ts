import { expect, test } from "vitest";
import { execute } from "../examples/execute.ts";
import { startPeer } from "../peer/start.ts";
import { programs } from "../runtimes/programs.ts";

const deno = ["--allow-net=127.0.0.1", "--config=test/runtimes/deno.json"];

test.each(Object.entries(programs))(
  "nothing that a call leaves behind keeps %s from exiting",
  async (name, program) => {
    const peer = await startPeer();
    const [command, ...args] = [...program, ...(name === "deno" ? deno : [])];
    const script = ["test/lifetime/last-line.ts", peer.url];
    const { code, stdout, stderr } = await execute(command, [...args, ...script]);
    peer.stop();
    // A process that something keeps prints HELD besides.
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: "LAST LINE\n" });
  },
);
