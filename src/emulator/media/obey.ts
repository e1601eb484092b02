import { safeParse } from "valibot";
import { FromApplication } from "../../flows/media/application.ts";
import type { ChunkId, Playout } from "../recording/playout.ts";
import { samplesOf } from "../recording/sound.ts";

/** What came of an application's message. */
export type Obeyed =
  | { readonly did: "said" }
  /** `samples` were thrown away. */
  | { readonly did: "clear"; readonly samples: number }
  | { readonly did: "interrupt"; readonly samples: number; readonly chunk_id: ChunkId }
  /** A type that the emulator doesn't know: it may mean something to a service. */
  | { readonly did: "nothing"; readonly type: string };

const known: ReadonlySet<unknown> = /* @__PURE__ */ new Set(["audio", "interrupt", "clear"]);

const parse = (data: unknown): unknown => {
  if (typeof data !== "string") throw new TypeError("must be text");
  try {
    return JSON.parse(data);
  } catch {
    throw new TypeError("must be JSON");
  }
};

/**
 * Does what an application's message says.
 *
 * @param now - the sample that is being heard
 * @throws {TypeError} what is wrong with the message
 */
export const obey = (playout: Playout, data: unknown, now: number): Obeyed => {
  const message = parse(data);
  const { type } = Object(message);
  if (typeof type === "string" && !known.has(type)) return { did: "nothing", type };
  const { success, output, issues } = safeParse(FromApplication, message);
  if (!success) {
    const { path, message: rule } = issues[0];
    throw new TypeError([path?.map(({ key }) => key).join("."), rule].filter(Boolean).join(" "));
  }
  if (output.type === "clear") return { did: "clear", samples: playout.clear(now) };
  if (output.type === "interrupt") {
    const { chunk_id } = output;
    return { did: "interrupt", chunk_id, samples: playout.interrupt(chunk_id, now) };
  }
  const { audio_b64, chunk_id } = output;
  if (playout.say(samplesOf(audio_b64), chunk_id, now)) return { did: "said" };
  throw new TypeError("is more than the ten minutes of speech that are kept of a call");
};
