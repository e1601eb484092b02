import { expect, test } from "vitest";
import type { SessionEnd } from "../../../../src/agents/agent-session.ts";
import { connectAgent } from "../../../../src/agents/session.ts";
import { transferTo } from "../../../../src/agents/telephone/transfer-to.ts";
import { signUrl } from "../../../../src/callbacks/signed-url.ts";
import { creator } from "../../../../src/calls/create.ts";
import { type LiveOptions, redirect } from "../../../../src/calls/index.ts";
import { telnyx } from "../../../../src/carriers/telnyx/index.ts";
import type { CalleeScript } from "../../../../src/emulator/callee-script.ts";
import { emulate } from "../../../../src/emulator/emulator.ts";
import { actionUrl } from "../../../../src/flows/action-url.ts";
import { play, stream } from "../../../../src/flows/actions.ts";
import { flowHandler } from "../../../../src/flows/handler.ts";
import { straight } from "../../../../src/http/post.ts";
import type { Service } from "../../../../src/service.ts";
import { lineSockets } from "../../../../src/testing/line.ts";
import { SimulatedTime } from "../../../../src/testing/simulated-time.ts";
import { agentOf } from "../../../conformance/models/protocols.ts";
import { TimedModel } from "../../../conformance/models/timed-model.ts";
import { voice } from "../../../conformance/models/voice.ts";
import { randomOf } from "../../../random.ts";
import { carriers } from "../../carriers/carriers.ts";

const flowUrl = "https://app.test/flow";
const [older, newer] = ["an older secret of sixteen", "a newer secret of sixteen"];
const numbers = { from_number: "+12025550199", to_number: "+12025550100" } as const;

/** Telnyx redirects with an account's id. */
const accountSid = "f5586561-8ff0-4291-a51b-c7dfe4139ff9";
const services: readonly (readonly [string, Service])[] = carriers.map(({ name, service }) => [
  name,
  name === "telnyx" ? telnyx({ applicationId: String(service.account), accountSid }) : service,
]);

test.each(services)(
  "%s: an agent transfers to a busy number, which another isolate with a rotated secret dials, and is back",
  async (_, service) => {
    const time = new SimulatedTime();
    const ends: SessionEnd[] = [];
    const errors: unknown[] = [];
    const hasToken = "secret" in service.media.optionRules;
    const back = await signUrl(flowUrl, { secret: older });
    const busy = play("https://app.test/busy.wav", { flow_url: back });
    /** One isolate signs, with the secret that is being replaced. */
    const connect = (socket: Parameters<typeof connectAgent>[0], url: string) => {
      const model = new TimedModel("openai", time.media, {
        answers: [600],
        calls: ends.length > 0 ? {} : { 0: { name: "transfer", args: { target: "billing" } } },
      });
      const transfer = transferTo(
        { billing: { to: "+12025550101", timeout: 20, on_busy: busy } },
        {
          redirect: async ({ call_id }, action) => {
            const live = { id: call_id, ...numbers };
            const next = await actionUrl(flowUrl, { secret: older, call_id, action, service });
            await redirect(live, next, options);
          },
        },
      );
      connectAgent(socket, agentOf("openai", {}, { transfer }), {
        simulation: { ...time.media },
        service,
        ...(hasToken && { secret: older, url }),
        open: () => model,
        onEnd: (end) => ends.push(end),
        onError: (error) => errors.push(error),
      });
    };
    /** The other one answers, with the new secret first. */
    const flow = flowHandler({
      service: { ...service, application: { ...service.application, verify: undefined } },
      secret: [newer, older],
      dangerouslyAllowUnverified: true,
      onAnswer: async () =>
        stream(await signUrl("wss://app.test/media", { secret: older }), {
          ...{ chunk_size: 20, record: false },
        }),
      onError: (error) => errors.push(error),
    } as Parameters<typeof flowHandler>[0]);
    const callee: CalleeScript = async function* (call) {
      yield { type: "say", voice: { audio: voice(700, randomOf(1)), sampleRate: 8_000 } };
      while (ends.length === 0) yield { type: "silence", ms: 100 };
      yield { type: "until", ms: call.ms + 12_000 };
      yield { type: "hangup" };
    };
    const emulator = emulate(
      {
        service,
        callee,
        seed: 1,
        clock: time.clock,
        fetch: (request) => {
          const { pathname } = new URL(request.url);
          return pathname === "/flow" ? flow(request) : new Response(null);
        },
        onCall: ({ to_number }) =>
          to_number === numbers.to_number ? { outcome: "answer", ringDuration: 0 } : undefined,
      },
      { openSocket: lineSockets({}, time.media as never, connect) },
    );
    const { apiKey, fetch } = emulator;
    const options = { apiKey, fetch, service, baseUrl: "https://emulator.test" } as LiveOptions;
    const over = (async () => {
      const urls = {
        flow_url: await signUrl(flowUrl, { secret: older }),
        status_callback_url: "https://app.test/status",
      };
      const { id } = await creator(straight)({ ...numbers, ...urls }, options);
      return emulator.ended(id);
    })();
    await time.runUntil(over);
    const { history } = await over;
    // The close of the stream is still on its way to the application.
    await time.clock.wait(1);
    await emulator.close();
    expect(errors).toEqual([]);
    expect(ends.map(({ reason, outcome }) => outcome ?? reason)).toEqual([
      "transferred",
      "hung_up",
    ]);
    const legs = history.flatMap((entry) =>
      entry.type === "leg" ? [`${entry.to} ${entry.state} ${entry.reason ?? ""}`.trim()] : [],
    );
    expect(legs.at(-1)).toBe("+12025550101 failed busy");
  },
);
