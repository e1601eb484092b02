import type { Fault } from "../fault.ts";
import { late, lost, placed, refused, tooManyBytes, unclear, workerdTakes } from "./outcomes.ts";

/** Node's fetch, in its three versions and below the Edge VM. */
const undici = { ...lost, why: "takes a 100 that it did not ask for as a failure" } as const;

const h1 = { over: ["h1"] } as const;
const id = '{"id":"cs_1"}';

/** Heads that break off, lie or never come, and what goes before them. */
export const head: readonly Fault[] = [
  {
    name: "half a head, then a stall",
    ...h1,
    server: { raw: "HTTP/1.1 202 Accep", end: "stall" },
    expected: late,
  },
  {
    name: "half a head, then a reset",
    ...h1,
    server: { raw: "HTTP/1.1 202 Accep", end: "reset" },
    expected: lost,
  },
  {
    name: "half a head, then the end",
    ...h1,
    server: { raw: "HTTP/1.1 202 Accepted\r\nContent-Le", end: "close" },
    expected: lost,
  },
  {
    name: "the head of a 202, then a stall",
    server: { body: "", end: "stall" },
    expected: { ...late, code: 202 },
  },
  {
    name: "the head of a 403, then a stall",
    server: { status: 403, body: "", end: "stall" },
    expected: { ...late, placed: "no", code: 403 },
  },
  { name: "the head of a 202, then a reset", server: { body: "", end: "reset" }, expected: lost },
  {
    name: "the head of a 403, then a reset",
    server: { status: 403, body: "", end: "reset" },
    expected: refused(403, "ForbiddenException"),
  },
  {
    name: "not HTTP at all",
    ...h1,
    server: { raw: "SSH-2.0-OpenSSH_9.9\r\n", end: "close" },
    expected: lost,
  },
  {
    name: "a status line of junk",
    ...h1,
    server: { raw: "HTTP/9.9 banana\r\n\r\n", end: "close" },
    expected: lost,
  },
  {
    name: "a header of 1 MiB",
    server: { headers: { "x-long": "x".repeat(2 ** 20) } },
    expected: lost,
    except: { bun: { ...placed, why: "has no limit there" } },
  },
  {
    name: "a header with a NUL in it",
    ...h1,
    server: { raw: `HTTP/1.1 202 Accepted\r\n{cors}x-nul: a\0b\r\n\r\n${id}`, end: "close" },
    expected: lost,
  },
  {
    name: "10 x 103 before a good answer",
    server: { interim: { status: 103, times: 10 } },
    expected: placed,
    except: { workerd: workerdTakes(103) },
  },
  {
    name: "1,000 x 100 before a good answer",
    server: { interim: { status: 100, times: 1_000 } },
    expected: placed,
    except: {
      node22: undici,
      node24: undici,
      "node26 h1": undici,
      edge: undici,
      workerd: workerdTakes(100),
    },
  },
  {
    name: "1,000 x 102 before a good answer",
    server: { interim: { status: 102, times: 1_000 } },
    expected: placed,
    except: { workerd: workerdTakes(102) },
  },
  {
    name: "103 for ever",
    server: { interim: { status: 103, times: 1_000_000, every: 20 } },
    expected: late,
    except: { workerd: { code: 103, why: "takes an interim answer for the answer" } },
  },
  {
    name: "101 that nobody asked for",
    ...h1,
    server: {
      raw: "HTTP/1.1 101 Switching Protocols\r\n{cors}connection: upgrade\r\nupgrade: x\r\n\r\n",
      end: "close",
    },
    expected: lost,
    except: {
      deno: { ...unclear(101), why: "gives it as the answer" },
      workerd: { ...unclear(101), why: "gives it as the answer" },
      "happy-dom": { ...late, why: "never ends it; the deadline does" },
    },
  },
  {
    name: "204, with an id in its body",
    ...h1,
    server: {
      raw: `HTTP/1.1 204 No Content\r\n{cors}content-length: 13\r\n\r\n${id}`,
      end: "close",
    },
    expected: unclear(204),
    except: { workerd: tooManyBytes },
  },
  {
    name: "Content-Length below 0",
    ...h1,
    server: {
      raw: `HTTP/1.1 202 Accepted\r\n{cors}content-length: -13\r\n\r\n${id}`,
      end: "close",
    },
    expected: lost,
    except: { chromium: { ...placed, why: "reads to the end of the connection" } },
  },
  {
    name: "two Content-Lengths that differ",
    ...h1,
    server: {
      raw: `HTTP/1.1 202 Accepted\r\n{cors}content-length: 13\r\ncontent-length: 12\r\n\r\n${id}`,
      end: "close",
    },
    expected: lost,
  },
];
