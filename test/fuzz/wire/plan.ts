import fc from "fast-check";
import type { Entry } from "../../conformance/entries.ts";
import { bodyWith, type Carrier } from "../../conformance/services/carrier.ts";
import { mayPlace } from "../service.ts";

/** What a server writes for each POST, as it is on the wire, and how it ends. */
export interface Plan {
  readonly status: number;
  readonly raw: string;
  readonly end: "close" | "reset" | "stall";
}

/** What became of a plan. */
export interface Seen {
  /** The POSTs that arrived whole. */
  readonly posts: number;
}

/** Whether a POST that arrived may have placed a call. */
export const accepts = ({ status }: Plan, refuses: Entry["refuses"]): boolean =>
  mayPlace({ status, headers: {}, body: "" }, refuses);

const statuses = fc.constantFrom(
  ...[
    200, 202, 202, 202, 204, 300, 302, 303, 304, 307, 308, 400, 401, 403, 404, 405, 408, 409, 422,
    425,
  ],
  ...[429, 499, 500, 502, 503, 599],
);

const goodBody = '{"data":{"id":"cs_1"}}';

const bodiesWith = (carrier?: Carrier) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(carrier ? bodyWith(carrier, goodBody) : goodBody) },
    { weight: 2, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.constantFrom("", "<h1>no</h1>", "\0\0\0", " ".repeat(70_000)) },
    { weight: 1, arbitrary: fc.nat(5_000).map((levels) => "[".repeat(levels)) },
  );

/** How a body is framed: rightly most of the time, otherwise with lengths that lie. */
const framed = (body: string, lie: number): fc.Arbitrary<string> => {
  const length = new TextEncoder().encode(body).length;
  const chunk = `${length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant(`content-length: ${length}\r\n\r\n${body}`) },
    {
      weight: 3,
      arbitrary: fc.constant(`transfer-encoding: chunked\r\n\r\n${length ? chunk : "0\r\n\r\n"}`),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        `content-length: ${lie}\r\n\r\n${body}`,
        `content-length: ${lie}\r\ntransfer-encoding: chunked\r\n\r\n${chunk}`,
        `content-length: ${length}\r\ncontent-length: ${lie}\r\n\r\n${body}`,
        `transfer-encoding: chunked\r\n\r\n${lie.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
        `content-encoding: gzip\r\ncontent-length: ${length}\r\n\r\n${body}`,
        `\r\n${body}`,
      ),
    },
  );
};

const headers = fc.subarray([
  "content-type: application/json\r\n",
  "location: /elsewhere\r\n",
  "retry-after: 0\r\n",
  `retry-after: ${"9".repeat(400)}\r\n`,
  "x-request-id: f81d4fae-7dec-11d0-a765-00a0c91e6bf6\r\n",
  "x: \u00ff\r\n",
  "no colon\r\n",
]);

/** Answers in the shape of HTTP/1.1, some of them wrong somewhere, some cut anywhere. */
export const planWith = (carrier?: Carrier): fc.Arbitrary<Plan> =>
  fc
    .record({
      status: statuses,
      headers,
      framing: fc.tuple(bodiesWith(carrier), fc.nat(80)).chain(([body, lie]) => framed(body, lie)),
      interim: fc.oneof({ weight: 9, arbitrary: fc.constant("") }, fc.constantFrom("100", "103")),
      cut: fc.oneof(
        { weight: 5, arbitrary: fc.constant(1) },
        fc.double({ min: 0, max: 1, noNaN: true }),
      ),
      end: fc.constantFrom("close" as const, "close" as const, "reset" as const, "stall" as const),
    })
    .map(({ status, headers, framing, interim, cut, end }) => {
      const before = interim && `HTTP/1.1 ${interim} Wait\r\n\r\n`;
      const whole = `${before}HTTP/1.1 ${status} Whatever\r\nconnection: close\r\n${headers.join("")}${framing}`;
      return { status, raw: whole.slice(0, Math.ceil(whole.length * cut)), end };
    });
