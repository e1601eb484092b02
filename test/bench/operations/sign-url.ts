import { signUrl } from "outdial/callbacks";
import type { Connect } from "../clients/client.ts";
import { urlSecret as secret, url } from "./event.ts";

export const connect: Connect = () => () => signUrl(url, { secret, context: { order: 17 } });
