import { Model, type Protocol } from "./model.ts";
import { base64, decoded, pcm } from "./sound.ts";

/** A message of the client, as far as the model reads it. */
interface FromClient {
  readonly setup?: object;
  readonly realtimeInput?: {
    readonly text?: string;
    readonly audio?: { readonly data?: string; readonly mimeType?: string };
  };
  readonly toolResponse?: object;
}

/** How long the turn of a tool call stays open, in ms. */
const openFor = 2_000;

/** Google's Live API: it hears 16 kHz and speaks 24 kHz, and cannot be truncated. */
export const gemini: Protocol = (send, clock, behaviour) => {
  const { toolTurn } = behaviour;
  const [heard, voice] = [pcm(16_000), pcm(24_000)];
  const content = (serverContent: object) => send({ serverContent });
  const end = (isCut: boolean) => {
    if (!isCut) content({ generationComplete: true });
    content({ turnComplete: true });
  };
  let isSetUp = false;
  let hasEnded = false;
  /** Ends the wait of a turn that a tool call has left open. */
  let close: (() => void) | undefined;
  const interrupt = () => {
    content({ interrupted: true });
    if (close) end(true);
    close?.();
  };
  const model = new Model(
    {
      coding: () => voice,
      begin: () => {},
      audio: (_, bytes) => {
        const inlineData = { data: base64(bytes), mimeType: "audio/pcm;rate=24000" };
        content({ modelTurn: { parts: [{ inlineData }] } });
      },
      tools: (functionCalls) => {
        hasEnded = toolTurn === "before";
        if (hasEnded) end(false);
        send({ toolCall: { functionCalls } });
        if (toolTurn !== "open") return;
        close?.();
        const cancel = clock.after(openFor, () => {
          close = undefined;
          end(false);
        });
        close = () => {
          close = undefined;
          cancel();
        };
      },
      done: (_, isCut) => {
        if (!hasEnded && !close) end(isCut);
        hasEnded = false;
      },
      speech: interrupt,
      speechStopped: () => content({ inputTranscription: { text: "…" } }),
    },
    clock,
    behaviour,
  );
  return {
    model,
    receive: (received) => {
      const { setup, realtimeInput, toolResponse } = received as FromClient;
      if (setup) {
        isSetUp = true;
        send({ setupComplete: {} });
        return;
      }
      if (!isSetUp) throw new Error("Nothing is taken before the setup");
      const { text, audio } = realtimeInput ?? {};
      if (audio && audio.mimeType !== "audio/pcm;rate=16000") throw new Error("Another rate");
      if (audio) model.hear(decoded(audio.data), heard);
      if (text) {
        if (model.isMaking || close) interrupt();
        model.cut();
        model.answer();
      } else if (toolResponse && !model.isMaking) {
        close?.();
        model.answer();
      }
    },
    stop: () => {
      close?.();
      model.stop();
    },
  };
};
