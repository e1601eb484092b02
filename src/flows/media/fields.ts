import { type CustomSchema, custom } from "valibot";

/** The most audio in one message, in characters of base64. (Four seconds of 16 kHz are 171 kB.) */
const mostAudio = 1_048_576;

/** Whether it decodes is found out by decoding it. */
export const audioB64: CustomSchema<string, string> = /* @__PURE__ */ custom(
  (value) =>
    typeof value === "string" && value.length <= mostAudio && /^[A-Za-z0-9+/]*={0,2}$/.test(value),
  "must be base64 of at most 1 MiB",
);
