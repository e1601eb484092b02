import { Client } from "outdial";
import {
  type CallRecord,
  createEmulator,
  type Emulator,
  type EmulatorOptions,
} from "outdial/emulator";
import { apiKey, params } from "../fixtures.ts";

/** A request that the application got from the service. */
interface Got {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** What the application answers at a path: JSON, or more exactly. */
type Answer = object | ((got: Got) => Response | Promise<Response>);

/** A WAV of silence: 8 kHz, 16 bits, mono. */
export const wav = (seconds: number): Response => {
  const bytes = new Uint8Array(44 + seconds * 16_000);
  const view = new DataView(bytes.buffer);
  const letters = (at: number, text: string) =>
    [...text].forEach((letter, index) => {
      view.setUint8(at + index, letter.charCodeAt(0));
    });
  letters(0, "RIFF");
  view.setUint32(4, bytes.length - 8, true);
  letters(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, 8_000, true);
  view.setUint32(28, 16_000, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  letters(36, "data");
  view.setUint32(40, bytes.length - 44, true);
  return new Response(bytes, { headers: { "Content-Type": "audio/wav" } });
};

/**
 * An application, and the service that calls its people: what it is asked, in order, and how to
 * place a call in it. Receivers answer 204 where the routes say nothing else.
 */
export const application = (
  routes: Readonly<Record<string, Answer>>,
  options: EmulatorOptions = {},
) => {
  const got: Got[] = [];
  const emulator: Emulator = createEmulator({
    apiKey,
    clock: "instant",
    untimedMedia: true,
    fetch: async (request) => {
      const { method, headers } = request;
      const path = request.url.replace("https://app.test", "");
      const one = { method, path, headers, body: await request.text() };
      got.push(one);
      const answer = routes[path];
      if (typeof answer === "function") return answer(one);
      if (answer) return Response.json(answer);
      return new Response(null, { status: path === "/status" ? 204 : 404 });
    },
    ...options,
  });
  const client = new Client(apiKey, {
    baseUrl: "https://emulator.test",
    fetch: emulator.fetch,
    dangerouslyAllowBrowser: true,
  });
  return {
    emulator,
    got,
    /** The notifications, as they came. */
    notifications: () =>
      got.filter(({ path }) => path === "/status").map(({ body }) => Object(JSON.parse(body))),
    create: (more: object = {}) => client.calls.create({ ...params, ...more }),
    /** Places a call and waits for its end. */
    call: async (more: object = {}) => {
      const { id } = await client.calls.create({ ...params, ...more });
      return emulator.ended(id);
    },
  };
};

/** The states of a call and its reason, as one line. */
export const states = ({ history, reason }: CallRecord): string =>
  [...history.flatMap((entry) => (entry.type === "state" ? [entry.state] : [])), reason].join(" ");
