import type { Fault } from "../fault.ts";
import { chromiumResends, late, lost, placed, unclear } from "./outcomes.ts";

const h2 = { over: ["h2"] } as const;
const id = '{"id":"cs_1"}';
const accepted = { ":status": "202" } as const;

const resends = {
  chromium: { posts: 9, why: "sends again what the server says that it did not look at" },
} as const;

const chromiumIgnores = {
  chromium: { ...placed, why: "does not compare it with what comes" },
} as const;

/** What the head and the body of HTTP/1.1 have in `head.ts` and `body.ts`, in frames. */
const frames: readonly Fault[] = [
  {
    name: "half the HEADERS, then a stall",
    ...h2,
    server: { frames: [{ headers: accepted, part: true }], end: "stall" },
    expected: late,
  },
  {
    name: "half the HEADERS, then a reset",
    ...h2,
    server: { frames: [{ headers: accepted, part: true }], end: "reset" },
    expected: lost,
    except: { chromium: chromiumResends },
  },
  {
    name: "not HTTP/2 at all",
    ...h2,
    server: { frames: [{ junk: "SSH-2.0-OpenSSH_9.9\r\n" }], end: "close" },
    expected: lost,
  },
  {
    name: "a :status of junk",
    ...h2,
    server: {
      frames: [{ headers: { ":status": "banana" } }, { data: id, last: true }],
      end: "stall",
    },
    expected: lost,
  },
  {
    name: "no :status",
    ...h2,
    server: { frames: [{ headers: { "x-none": "1" } }, { data: id, last: true }], end: "stall" },
    expected: lost,
    except: { deno: { ...placed, why: "takes it for a 200" } },
  },
  {
    name: "101, which HTTP/2 has not",
    ...h2,
    server: { frames: [{ headers: { ":status": "101" } }, { data: id, last: true }], end: "stall" },
    expected: lost,
  },
  {
    name: "204, with an id in its DATA",
    ...h2,
    server: { frames: [{ headers: { ":status": "204" } }, { data: id, last: true }], end: "stall" },
    expected: unclear(204),
    except: { chromium: { ...placed, code: undefined, why: "gives the body of a 204" } },
  },
  ...[
    { says: "more", length: "26" },
    { says: "less", length: "9" },
    { says: "below 0", length: "-13" },
  ].map(({ says, length }) => ({
    name: `DATA after a Content-Length that is ${says}`,
    ...h2,
    server: {
      frames: [{ headers: { ...accepted, "content-length": length } }, { data: id, last: true }],
      end: "stall" as const,
    },
    expected: lost,
    except: chromiumIgnores,
  })),
  {
    name: "HEADERS with a NUL in a value",
    ...h2,
    server: {
      frames: [{ headers: { ...accepted, "x-nul": "a\0b" } }, { data: id, last: true }],
      end: "stall",
    },
    expected: lost,
    except: { node26: { ...placed, why: "lets it pass" } },
  },
  {
    name: "HEADERS with a name in capitals",
    ...h2,
    server: {
      frames: [{ headers: { ...accepted, "X-Capitals": "1" } }, { data: id, last: true }],
      end: "stall",
    },
    expected: lost,
  },
  {
    name: "DATA before HEADERS",
    ...h2,
    server: { frames: [{ data: id, last: true }], end: "stall" },
    expected: lost,
  },
  {
    name: "DATA of 16 MiB in one frame",
    ...h2,
    server: { frames: [{ headers: accepted }, { data: id, claims: 2 ** 24 - 1 }], end: "stall" },
    expected: lost,
  },
  {
    name: "half a frame of DATA, then a reset",
    ...h2,
    server: { frames: [{ headers: accepted }, { data: id, claims: 26 }], end: "reset" },
    expected: lost,
  },
  {
    name: "a reset after the last DATA",
    ...h2,
    server: { frames: [{ headers: accepted }, { data: id, last: true }], end: "reset" },
    expected: placed,
  },
];

/** What only HTTP/2 can do: the codes are those of RFC 9113, section 7. */
const streams: readonly Fault[] = [
  {
    name: "RST_STREAM, INTERNAL_ERROR",
    ...h2,
    server: { raw: "", end: { stream: 2 } },
    expected: lost,
  },
  {
    name: "RST_STREAM, REFUSED_STREAM",
    ...h2,
    server: { raw: "", end: { stream: 7 } },
    expected: lost,
    except: resends,
  },
  {
    name: "RST_STREAM, CANCEL, after half a body",
    ...h2,
    server: { body: '{"id":"cs_', end: { stream: 8 } },
    expected: unclear(202),
  },
  {
    name: "RST_STREAM, ENHANCE_YOUR_CALM",
    ...h2,
    server: { raw: "", end: { stream: 11 } },
    expected: lost,
  },
  {
    name: "RST_STREAM, HTTP_1_1_REQUIRED",
    ...h2,
    server: { raw: "", end: { stream: 13 } },
    expected: lost,
  },
  {
    name: "GOAWAY, and the stream was not taken",
    ...h2,
    server: { raw: "", end: "goaway" },
    expected: lost,
    except: resends,
  },
  {
    name: "GOAWAY, and the stream was taken",
    ...h2,
    server: { raw: "", end: "goaway, taken" },
    expected: lost,
    except: { chromium: chromiumResends },
  },
];

export const http2Faults: readonly Fault[] = [...frames, ...streams];
