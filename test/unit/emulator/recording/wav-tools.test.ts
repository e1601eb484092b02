import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createEmulator } from "../../../../src/emulator/index.ts";

/** Programs that nobody here wrote, each with what it prints of 16-bit mono at 8 kHz for 5 s. */
const tools = [
  {
    command: "ffprobe",
    args: [
      "-v",
      "error",
      "-show_entries",
      "stream=codec_name,sample_rate,channels,duration",
      "-of",
      "csv=p=0",
    ],
    prints: /^pcm_s16le,8000,1,5\.0+$/,
  },
  { command: "soxi", args: ["-D"], prints: /^5\.0+$/ },
].filter(({ command }) => !spawnSync(command, ["--version"]).error);

it.skipIf(tools.length === 0)("a recording is read by ffprobe and soxi", async () => {
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
    for (const { command, args, prints } of tools) {
      const { stdout, stderr } = spawnSync(command, [...args, file], { encoding: "utf8" });
      expect(stderr).toBe("");
      expect(stdout.trim()).toMatch(prints);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
