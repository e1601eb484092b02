import { openaiRealtime } from "outdial/agents";
import { call } from "../../agents/application.ts";
import { serveOpenai } from "../../agents/protocols/openai.ts";
import type { AgentServer } from "../../agents/server.ts";
import { type Cut, twilioCall } from "./twilio-call.ts";

/** Interruptions, against what the telephone played. */
export interface Interrupted {
  /** `audio_end_ms` less what was heard, in ms, of each. */
  readonly apart: readonly number[];
  /** How often it was more than the audio that was sent. */
  readonly over: number;
  /** Bytes of the answer that was cut off that were sent after the `clear`. */
  readonly after: number;
  /** Samples of it that were heard after the `clear`. */
  readonly audible: number;
}

/** A call in which the callee interrupts after so many ms of the agent's answer. */
type Calling = (server: AgentServer, listens: number) => Promise<Cut>;

const callOurs: Calling = async (server, listens) => {
  const { audio, sent } = await call(openaiRealtime({ apiKey: "sk-key", url: server.url }), {
    emulator: {
      callee: [
        { type: "listen", ms: listens },
        { type: "tone", hertz: 300, ms: 300 },
        { type: "silence", ms: 400 },
        { type: "hangup" },
      ],
    },
  });
  const until = audio.cuts[0]?.at_ms ?? Number.NaN;
  const pieces = audio.heard.filter(({ from_ms }) => from_ms <= until);
  const ms = (key: "samples" | "of") =>
    pieces.reduce((sum, piece) => sum + (piece[key] / piece.sample_rate) * 1000, 0);
  const cleared = sent.findIndex(({ type }) => type === "clear");
  const after = sent.slice(cleared + 1).reduce((sum, { bytes }) => sum + bytes, 0);
  const audible = audio.heard
    .filter(({ from_ms }) => from_ms > until)
    .reduce((sum, { samples }) => sum + samples, 0);
  return { heard: ms("samples"), sent: ms("of"), after, audible };
};

/** So many interruptions at different moments, each on a call of its own, on real sockets. */
const interrupted = async (calling: Calling, count: number): Promise<Interrupted> => {
  const apart: number[] = [];
  let over = 0;
  let after = 0;
  let audible = 0;
  for (let round = 0; round < count; round++) {
    const server = await serveOpenai({ answers: [6000], late: 5 });
    const cut = await calling(server, 300 + ((round * 137) % 1500));
    const [truncation] = (server.peers[0]?.received ?? []).filter(
      (message) => Object(message).type === "conversation.item.truncate",
    );
    const { audio_end_ms = Number.NaN } = Object(truncation);
    apart.push(audio_end_ms - cut.heard);
    if (audio_end_ms > cut.sent) over++;
    after += cut.after;
    audible += cut.audible;
    await server.close();
  }
  return { apart, over, after, audible };
};

/** Of `connectAgent`, through the emulator. */
export const interruptedOurs = (count: number): Promise<Interrupted> =>
  interrupted(callOurs, count);

/** Of `@openai/agents-extensions`, through a line of Twilio's framing with the same callee. */
export const interruptedTheirs = (count: number): Promise<Interrupted> =>
  interrupted(twilioCall, count);
