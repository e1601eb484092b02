// The process of a service that is killed: an exchange on a durable store, which serves on a port. What it is given comes by its
// environment, and what it says is one line with its port and its key.
import { serveNode } from "../../../src/cli/serve.ts";
import type { AriOptions } from "../../../src/exchange/ari.ts";
import { openSocket } from "../../../src/exchange/ari.ts";
import { openService } from "../../../src/exchange/service.ts";
import { openStore } from "../../../src/exchange/store.ts";

/** What a process is given. */
export interface GivenService {
  readonly ari: AriOptions;
  readonly channelLog: string;
  readonly path: string;
  /** Address and port of the telephones. */
  readonly telephone: string;
  readonly secret: string;
  readonly port: number;
  /** Twilio's account and token, if its interface is spoken. */
  readonly twilio?: { readonly account: string; readonly apiKey: string };
}

const given: GivenService = JSON.parse(process.env.SERVICE ?? "");
const store = await openStore(given.path);
const service = await openService({
  store,
  ari: given.ari,
  channelLog: given.channelLog,
  endpoint: (number) => `PJSIP/trunk/sip:${number}@${given.telephone}`,
  numbers: ["+12025550199"],
  webhookSecret: given.secret,
  recordingSecret: given.secret,
  also: given.twilio ? [{ name: "twilio", ...given.twilio }] : [],
  baseUrl: `http://127.0.0.1:${given.port}`,
  takesPrivate: true,
  admit: () => undefined,
  outgoing: (request, init) => fetch(request, init),
  openSocket: (url, headers = {}) => openSocket(url, headers),
  onEvent: (event) => {
    if (process.env.DEBUG) console.error(JSON.stringify(event));
  },
});
const key = store.hasKey ? "" : service.regenerateKey();
await serveNode((request) => service.fetch(request), { hostname: "127.0.0.1", port: given.port });
console.log(JSON.stringify({ key }));
