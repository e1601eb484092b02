import type { Call } from "../emulator/call.ts";
import { longestOf, type Telephones } from "../emulator/flow.ts";
import { Ari, type AriClient, type AriOptions } from "./ari.ts";
import { callTelephone, pressKeys } from "./channel.ts";
import { Connection, type OnFrame } from "./connection.ts";
import { type Exchange, exchangeLine } from "./line.ts";
import { connectMedia, disconnectMedia } from "./media.ts";
import { Speech, type SpeechSource } from "./sounds.ts";

/** What the telephones of an exchange need beside its Asterisk. */
export interface TelephoneOptions {
  /**
   * Asterisk's name for whom it calls, such as `PJSIP/+12025550100@trunk`, by a number in E.164 or a URI of the scheme
   * `sip:` or `client:`; `undefined` for whom it can't reach.
   */
  readonly endpoint: (to: string) => string | undefined;
  /** What speaks texts. Without it a text can't be spoken. */
  readonly speech?: SpeechSource | undefined;
  readonly refusalOf?: Exchange["refusalOf"];
  /** Called when Asterisk has answered the request for a call's telephone. */
  readonly onSettled?: (call: Call) => void;
  /** Called when a request for a call's telephone was cut off: keeps it from ringing later. */
  readonly fence?: (call: Call) => void;
  /** Called with each packet of an answered call. */
  readonly onFrame?: (call: Call, ...frame: Parameters<OnFrame>) => void;
}

/** An exchange, and how it reaches telephones. */
export interface ExchangeOptions extends TelephoneOptions {
  readonly ari: AriOptions;
}

/** The telephones that an exchange reaches. */
export interface ExchangeTelephones extends Telephones {
  /** Drops the speech that is kept of what was said to a number. */
  readonly erase: (number: string) => void;
  /** Gives up the exchange. Calls should be over. */
  readonly close: () => void;
}

/** 429 is the one status that says at each carrier that no call was placed, and that a later request may place it. */
export const notReached = { status: 429, detail: "The exchange is not reached." } as const;

/** From one key that we press to the next, in milliseconds. */
const keyInterval = 250;

const noSpeech = async (): Promise<never> => {
  throw new TypeError("needs a program or a service that speaks: set speech");
};

/** The part of an exchange that one call needs. */
class Calls {
  readonly #exchange: Exchange;
  readonly #options: TelephoneOptions;
  readonly #connections = new WeakMap<Call, Promise<Connection>>();

  constructor(exchange: Exchange, options: TelephoneOptions) {
    this.#exchange = exchange;
    this.#options = options;
  }

  readonly responseTo: Telephones["responseTo"] = () =>
    this.#exchange.ari.isOpen ? {} : { outage: notReached };

  readonly ring: Telephones["ring"] = async (call, parts) => {
    const { ari, endpoint } = this.#exchange;
    const { onSettled, fence } = this.#options;
    const { to_number, from_number } = call.params;
    const name = endpoint(to_number);
    if (name === undefined) {
      call.transition("unreachable");
      return;
    }
    call.keypad = (keys) => pressKeys(ari, call.id, keys.replaceAll("p", "w"), keyInterval);
    const { answerTimeout = parts.answerTimeout } = call.limits;
    const reason = await callTelephone(ari, {
      id: call.id,
      endpoint: name,
      callerId: from_number,
      answerTimeout,
      lifetime: answerTimeout + longestOf(call, parts),
      signal: call.over.signal,
      onRing: () => call.transition("ring"),
      onKey: (key) => call.press(key),
      onEnd: (ended) => call.transition(ended),
      onSettled: () => onSettled?.(call),
      fence: () => fence?.(call),
    });
    if (reason) call.transition(reason);
    else if (call.transition("answer")) this.#connect(call);
  };

  readonly lineOf: Telephones["lineOf"] = (call, parts) => {
    const connection = this.#connections.get(call);
    if (!connection) throw new TypeError("the call is not answered");
    return exchangeLine(call, parts, this.#exchange, connection);
  };

  /** Connects the media of a call, while its flow is requested. */
  #connect(call: Call): void {
    const { ari } = this.#exchange;
    const { onFrame } = this.#options;
    // Where Asterisk gives no answer any more, nobody saw what became of the telephone.
    const gone = () => {
      if (call.isOver) return;
      const asked = ari.request("GET", `/channels/${call.id}`);
      asked.then(
        () => call.transition("normal"),
        () => call.transition("lost"),
      );
    };
    const opened = connectMedia(ari, call.id).then((socket) => {
      socket.addEventListener("close", gone);
      return new Connection(call, socket, gone, (...frame) => onFrame?.(call, ...frame));
    });
    // A call without media is of no use.
    opened.catch(gone);
    this.#connections.set(call, opened);
    const close = () => {
      disconnectMedia(ari, call.id);
      opened.then(
        (connection) => connection.close(),
        () => {},
      );
    };
    call.over.signal.addEventListener("abort", close);
    if (call.isOver) close();
  }
}

/** The telephones that an Asterisk reaches. */
export const telephonesOf = (ari: AriClient, options: TelephoneOptions): ExchangeTelephones => {
  const { endpoint, speech: source, refusalOf } = options;
  const speech = source && new Speech(source);
  const speak: Exchange["speak"] = (text, number) =>
    speech ? speech.speak(text, number) : noSpeech();
  const exchange = { ari, endpoint, speak, ...(refusalOf && { refusalOf }) };
  const { responseTo, ring, lineOf } = new Calls(exchange, options);
  return {
    responseTo,
    ring,
    lineOf,
    erase: (number) => speech?.erase(number),
    close: () => {
      speech?.close();
      ari.close();
    },
  };
};

/**
 * Opens the telephones that an exchange reaches: Asterisk 22.6 or newer, by its REST interface.
 *
 * @throws {TypeError} when it isn't reached
 */
export const openTelephones = async ({
  ari: options,
  ...others
}: ExchangeOptions): Promise<ExchangeTelephones> => {
  const ari = new Ari(options);
  await ari.open();
  return telephonesOf(ari, others);
};
