import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { base64, base64url, decoded } from "../lib/encoding.ts";

const randomBytes = (): Uint8Array => crypto.getRandomValues(new Uint8Array(32));

/** 32 random bytes as 43 base64url characters. */
export const randomText = (): string => base64url(randomBytes());

/** Compares two texts in constant time. */
export const isSame = (given: string, expected: string): boolean => {
  let difference = given.length ^ expected.length;
  for (let at = 0; at < expected.length; at++) {
    difference |= given.charCodeAt(at) ^ expected.charCodeAt(at);
  }
  return difference === 0;
};

/** Keeps the key of an account. */
export interface KeyKeeper {
  /** The key; empty where only a digest of it is kept. */
  readonly key: string;
  readonly accepts: (key: string) => boolean;
  /** Keeps another key: the old one is invalid at once. */
  readonly replace: (key: string) => void;
}

/** Keeps a key in the memory of the process. */
const keyInMemory = (first: string): KeyKeeper => {
  let key = first;
  return {
    get key() {
      return key;
    },
    accepts: (given) => isSame(given, key),
    replace: (next) => {
      key = next;
    },
  };
};

/** What an account is made of. */
interface AccountParts {
  readonly key: string | KeyKeeper | undefined;
  readonly numbers: readonly string[] | undefined;
  /** Makes a random key. */
  readonly newKey: () => string;
}

/** The one account of a service: its key and its numbers. */
export class Account {
  readonly #keeper: KeyKeeper;
  readonly #numbers: ReadonlySet<string> | undefined;
  readonly #newKey: () => string;

  constructor({ key, numbers, newKey }: AccountParts) {
    this.#keeper = typeof key === "object" ? key : keyInMemory(key ?? newKey());
    this.#numbers = numbers && new Set(numbers);
    this.#newKey = newKey;
  }

  get key(): string {
    return this.#keeper.key;
  }

  /** Issues a new key; the old one is invalid at once. */
  regenerateKey(): string {
    const key = this.#newKey();
    this.#keeper.replace(key);
    return key;
  }

  accepts(key: string): boolean {
    return this.#keeper.accepts(key);
  }

  owns(number: string): boolean {
    return this.#numbers?.has(number) ?? true;
  }
}

/** Returns the 32 bytes of a MAC. */
export type Hmac = (text: string) => Uint8Array;

const encoder = new TextEncoder();

/**
 * HMAC-SHA256 of texts with one key, synchronous. WebCrypto sends each text to another thread, which took
 * a third of the time of a call here, and it is missing on a page without https.
 */
export const hmacSha256 = (key: Uint8Array): Hmac => {
  const keyed = hmac.create(sha256, key);
  // The keyed state is copied into this object for each text, so that nothing is allocated.
  const state = keyed.clone();
  let buffer = new Uint8Array(2_048);
  return (text) => {
    if (buffer.length < text.length * 3) buffer = new Uint8Array(text.length * 3);
    const { written } = encoder.encodeInto(text, buffer);
    return keyed._cloneInto(state).update(buffer.subarray(0, written)).digest();
  };
};

/** Signs a text. */
export type Sign = (text: string) => string;

const secretPrefix = "whsec_";

/** Whether a value is a secret of the Standard Webhooks scheme: `whsec_` and base64 of 24 to 64 bytes. */
export const isWebhookSecret = (value: unknown): value is string =>
  typeof value === "string" &&
  /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/.test(value) &&
  value.slice(secretPrefix.length).length % 4 === 0;

/** A new secret: `whsec_` and 32 random bytes in base64. */
export const randomSecret = (): string => secretPrefix + base64(randomBytes());

/**
 * Signs by the Standard Webhooks scheme: HMAC-SHA256 in base64, after `v1,`.
 *
 * @see https://www.standardwebhooks.com
 */
export const webhookSigner = (secret: string): Sign => {
  const mac = hmacSha256(decoded(secret.slice(secretPrefix.length)));
  return (text) => `v1,${base64(mac(text))}`;
};

/** How long a recording's URL is valid, in milliseconds: a week. */
const recordingUrlLifetime = 7 * 24 * 3_600_000;

/** Signed URLs of recordings: whoever has one may fetch the recording without the key. */
export class RecordingUrls {
  readonly #mac: Hmac;

  /** @param secret - random by default: then a URL is void once the process has ended */
  constructor(secret: Uint8Array = randomBytes()) {
    this.#mac = hmacSha256(secret);
  }

  /** @param origin - where the request for the call came in */
  urlOf(origin: string, id: string): string {
    // Real time, as whoever fetches the recording uses that.
    const expires = String(Math.floor((Date.now() + recordingUrlLifetime) / 1000));
    const signature = this.#sign(id, expires);
    return `${origin}/recordings/${id}.wav?expires=${expires}&signature=${signature}`;
  }

  /** Whether the query is that of a URL made here for this call, and has not expired. */
  accepts(id: string, query: URLSearchParams): boolean {
    const expires = query.get("expires") ?? "";
    const isOurs = isSame(query.get("signature") ?? "", this.#sign(id, expires));
    return isOurs && Number(expires) * 1000 > Date.now();
  }

  #sign(id: string, expires: string): string {
    return base64url(this.#mac(`${id}.${expires}`));
  }
}
