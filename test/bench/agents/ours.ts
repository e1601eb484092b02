import { connectAgent, openaiRealtime } from "outdial/agents";
import { type Contender, ourLine, sessionUpdated, tick } from "./contender.ts";
import { Socket } from "./socket.ts";

const agent = openaiRealtime({ apiKey: "sk-key", greeting: false });

/** `connectAgent`. */
export const ours: Contender = {
  ...ourLine,
  connect: async (sample_rate) => {
    const [line, mind] = [new Socket(), new Socket()];
    const { close } = connectAgent(line, agent, { open: () => mind });
    const data = { encoding: "audio/l16", sample_rate, channels: 1 };
    const ids = { account_id: "acc_1", call_id: "cs_1", stream_id: "st_1", message_id: 1 };
    line.emit(JSON.stringify({ type: "start", ...ids, data }));
    await tick();
    mind.emit(sessionUpdated);
    return { line, mind, close };
  },
};
