import type { Fault } from "../fault.ts";
import { lost, unclear } from "./outcomes.ts";

const h2 = { over: ["h2"] } as const;

/** What only HTTP/2 can do: the codes are those of RFC 9113, section 7. */
export const http2Faults: readonly Fault[] = [
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
    except: {
      chromium: { posts: 9, why: "sends again what the server says that it did not look at" },
    },
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
    except: {
      chromium: { posts: 9, why: "sends again what the server says that it did not look at" },
    },
  },
];
