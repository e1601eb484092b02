import { expect, test } from "vitest";
import { execute } from "../examples/execute.ts";
import { programs } from "../runtimes/programs.ts";
import { startPeer } from "../stub-server/start.ts";

const deno = ["--allow-net=127.0.0.1", "--config=test/runtimes/deno.json"];

test.each(Object.entries(programs))(
  "nothing that a call leaves behind keeps %s from exiting",
  async (name, program) => {
    const peer = await startPeer();
    const [command, ...args] = [...program, ...(name === "deno" ? deno : [])];
    const script = ["test/process-exit/last-line.ts", peer.url];
    const { code, stdout, stderr } = await execute(command, [...args, ...script]);
    // Else it would keep the process of this test.
    expect(await peer.stop()).toBe(0);
    // A process that something keeps prints HELD besides.
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: "LAST LINE\n" });
  },
);
