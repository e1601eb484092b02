import { assert } from "chai";
import { BadParametersException } from "outdial";
import { receive, type TimestampedHmac, timestampedHmac } from "outdial/callbacks";
import type { Case } from "../case.ts";
import { assertRefused, at, flipped, post } from "./fixtures.ts";
import { now, timestamped } from "./vectors.ts";

const { secret, body, signed } = timestamped;
const [inSeconds, inMilliseconds] = signed;
const { timestamp, hex, base64 } = inSeconds;
const url = "https://app.test/status";
const service = {
  secret,
  timestampHeader: "X-Service-Timestamp",
  signatureHeader: "X-Service-Signature",
} as const;
const other = "another secret, of somebody else";

const message = (signature: string, time: string = timestamp, text: string = body): Request =>
  post(url, text, { "x-service-timestamp": time, "x-service-signature": signature });

const checks = (more: Partial<TimestampedHmac> = {}) => ({
  verify: timestampedHmac({ ...service, ...more }),
});

export const cases: readonly Case[] = [
  {
    name: "a timestamped HMAC is verified as another implementation makes it, in hex and base64",
    run: () =>
      at(now, async () => {
        for (const { timestamp, hex, base64 } of signed) {
          for (const [signature, more] of [
            [hex, {}],
            [hex.toUpperCase(), { encoding: "hex" }],
            [base64, { encoding: "base64" }],
            [`sha256=${hex}`, { prefix: "sha256=" }],
            [`v1,${base64}`.replace(",", "="), { prefix: "v1=", encoding: "base64" }],
            [hex, { secret: [other, secret] }],
            [`${hex.replace(/./, "_")} ${hex}`, {}],
            [`v0=${hex},v1=${hex}`, { prefix: "v1=" }],
          ] as const) {
            const { event } = await receive(message(signature, timestamp), checks(more));
            assert.equal(event.call_id, "cs_1");
          }
        }
      }),
  },
  {
    name: "a timestamped HMAC of another secret, in another form or of another message is refused",
    run: () =>
      at(now, async () => {
        for (const [signature, more] of [
          [hex, { secret: other }],
          [hex, { encoding: "base64" }],
          [hex, { prefix: "sha256=" }],
          [`sha256=${hex}`, {}],
          [base64, {}],
          [base64.slice(0, -1), { encoding: "base64" }],
          [base64.replaceAll("+", "-").replaceAll("/", "_").slice(0, -1), { encoding: "base64" }],
          [inMilliseconds.hex, {}],
          [hex.slice(2), {}],
          [`${hex}00`, {}],
          ["x", {}],
          [[...Array(8).fill("0".repeat(64)), hex].join(","), {}],
        ] as const) {
          await assertRefused(() => message(signature), checks(more), "wrong_signature");
        }
        for (let index = 0; index < hex.length; index++) {
          await assertRefused(() => message(flipped(hex, index)), checks(), "wrong_signature");
        }
        await assertRefused(() => message(hex, timestamp, `${body} `), checks(), "wrong_signature");
        const later = String(now + 1);
        await assertRefused(() => message(hex, later), checks(), "wrong_signature");
      }),
  },
  {
    name: "a timestamped HMAC without its headers, or with a time of no shape, is refused",
    run: () =>
      at(now, async () => {
        for (const make of [
          () => post(url, body),
          () => post(url, body, { "x-service-timestamp": timestamp }),
          () => post(url, body, { "x-service-signature": hex }),
          () => message(""),
          ...[
            "",
            "now",
            "-1780000000",
            "1e9",
            "1780000000.0",
            "178000000",
            "17800000001",
            `0x${now}`,
          ]
            .concat(`${timestamp}, ${timestamp}`, "2026-05-28T20:26:40Z")
            .map((time) => () => message(hex, time)),
        ]) {
          await assertRefused(make, checks(), "no_signature");
        }
      }),
  },
  {
    name: "a timestamped HMAC is good for 5 minutes, before and after its time",
    run: async () => {
      for (const { timestamp, hex } of signed) {
        const time = Number(timestamp.slice(0, 10)) + Number(timestamp.slice(10)) / 1000;
        for (const offset of [-300, 300]) {
          await at(time + offset, () => receive(message(hex, timestamp), checks()));
        }
        for (const offset of [-301, 301, 86_400]) {
          const make = () => message(hex, timestamp);
          await at(time + offset, () => assertRefused(make, checks(), "expired_signature"));
        }
      }
    },
  },
  {
    name: "timestampedHmac refuses what breaks a rule at once, by its name and not its value",
    run: () => {
      for (const [param, options] of [
        ["secret", { ...service, secret: "MARKED" }],
        ["secret", { ...service, secret: undefined }],
        ["secret", { ...service, secret: [secret, ""] }],
        ["timestampHeader", { ...service, timestampHeader: "" }],
        ["timestampHeader", { ...service, timestampHeader: "MARKED " }],
        ["signatureHeader", { ...service, signatureHeader: undefined }],
        ["signatureHeader", { ...service, signatureHeader: "MARKED:" }],
        ["encoding", { ...service, encoding: "MARKED" }],
        ["prefix", { ...service, prefix: "MARKED " }],
        ["prefix", { ...service, prefix: "MARKED," }],
        ["prefx", { ...service, prefx: "MARKED" }],
      ] as const) {
        try {
          timestampedHmac(options as never);
          assert.fail(`expected an exception for ${param}`);
        } catch (error) {
          if (!(error instanceof BadParametersException)) throw error;
          assert.equal(error.param, param);
          assert.notInclude(String(error), "MARKED");
        }
      }
    },
  },
];
