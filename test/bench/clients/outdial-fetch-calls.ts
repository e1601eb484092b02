import { calls } from "outdial/fetch";
import { apiKey, type Connect, params } from "./client.ts";

export const connect: Connect = (baseUrl, signal) => async () =>
  (await calls.create(params, { apiKey, baseUrl, signal })).id;
