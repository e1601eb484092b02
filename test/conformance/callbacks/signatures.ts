import { assert } from "chai";
import { RefusedException, receive, signUrl } from "outdial/callbacks";
import type { Case } from "../case.ts";
import {
  assertRefused,
  at,
  flipped,
  headersOf,
  other,
  post,
  rejection,
  secret,
  webhook,
  webhookSecret,
} from "./fixtures.ts";
import { now, webhooks } from "./vectors.ts";

export const cases: readonly Case[] = [
  {
    name: "what the reference package of Standard Webhooks signs is verified",
    run: async () => {
      for (const vector of webhooks) {
        const make = () => post("https://app.test/status", vector.body, headersOf(vector));
        await at(vector.timestamp, async () => {
          const options = { webhookSecret: vector.secret };
          // One of them isn't an event; its signature is right all the same.
          if (vector.body.includes("test")) await assertRefused(make, options, "wrong_shape");
          else assert.isString((await receive(make(), options)).event.call_id);
          await assertRefused(make, { webhookSecret: `whsec_${btoa(other)}` }, "wrong_signature");
        });
      }
    },
  },
  {
    name: "a webhook secret is rotated, on either side",
    run: () =>
      at(now, async () => {
        const headers = headersOf(webhook);
        const [, own = ""] = headers["webhook-signature"].split(",");
        const foreign = `v1,${flipped(own, 3)}`;
        for (const signature of [
          `${foreign} v1,${own}`,
          `v2,abc v1a,${own} v1,${own}`,
          `v1,${own} ${foreign}`,
        ]) {
          const signed = { ...headers, "webhook-signature": signature };
          const request = post("https://app.test/status", webhook.body, signed);
          const secrets = [`whsec_${btoa(other)}`, webhookSecret];
          assert.equal((await receive(request, { webhookSecret: secrets })).event.call_id, "cs_1");
        }
      }),
  },
  {
    name: "a webhook with a changed byte anywhere in its headers or its body is refused",
    run: () =>
      at(now, async () => {
        const url = "https://app.test/status";
        const headers: Record<string, string> = headersOf(webhook);
        const refused = async (body: string, headers: HeadersInit, where: string) => {
          const error = await rejection(receive(post(url, body, headers), { webhookSecret }));
          assert.equal(error instanceof RefusedException && error.status, 401, where);
        };
        for (let index = 0; index < webhook.body.length; index++) {
          await refused(flipped(webhook.body, index), headers, `body ${index}`);
        }
        for (const [name, value] of Object.entries(headers)) {
          for (let index = 0; index < value.length; index++) {
            await refused(
              webhook.body,
              { ...headers, [name]: flipped(value, index) },
              `${name} ${index}`,
            );
          }
        }
      }),
  },
  {
    name: "a webhook with a header that is missing, doubled or of no shape is refused",
    run: () =>
      at(now, async () => {
        const url = "https://app.test/status";
        const headers: Record<string, string> = headersOf(webhook);
        for (const name of Object.keys(headers)) {
          const { [name]: _, ...others } = headers;
          await assertRefused(
            () => post(url, webhook.body, others),
            { webhookSecret },
            "no_signature",
          );
          if (name === "webhook-signature") continue; // A list by nature.
          const twice = () => {
            const request = post(url, webhook.body, headers);
            request.headers.append(name, headers[name] ?? "");
            return request;
          };
          const error = await rejection(receive(twice(), { webhookSecret }));
          assert.equal(error instanceof RefusedException && error.status, 401, name);
        }
        for (const timestamp of ["1e9", "-1", "0x1", `${now}.0`, "now"]) {
          const wrong = { ...headers, "webhook-timestamp": timestamp };
          await assertRefused(
            () => post(url, webhook.body, wrong),
            { webhookSecret },
            "no_signature",
          );
        }
        const dotted = { ...headers, "webhook-id": "evt.1" };
        await assertRefused(
          () => post(url, webhook.body, dotted),
          { webhookSecret },
          "no_signature",
        );
      }),
  },
  {
    name: "a webhook is good for 5 minutes, before and after its time",
    run: async () => {
      const make = () => post("https://app.test/status", webhook.body, headersOf(webhook));
      for (const offset of [-300, 300]) {
        await at(now + offset, () => receive(make(), { webhookSecret }));
      }
      for (const offset of [-301, 301, 86_400]) {
        await at(now + offset, () => assertRefused(make, { webhookSecret }, "expired_signature"));
      }
    },
  },
  {
    name: "a MAC is taken in one spelling only: the bits that base64 ignores are none to play with",
    run: () =>
      at(now, async () => {
        const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        const url = await signUrl("https://app.test/status", { secret });
        const headers = headersOf(webhook);
        const { signature } = webhook;
        let taken = 0;
        for (const last of `${letters}-_+/=`) {
          const make = (url: string, signature: string) =>
            post(url, webhook.body, { ...headers, "webhook-signature": signature });
          const changed = `${url.slice(0, -1)}${last}`;
          if (changed === url) taken++;
          else {
            const error = await rejection(receive(make(changed, signature), { secret }));
            assert.equal(error instanceof RefusedException && error.status, 401, changed);
          }
          const other = `${signature.slice(0, -2)}${last}=`;
          if (other === signature) taken++;
          else await assertRefused(() => make(url, other), { webhookSecret }, "wrong_signature");
        }
        assert.equal(taken, 2);
      }),
  },
];
