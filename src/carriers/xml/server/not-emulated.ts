import { fail, type VerbContext } from "./context.ts";

const useStream = "connect a Stream";
const useDial = "call somebody by Dial, or join a Conference";

/** What an application may do in the place of a verb that isn't emulated. A noun has the name of its verb before it. */
export const replacements: Readonly<Record<string, string>> = {
  Enqueue: useDial,
  Leave: useDial,
  Queue: useDial,
  Pay: "take the digits by Gather",
  Prompt: "take the digits by Gather",
  Refer: "call the address by Dial and Sip",
  Sms: "send it by the API",
  Message: "send it by the API",
  Echo: useStream,
  AIGather: useStream,
  "Connect.ConversationRelay": useStream,
  "Connect.VirtualAgent": useStream,
  "Connect.Autopilot": useStream,
  "Connect.Room": useStream,
  "Connect.Conversation": useStream,
  "Connect.AIAssistant": useStream,
  "Start.Siprec": useStream,
  "Start.Transcription": useStream,
  "Start.Recording": "place the call with Record",
  "Dial.Queue": useDial,
  "Dial.Sim": "give a Number",
  "Dial.WhatsApp": "give a Number",
  "Dial.Application": "give a Number, a Sip or a Client",
  "Play.mediaStorage": "give the URL of the audio",
};

/**
 * Ends the flow with the name of a verb or a noun, and with what would replace it.
 *
 * @throws {FlowError} always
 */
export const notEmulated = (context: VerbContext, name: string): never => {
  const instead = Object.hasOwn(replacements, name) ? replacements[name] : undefined;
  return fail(context, name, `is not emulated${instead === undefined ? "" : `: ${instead}`}`);
};
