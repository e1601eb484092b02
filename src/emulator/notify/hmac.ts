/** The first 32 bits of the fractions of roots of the first primes: where SHA-256 has its constants. */
const fractions = (count: number, root: (prime: number) => number): Int32Array => {
  const primes: number[] = [];
  for (let number = 2; primes.length < count; number++) {
    if (primes.every((prime) => number % prime)) primes.push(number);
  }
  return Int32Array.from(primes, (prime) => (root(prime) % 1) * 2 ** 32);
};

const initial = /* @__PURE__ */ fractions(8, Math.sqrt);
const rounds = /* @__PURE__ */ fractions(64, Math.cbrt);
const encoder = /* @__PURE__ */ new TextEncoder();
const schedule = /* @__PURE__ */ new Int32Array(64);

const turn = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

/** A word of an array that is long enough. */
const at = (words: Int32Array, index: number): number => words[index] ?? 0;

/** Works one block of 64 bytes into a state. */
const compress = (state: Int32Array, view: DataView, from: number): void => {
  for (let index = 0; index < 16; index++) schedule[index] = view.getInt32(from + 4 * index);
  for (let index = 16; index < 64; index++) {
    const two = at(schedule, index - 2);
    const fifteen = at(schedule, index - 15);
    schedule[index] =
      (turn(two, 17) ^ turn(two, 19) ^ (two >>> 10)) +
      (turn(fifteen, 7) ^ turn(fifteen, 18) ^ (fifteen >>> 3)) +
      at(schedule, index - 7) +
      at(schedule, index - 16);
  }
  let a = at(state, 0);
  let b = at(state, 1);
  let c = at(state, 2);
  let d = at(state, 3);
  let e = at(state, 4);
  let f = at(state, 5);
  let g = at(state, 6);
  let h = at(state, 7);
  for (let index = 0; index < 64; index++) {
    const choice = (e & f) ^ (~e & g);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const first =
      (h +
        (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
        choice +
        at(rounds, index) +
        at(schedule, index)) |
      0;
    const second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  state[0] = at(state, 0) + a;
  state[1] = at(state, 1) + b;
  state[2] = at(state, 2) + c;
  state[3] = at(state, 3) + d;
  state[4] = at(state, 4) + e;
  state[5] = at(state, 5) + f;
  state[6] = at(state, 6) + g;
  state[7] = at(state, 7) + h;
};

/** The bytes of a block, and room for many, so that nothing is made anew for each text. */
class Room {
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(2_048);
  view: DataView = new DataView(this.bytes.buffer);

  /** The UTF-8 of a text, at the beginning of the room. */
  put(text: string): number {
    const most = text.length * 3 + 72;
    if (this.bytes.length < most) {
      this.bytes = new Uint8Array(most * 2);
      this.view = new DataView(this.bytes.buffer);
    }
    return encoder.encodeInto(text, this.bytes).written;
  }

  /** Hashes what is there, after a first block that a state has taken in. */
  hash(start: Int32Array, size: number): Int32Array {
    const length = Math.ceil((size + 9) / 64) * 64;
    this.bytes.fill(0, size, length);
    this.bytes[size] = 0x80;
    this.view.setUint32(length - 4, (64 + size) * 8);
    const state = start.slice();
    for (let from = 0; from < length; from += 64) compress(state, this.view, from);
    return state;
  }
}

/**
 * HMAC-SHA256 of texts with one key, without waiting. WebCrypto hands each signature to another
 * thread, which made up a third of what a call costs here; and a page that is not on https has none.
 * It keeps no secret from anyone: use WebCrypto for that.
 *
 * @param key - at most 64 bytes
 * @returns gives the 32 bytes for a text of at most 128 MiB
 */
export const hmacSha256 = (key: Uint8Array): ((text: string) => Uint8Array<ArrayBuffer>) => {
  const keyed = (pad: number): Int32Array => {
    const block = new Uint8Array(64).fill(pad);
    for (const [index, byte] of key.entries()) block[index] = byte ^ pad;
    const state = initial.slice();
    compress(state, new DataView(block.buffer), 0);
    return state;
  };
  const inner = keyed(0x36);
  const outer = keyed(0x5c);
  const room = new Room();
  const store = (state: Int32Array) => {
    for (let index = 0; index < 8; index++) room.view.setInt32(4 * index, at(state, index));
  };
  return (text) => {
    store(room.hash(inner, room.put(text)));
    store(room.hash(outer, 32));
    return room.bytes.slice(0, 32);
  };
};
