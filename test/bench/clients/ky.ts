import ky from "ky";
import { floor } from "../floor.ts";
import { apiKey, type Connect, params } from "./client.ts";

/** The floor, through ky as outdial uses it: how much of our figure is ky's. */
export const connect: Connect = (baseUrl) => async () => {
  const send = (url: string, init: RequestInit) =>
    ky.post(url, {
      retry: 0,
      timeout: false,
      throwHttpErrors: false,
      fetch: () => fetch(url, init),
    });
  return (await floor(params, { apiKey, baseUrl, send })).id;
};
