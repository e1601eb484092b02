import { signUrl } from "outdial/callbacks";
import type { Connect } from "../clients/client.ts";
import { url } from "./event.ts";
import { inTurn } from "./in-turn.ts";

export const connect: Connect = () =>
  inTurn((secret) => () => signUrl(url, { secret, context: { order: 17 } }));
