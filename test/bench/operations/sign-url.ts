import { signUrl } from "outdial/callbacks";
import type { Connect } from "../clients/client.ts";
import { url, urlSecret as secret } from "./event.ts";

export const connect: Connect = () => () => signUrl(url, { secret, context: { order: 17 } });
