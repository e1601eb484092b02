import type { Fault } from "../fault.ts";
import { late, lost, placed, refused, tooManyBytes, unclear } from "./outcomes.ts";

/** Node's fetch, in its three versions and below the Edge VM. */
const busyGunzip = {
  ...late,
  code: 202,
  orAsElsewhere: true,
  why: "when busy, never tells that it can't be unpacked, and the deadline ends it",
} as const;
const early = { ...lost, code: undefined, why: "tells that the gzip ends early" } as const;
const bomb = {
  met: false,
  why: "goes on unpacking into a stream that was cancelled, and throws where nobody can catch it",
} as const;

const chunks = { ...unclear(202), why: "believes the chunks; what comes is counted" } as const;

const h1 = { over: ["h1"] } as const;
const id = '{"id":"cs_1"}';
const accepted = "HTTP/1.1 202 Accepted\r\n{cors}";
const chunked = `${accepted}transfer-encoding: chunked\r\n\r\n`;

/** Bodies that stall, break off, lie, or are not what they should be. */
export const body: readonly Fault[] = [
  {
    name: "half a body, then a stall",
    server: { body: '{"id":"cs_', end: "stall" },
    expected: { ...late, code: 202 },
  },
  {
    name: "a body of one byte a second",
    server: { body: id, pace: 1_000 },
    expected: { ...late, code: 202 },
  },
  {
    name: "half a body, then a reset",
    server: { body: '{"id":"cs_', end: "reset" },
    expected: lost,
  },
  {
    name: "half the body of a 403, then a reset",
    server: { status: 403, body: '{"detail":"Inv', end: "reset" },
    expected: refused(403, "ForbiddenException"),
  },
  {
    name: "a reset after the whole body",
    ...h1,
    server: { raw: `${accepted}content-length: 13\r\n\r\n${id}`, end: "reset" },
    expected: placed,
  },
  {
    name: "Content-Length says more than there is",
    ...h1,
    server: { raw: `${accepted}content-length: 26\r\n\r\n${id}`, end: "close" },
    expected: lost,
  },
  {
    name: "Content-Length: 13 beside a chunked body of 8 MiB, which would be a good one",
    ...h1,
    server: {
      raw: `${accepted}content-length: 13\r\ntransfer-encoding: chunked\r\n\r\n${`100000\r\n${" ".repeat(2 ** 20)}\r\n`.repeat(8)}d\r\n${id}\r\n0\r\n\r\n`,
      end: "close",
    },
    expected: lost,
    except: { bun: chunks, deno: chunks, workerd: chunks, chromium: chunks },
  },
  {
    name: "Content-Length: 13 before 2 MiB of DATA, which would be a good body",
    over: ["h2"],
    server: {
      frames: [
        { headers: { ":status": "202", "content-length": "13" } },
        ...Array.from({ length: 128 }, () => ({ data: " ".repeat(16_384) })),
        { data: id, last: true },
      ],
    },
    expected: lost,
    except: { chromium: { ...unclear(202), why: "believes the frames; what comes is counted" } },
  },
  {
    name: "Content-Length says less than there is",
    ...h1,
    server: { raw: `${accepted}content-length: 9\r\n\r\n${id}`, end: "close" },
    expected: unclear(202),
    except: { workerd: tooManyBytes },
  },
  {
    name: "a chunk whose size is junk",
    ...h1,
    server: { raw: `${chunked}zz\r\n${id}\r\n0\r\n\r\n`, end: "close" },
    expected: lost,
  },
  {
    name: "a chunk that is longer than its size",
    ...h1,
    server: { raw: `${chunked}5\r\n${id}\r\n0\r\n\r\n`, end: "close" },
    expected: lost,
  },
  {
    name: "no last chunk",
    ...h1,
    server: { raw: `${chunked}d\r\n${id}\r\n`, end: "close" },
    expected: lost,
  },
  {
    name: "gzip that is none",
    server: { headers: { "content-encoding": "gzip" }, body: id },
    expected: lost,
    except: { node22: busyGunzip, node24: busyGunzip, "node26 h1": busyGunzip, edge: busyGunzip },
  },
  {
    name: "half a gzip",
    server: { headers: { "content-encoding": "gzip" }, body: id, encode: "half a gzip" },
    expected: unclear(202),
    except: { bun: early, deno: early, workerd: early },
  },
  {
    name: "a gzip bomb: 256 MiB in 256 KiB",
    server: { headers: { "content-encoding": "gzip" }, spaces: 2 ** 28, body: id, encode: "gzip" },
    expected: unclear(202),
    except: { "happy-dom": bomb },
  },
  {
    name: "a gzip bomb in a 403",
    server: {
      status: 403,
      headers: { "content-encoding": "gzip" },
      spaces: 2 ** 28,
      encode: "gzip",
    },
    expected: refused(403, "ForbiddenException"),
    except: { "happy-dom": bomb },
  },
  {
    name: "a body of 10 MiB",
    server: { spaces: 10 * 2 ** 20, body: id },
    expected: unclear(202),
  },
  { name: "an empty body", server: { body: "" }, expected: unclear(202) },
  {
    name: "HTML",
    server: { headers: { "content-type": "text/html" }, body: "<!doctype html><h1>OK</h1>" },
    expected: unclear(202),
  },
  { name: "a BOM before the JSON", server: { body: `\ufeff${id}` }, expected: placed },
  { name: "UTF-16", server: { body: `\ufeff${id}`, encode: "utf-16" }, expected: unclear(202) },
  { name: "the id twice", server: { body: '{"id":"cs_0","id":"cs_1"}' }, expected: placed },
  {
    name: "__proto__",
    server: { body: '{"__proto__":{"id":"cs_0"},"id":"cs_1"}' },
    expected: placed,
  },
  {
    name: "__proto__ and no id",
    server: { body: '{"__proto__":{"id":"cs_0"}}' },
    expected: unclear(202),
  },
  { name: "NaN", server: { body: '{"id":"cs_1","price":NaN}' }, expected: unclear(202) },
];
