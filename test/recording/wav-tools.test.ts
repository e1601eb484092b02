import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createEmulator } from "../../src/emulator/index.ts";

/** What a program that nobody here wrote prints of it. */
const prints = [
  ["-t", /^wav$/],
  ["-e", /^Signed Integer PCM$/],
  ["-b", /^16$/],
  ["-r", /^8000$/],
  ["-c", /^1$/],
  ["-D", /^5\.0+$/],
] as const;

it("a recording is five seconds of 16-bit mono at 8 kHz to sox", async () => {
  const emulator = createEmulator({
    clock: "instant",
    fetch: ({ url }) =>
      url.endsWith("/flow")
        ? Response.json({ action: "play", media_url: "https://app.test/hello.mp3" })
        : new Response("not a WAV: five seconds"),
  });
  const accepted = await emulator.fetch("https://emulator.test/api/v1/calls/initiate", {
    method: "POST",
    headers: { "X-API-Key": emulator.apiKey, "Content-Type": "application/json" },
    body: JSON.stringify({
      from_number: "+12025550199",
      to_number: "+12025550100",
      flow_url: "https://app.test/flow",
      status_callback_url: "https://app.test/status",
    }),
  });
  const { recording_url = "" } = await emulator.ended((await accepted.json()).data.id);
  const folder = mkdtempSync(join(tmpdir(), "outdial-"));
  try {
    const file = join(folder, "call.wav");
    const response = await emulator.fetch(recording_url);
    writeFileSync(file, new Uint8Array(await response.arrayBuffer()));
    for (const [asked, answer] of prints) {
      const { stdout, stderr } = spawnSync("soxi", [asked, file], { encoding: "utf8" });
      expect(stderr).toBe("");
      expect(stdout.trim()).toMatch(answer);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
