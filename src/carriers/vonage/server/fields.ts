import { fieldsOf, isRecord, isText } from "../../../lib/check.ts";
import type { IsAllowed } from "../../../server/rest.ts";
import { type NccoAction, readNcco } from "./ncco.ts";
import { type InvalidParameter, VonageError } from "./problems.ts";

/** How a URL is requested: `POST` with JSON, or `GET` with the same in the query. */
type Method = "GET" | "POST";

/** Where Vonage sends requests, and how. */
export interface Target {
  readonly url: string;
  readonly method: Method;
}

/** What a call does next: requests an NCCO, or has it. */
export type Next = Target | { readonly ncco: readonly NccoAction[] };

/** The fields of a request for a call. */
export interface CallFields {
  /** E.164, or a `sip:` URI. */
  readonly to: string;
  /** E.164. */
  readonly from: string;
  readonly first: Next;
  readonly events: Target | undefined;
  /** Seconds of ringing. */
  readonly ringingTimer: number;
  /** Seconds after the answer. */
  readonly lengthTimer: number;
  readonly machineDetection: MachineDetection | undefined;
}

/** What happens when a machine answers. */
interface MachineDetection {
  readonly behavior: "continue" | "hangup";
  /** For how many seconds its beep is waited for, if it is. */
  readonly beepTimeout: number | undefined;
}

/** E.164 of digits. */
export const e164 = (digits: string): string => `+${digits}`;

const isNumber = (value: unknown): value is string =>
  isText(value) && /^[1-9]\d{6,14}$/.test(value);

/** Reads the fields of one request, and lists those that break a rule. */
class CallReader {
  readonly #body: Readonly<Record<string, unknown>>;
  readonly #isUrl: IsAllowed;
  readonly invalid: InvalidParameter[] = [];

  constructor(body: unknown, isUrl: IsAllowed) {
    this.#body = fieldsOf(body);
    this.#isUrl = isUrl;
  }

  #refuse(name: string, reason: string): undefined {
    this.invalid.push({ name, reason });
    return;
  }

  /** The one endpoint that is called. */
  to(): string | undefined {
    const { to } = this.#body;
    const [endpoint, ...others] = Array.isArray(to) ? to : [];
    if (!isRecord(endpoint) || others.length > 0) {
      return this.#refuse("to", "must be a list of one endpoint");
    }
    const { type, number, uri } = endpoint;
    if (type === "sip" && isText(uri) && /^sips?:[^\s<>"]+$/i.test(uri)) return uri;
    if (type === "sip") return this.#refuse("to[0].uri", "must be a SIP URI");
    if (type !== "phone")
      return this.#refuse("to[0].type", "must be phone or sip: no other is emulated");
    if (isNumber(number)) return e164(number);
    return this.#refuse("to[0].number", "must be 7 to 15 digits, without + and 00");
  }

  /** @param random - the number that the application calls from if it asks for any */
  from(random: string): string | undefined {
    const { from, random_from_number } = this.#body;
    if (from !== undefined && random_from_number !== undefined) {
      return this.#refuse("from", "must be left out with random_from_number");
    }
    if (random_from_number === true) return random;
    const { type = "phone", number } = fieldsOf(from);
    if (type !== "phone") return this.#refuse("from.type", "must be phone");
    if (isNumber(number)) return e164(number);
    return this.#refuse("from.number", "must be 7 to 15 digits, without + and 00");
  }

  /** A field that is a list of one URL, and the method beside it. */
  target(name: "answer" | "event", missing: Method): Target | undefined {
    const { [`${name}_url`]: list, [`${name}_method`]: method = missing } = this.#body;
    if (list === undefined) return;
    const [url] = Array.isArray(list) && list.length === 1 ? list : [];
    if (!isText(url) || !this.#isUrl(url)) {
      return this.#refuse(`${name}_url`, "must be a list of one URL of http or https");
    }
    if (method === "GET" || method === "POST") return { url, method };
    return this.#refuse(`${name}_method`, "must be GET or POST");
  }

  first(): Next | undefined {
    const { ncco, answer_url } = this.#body;
    if ((ncco === undefined) === (answer_url === undefined)) {
      return this.#refuse("answer_url", "must be there, or ncco, and not both");
    }
    if (ncco === undefined) return this.target("answer", "GET");
    const actions = readNcco(ncco, (at, rule) => this.#refuse(`ncco${at}`, rule));
    if (actions?.length === 0) return this.#refuse("ncco", "must have an action");
    return actions && { ncco: actions };
  }

  timer(name: string, max: number, missing: number): number {
    const { [name]: seconds = missing } = this.#body;
    if (typeof seconds === "number" && seconds >= 1 && seconds <= max) return seconds;
    this.#refuse(name, `must be from 1 to ${max}`);
    return missing;
  }

  machineDetection(): MachineDetection | undefined {
    const { machine_detection, advanced_machine_detection } = this.#body;
    const name =
      advanced_machine_detection === undefined
        ? "machine_detection"
        : "advanced_machine_detection.behavior";
    const { behavior, mode, beep_timeout = 45 } = fieldsOf(advanced_machine_detection);
    const wanted =
      advanced_machine_detection === undefined ? machine_detection : (behavior ?? "continue");
    if (wanted === undefined) return;
    if (!(Number(beep_timeout) >= 45 && Number(beep_timeout) <= 120)) {
      return this.#refuse("advanced_machine_detection.beep_timeout", "must be from 45 to 120");
    }
    if (wanted === "continue" || wanted === "hangup") {
      const beepTimeout = mode === "detect_beep" ? Number(beep_timeout) : undefined;
      return { behavior: wanted, beepTimeout };
    }
    return this.#refuse(name, "must be continue or hangup");
  }
}

/**
 * The fields of a request for a call. Those that the emulator doesn't know are ignored.
 *
 * @param random - the number for `random_from_number`, in E.164
 * @throws {VonageError} that names each field that breaks a rule
 */
export const parseCall = (body: unknown, isUrl: IsAllowed, random: string): CallFields => {
  const reader = new CallReader(body, isUrl);
  const to = reader.to();
  const from = reader.from(random);
  const first = reader.first();
  const fields = {
    events: reader.target("event", "POST"),
    ringingTimer: reader.timer("ringing_timer", 120, 60),
    lengthTimer: reader.timer("length_timer", 86_400, 7_200),
    machineDetection: reader.machineDetection(),
  };
  const { invalid } = reader;
  if (invalid.length > 0 || !to || !from || !first) {
    throw new VonageError(400, "The request has wrong parameters", invalid);
  }
  return { to, from, first, ...fields };
};
