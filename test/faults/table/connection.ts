import type { Fault } from "../fault.ts";
import {
  bunIsVague,
  chromiumResends,
  late,
  lost,
  placed,
  unreached,
  vagueRuntimes,
} from "./outcomes.ts";

/** Before the head of the answer. */
export const connection: readonly Fault[] = [
  { name: "none: a good answer", expected: placed },
  { name: "none: a good answer, by TLS", over: ["tls"], expected: placed },
  {
    name: "nobody listens on the port",
    server: { listens: "nowhere" },
    over: ["h1", "tls"],
    expected: unreached,
    except: vagueRuntimes,
  },
  {
    name: "the host has no address (DNS)",
    baseUrl: "https://voice.invalid",
    over: ["tls"],
    expected: unreached,
    except: vagueRuntimes,
  },
  {
    name: "no network leads to the host",
    baseUrl: "https://224.0.0.1",
    over: ["tls"],
    expected: unreached,
    except: { ...vagueRuntimes, ...bunIsVague },
  },
  {
    name: "packets vanish while the connection is made",
    server: { listens: "deaf" },
    over: ["h1"],
    expected: { ...late, posts: 0 },
  },
  {
    name: "accepts, and never answers: packets vanish after the request",
    server: { end: "stall", raw: "" },
    expected: late,
  },
  {
    name: "resets soon after it accepts",
    server: { accept: "reset" },
    over: ["h1"],
    expected: { ...lost, posts: 0 },
  },
  {
    name: "closes soon after it accepts",
    server: { accept: "close" },
    over: ["h1"],
    expected: { ...lost, posts: 0 },
  },
  {
    name: "resets after the head of the request",
    server: { unread: true, raw: "", end: "reset" },
    expected: lost,
    except: { "chromium h2": chromiumResends },
  },
  {
    name: "resets after the request",
    server: { raw: "", end: "reset" },
    expected: lost,
    except: { "chromium h2": chromiumResends },
  },
  {
    name: "closes after the request",
    server: { raw: "", end: "close" },
    expected: lost,
    except: { "chromium h2": chromiumResends },
  },
  {
    name: "resets a kept connection after the second request",
    server: { kept: true, raw: "", end: "reset" },
    expected: lost,
    except: { chromium: chromiumResends },
  },
  {
    name: "closes a kept connection after the second request",
    server: { kept: true, raw: "", end: "close" },
    expected: lost,
    except: { chromium: chromiumResends },
  },
];
