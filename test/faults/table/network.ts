import type { Difference, Fault, Outcome } from "../fault.ts";
import { bunIsVague, late, lost, placed, unreached, vagueRuntimes } from "./outcomes.ts";

const back: Outcome = { ...placed, ends: "back" };
const unsure: Outcome = { ...late, orNone: true };

const sendsLate: Difference = {
  posts: 1,
  orAsElsewhere: true,
  why: "sends the POST of a call that was aborted once the connection is made",
};
const happyDomConnects: Difference = {
  ...unreached,
  placed: "maybe",
  why: "keeps no connection, and does not tell that it was connecting",
};
const bunResets: Difference = {
  open: 1,
  orAsElsewhere: true,
  why: "ends the connection by a reset, which is lost: only the server still holds it",
};
const chromiumGivesUp: Difference = { ...lost, why: "ends HTTP/2 when the network changes" };
const chromiumStops: Difference = {
  ...lost,
  posts: 0,
  ends: "back",
  why: "ends what was not sent when the network changes",
};
const chromiumConnects: Difference = {
  ...lost,
  posts: 0,
  why: "ends kept connections when the network changes",
};

/** The network goes away, for 2 s. Then a POST that the kernel still had in hand may arrive. */
export const network: readonly Fault[] = [
  {
    name: "the network is down before the first call",
    cut: "down",
    expected: { ...late, posts: 0 },
    except: { "happy-dom": sendsLate, bun: sendsLate },
  },
  {
    name: "the network is down before a call on a kept connection",
    cut: "down",
    server: { kept: true },
    expected: unsure,
    except: { bun: bunResets },
  },
  {
    name: "the network goes down while the answer is held back",
    cut: "down",
    server: { held: true },
    expected: late,
    except: { "chromium h2": chromiumGivesUp },
  },
  {
    name: "the network is down before the first call, and back before the deadline",
    cut: "down",
    expected: back,
    except: { chromium: chromiumStops },
  },
  {
    name: "the network is down before a call on a kept connection, and back before the deadline",
    cut: "down",
    server: { kept: true },
    expected: back,
    except: { chromium: chromiumStops },
  },
  {
    name: "the network goes down while the answer is held back, and is back before the deadline",
    cut: "down",
    server: { held: true },
    expected: back,
    except: { "chromium h2": chromiumGivesUp },
  },
  {
    name: "the address is gone before the first call",
    cut: "unaddressed",
    expected: unreached,
    except: { ...vagueRuntimes, ...bunIsVague },
  },
  {
    name: "the address is gone before a call on a kept connection",
    cut: "unaddressed",
    server: { kept: true },
    expected: unsure,
    except: { bun: bunResets, "happy-dom": happyDomConnects, chromium: chromiumConnects },
  },
  {
    name: "the address goes while the answer is held back",
    cut: "unaddressed",
    server: { held: true },
    expected: late,
    except: { "chromium h2": chromiumGivesUp },
  },
  {
    name: "the address is gone before a call on a kept connection, and back before the deadline",
    cut: "unaddressed",
    server: { kept: true },
    expected: back,
    except: { "happy-dom": happyDomConnects, chromium: chromiumConnects },
  },
  {
    name: "the address goes while the answer is held back, and is back before the deadline",
    cut: "unaddressed",
    server: { held: true },
    expected: back,
    except: { "chromium h2": chromiumGivesUp },
  },
];
