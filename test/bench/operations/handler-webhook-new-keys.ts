import type { Connect } from "../clients/client.ts";
import { receiving } from "./handler-webhook.ts";
import { inTurn } from "./in-turn.ts";

export const connect: Connect = () => inTurn((secret) => receiving(`whsec_${secret}`));
