import { onTestFinished } from "vitest";
import { serveNode } from "../../src/cli/serve.ts";

/**
 * A flow that asks until it gets a 1, on a port, until the test is over. It asks again after minutes only: each request is
 * one that a busy machine may answer too late, and the call would end with a flow error. Returns its URL.
 */
export const asking = async (): Promise<string> => {
  const { port, stop } = await serveNode(
    async (request) => {
      const { digits } = await request.json().catch(() => ({}));
      if (digits === "1") {
        const prompts = [{ text: "Thank you. It is confirmed." }];
        return Response.json({ action: "say", prompts, flow_url: request.url });
      }
      const text = "Your appointment is tomorrow at nine. Press 1 to confirm.";
      const prompts = [{ text }, { pause_ms: 180_000 }];
      const keys = { digits: 1, timeout_ms: 10_000, language: "en-GB", flow_url: request.url };
      return Response.json({ action: "gather", prompts, ...keys });
    },
    { hostname: "127.0.0.1", port: 0 },
  );
  onTestFinished(stop);
  return `http://127.0.0.1:${port}/flow`;
};
