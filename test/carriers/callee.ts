import type { CalleeAct } from "../../src/emulator/index.ts";

/** Seconds of silence: 8 kHz, 16 bits, mono. */
export const wav = (seconds: number): Buffer => {
  const bytes = Buffer.alloc(44 + seconds * 16_000);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(8_000, 24);
  bytes.writeUInt32LE(16_000, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(bytes.length - 44, 40);
  return bytes;
};

/** A callee who presses keys some milliseconds after the answer. */
export const presses = (...keys: readonly (readonly [ms: number, digits: string])[]): CalleeAct[] =>
  keys.flatMap(([ms, digits]) => [
    { type: "until", ms },
    { type: "press", digits },
  ]);
