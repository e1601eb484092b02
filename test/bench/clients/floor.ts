import { floor } from "../floor.ts";
import { apiKey, type Connect, params } from "./client.ts";

export const connect: Connect = (baseUrl, signal) => async () =>
  (await floor(params, { apiKey, baseUrl, signal })).id;
