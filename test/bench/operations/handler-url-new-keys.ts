import type { Connect } from "../clients/client.ts";
import { receiving } from "./handler-url.ts";
import { inTurn } from "./in-turn.ts";

export const connect: Connect = () => inTurn(receiving);
