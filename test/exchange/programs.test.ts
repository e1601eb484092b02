import { expect, test } from "vitest";
import {
  callbackHandler,
  type Received,
  type RefusedException,
  signUrl,
} from "../../src/callbacks/index.ts";
import { twilio } from "../../src/carriers/twilio/index.ts";
import { dial, flowHandler, hangup, say } from "../../src/flows/index.ts";
import { Client } from "../../src/index.ts";
import { invoke } from "../cli/cli.ts";
import { newFolder } from "../cli/emulate.ts";
import { accountSid, authToken, clientFor } from "../twilio/stage.ts";
import { freePort, installPackages, serveProgram, startProgram } from "./program.ts";
import { from, hears, openServedStage, speakUntilHeard, spoken, to, until } from "./stage.ts";
import { voice } from "./telephone/ear.ts";

const service = { name: "twilio", account: accountSid } as const;
const interfaces = ["own", "twilio"] as const;

/** An exchange with one of the interfaces, and the two variables by which programs reach it. */
const openExchange = async (name: (typeof interfaces)[number]) => {
  const own = name === "twilio" ? { service, apiKey: authToken } : {};
  const stage = await openServedStage({ answerTimeout: 30_000, ...own });
  const variables = { OUTDIAL_BASE_URL: stage.baseUrl, OUTDIAL_API_KEY: stage.exchange.apiKey };
  return { ...stage, variables };
};

test.each(interfaces)(
  "the application of outdial init runs unchanged, and its reminder is heard and answered: %s",
  async (name) => {
    const { telephone, variables } = await openExchange(name);
    const folder = newFolder();
    const carrier = name === "twilio" ? ["--service", name] : [];
    const made = await invoke(["init", folder, "--on", "node", "--package", "0.1.0", ...carrier]);
    expect(made).toMatchObject({ code: 0 });
    installPackages(folder);
    const port = await freePort();
    const token = crypto.randomUUID();
    const { printed } = startProgram(folder, "app.ts", {
      ...variables,
      ...(name === "twilio" && { OUTDIAL_ACCOUNT: accountSid }),
      FROM_NUMBER: from,
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      SIGNING_SECRET: crypto.randomUUID(),
      CALL_TOKEN: token,
      PORT: String(port),
    });
    await until(() => printed().includes(String(port)));
    const ringing = telephone.next();
    const response = await fetch(`http://127.0.0.1:${port}/call`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ to_number: to }),
    });
    expect(response.status, printed()).toBe(201);
    const { call_id } = await response.json();
    const call = await ringing;
    call.ring();
    await call.answer();
    // Whoever detects machines waits for a word.
    await call.speak(voice(1, 600));
    await hears(call, await spoken("Press 1 to confirm, or 2 to cancel."));
    await call.press("1");
    const thanks = await spoken("Thank you. Your appointment is confirmed.");
    await hears(call, thanks);
    expect(await call.ended).toBe("caller");
    // Twilio says nothing of the reason.
    const end = name === "own" ? "normal" : "undefined";
    await until(() => printed().includes(`call.completed ${call_id} ${end}`));
    const events = [...printed().matchAll(/^call\.(initiated|ringing|answered|completed) /gm)];
    expect(events.map(([, event]) => event)).toEqual([
      "initiated",
      "ringing",
      "answered",
      "completed",
    ]);
    expect(printed()).toContain(`reply ${call_id} 1`);
  },
);

const customer = "+12025550151";
const unavailable = "Nobody is free. We call you back.";

/** The program "click to call" of docs/recipes.md, behind a port. */
const startClickToCall = async (name: (typeof interfaces)[number]) => {
  const secret = crypto.randomUUID();
  const results: string[] = [];
  const events: Received["event"]["type"][] = [];
  const refused: RefusedException[] = [];
  const carrier = name === "twilio" ? { service: twilio({ accountSid, authToken }) } : {};
  const onError = (error: unknown) => void refused.push(error as RefusedException);
  const flow = flowHandler({
    ...carrier,
    secret,
    onError,
    onAnswer: ({ context }) => dial(String(context.customer), { timeout: 20, next: "after" }),
    steps: {
      after: ({ dialed, context }) => {
        results.push(`${context.lead} ${dialed?.state} ${dialed?.reason}`);
        return dialed?.state === "completed" ? hangup() : say(unavailable);
      },
    },
  });
  const status = callbackHandler({
    ...carrier,
    secret,
    onError,
    onEvent: ({ event }) => void events.push(event.type),
  });
  const origin = await serveProgram((request) =>
    new URL(request.url).pathname === "/flow" ? flow(request) : status(request),
  );
  const context = { lead: "lead-7", customer };
  const flow_url = await signUrl(`${origin}/flow`, { secret, context });
  const status_callback_url = await signUrl(`${origin}/status`, { secret });
  return { results, events, refused, flow_url, status_callback_url };
};

test.each(interfaces)(
  "click to call rings both telephones, connects them, and knows what came of it: %s",
  async (name) => {
    const { telephone, addTelephone, baseUrl, variables } = await openExchange(name);
    const program = await startClickToCall(name);
    const { flow_url, status_callback_url } = program;
    const other = await addTelephone(customer);
    const call = async () => {
      const ringing = telephone.next();
      if (name === "twilio") {
        await clientFor(baseUrl).calls.create({
          ...{ from, to, url: flow_url, statusCallback: status_callback_url },
          statusCallbackEvent: ["initiated", "ringing", "answered", "completed"],
        });
      } else {
        const client = new Client(variables.OUTDIAL_API_KEY, { baseUrl });
        const numbers = { from_number: from, to_number: to };
        await client.calls.create({ ...numbers, flow_url, status_callback_url });
      }
      const office = await ringing;
      office.ring();
      const rings = other.next();
      await office.answer();
      return { office, second: await rings };
    };
    const { office, second } = await call();
    expect(second.from).toBe(from);
    second.ring();
    await second.answer();
    await Promise.all([
      speakUntilHeard(office, second, voice(1, 1_000)),
      speakUntilHeard(second, office, voice(2, 1_000)),
    ]);
    second.hangUp();
    expect(await office.ended).toBe("caller");
    const busy = await call();
    busy.second.refuse(486);
    await hears(busy.office, await spoken(unavailable));
    expect(await busy.office.ended).toBe("caller");
    await until(() => program.events.filter((type) => type === "call.completed").length === 2);
    expect(program.results).toEqual(["lead-7 completed normal", "lead-7 failed busy"]);
    expect(program.refused).toEqual([]);
  },
);
