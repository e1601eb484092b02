import type { Fault } from "../fault.ts";
import { denoKnows, goesOnConnecting, late, lost, unreached, vagueRuntimes } from "./outcomes.ts";

const tls = { over: ["tls"] } as const;

/** TLS that is not to be trusted, or is none. */
export const tlsFaults: readonly Fault[] = [
  {
    name: "an expired certificate",
    over: ["tls", "h2"],
    server: { listens: "expired" },
    expected: unreached,
    except: vagueRuntimes,
  },
  {
    name: "a certificate of another host",
    over: ["tls", "h2"],
    server: { listens: "misnamed" },
    expected: unreached,
    except: vagueRuntimes,
  },
  {
    name: "a certificate that nobody vouches for",
    over: ["tls", "h2"],
    server: { listens: "unknown" },
    expected: unreached,
    except: vagueRuntimes,
  },
  {
    name: "plain HTTP where TLS should be",
    ...tls,
    server: { accept: "plain" },
    expected: { ...lost, posts: 0 },
    except: denoKnows,
  },
  {
    name: "a stall in the handshake",
    ...tls,
    server: { accept: "stall" },
    expected: { ...late, posts: 0 },
    except: goesOnConnecting,
  },
  {
    name: "a reset in the handshake",
    ...tls,
    server: { accept: "reset" },
    expected: { ...lost, posts: 0 },
    except: denoKnows,
  },
];
