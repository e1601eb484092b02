import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { azure } from "../../../src/agents/adapters/azure.ts";
import { deepgram } from "../../../src/agents/adapters/deepgram.ts";
import { elevenlabs } from "../../../src/agents/adapters/elevenlabs.ts";
import { gemini } from "../../../src/agents/adapters/gemini.ts";
import { gptLive } from "../../../src/agents/adapters/gpt-live.ts";
import { openaiRealtime } from "../../../src/agents/adapters/openai-realtime.ts";
import { xai } from "../../../src/agents/adapters/xai.ts";
import type { Agent } from "../../../src/agents/agent.ts";

const apiKey = "key";
const agents: Readonly<Record<string, Agent>> = {
  openaiRealtime: openaiRealtime({ apiKey }),
  azure: azure({ apiKey, url: "wss://r.openai.azure.com/openai/v1/realtime", model: "d" }),
  xai: xai({ apiKey }),
  gptLive: gptLive({ apiKey }),
  elevenlabs: elevenlabs({ apiKey, agentId: "a" }),
  deepgram: deepgram({ apiKey }),
  gemini: gemini({ apiKey }),
};
const methods = {
  say: "say",
  reply: "reply",
  addContext: "addContext",
  setInstructions: "setInstructions",
  interrupt: "cancel",
} as const;

const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;

test("the table of docs/agents.md has what each agent's codec can", () => {
  const table = [
    row(["method", ...Object.keys(agents).map((name) => `\`${name}\``)]),
    row(["---", ...Object.keys(agents).map(() => "---")]).replaceAll(" ", ""),
    ...Object.entries(methods).map(([method, ability]) =>
      row([
        `\`${method}\``,
        ...Object.values(agents).map((agent) =>
          agent.codec({ sampleRate: 8000 })[ability] ? "yes" : "–",
        ),
      ]),
    ),
  ].join("\n");
  expect(readFileSync("docs/agents.md", "utf8")).toContain(table);
});

test.each(Object.entries(agents))("what %s can is known before the call", (_, { can, codec }) => {
  const functions = Object.entries(codec({ sampleRate: 8000 }));
  const isThere = (ability: string) => functions.some(([name, work]) => name === ability && work);
  expect(Object.values(methods).map((ability) => [ability, can?.[ability]])).toEqual(
    Object.values(methods).map((ability) => [ability, isThere(ability)]),
  );
});
