import { createRequire } from "node:module";
import type { AxiosResponse, AxiosStatic } from "axios";

/** The copy of axios that the peers `require`: its defaults are theirs. */
const axios: AxiosStatic = createRequire(import.meta.url)("axios");

/** Answers in the place of axios' adapter, so less is left than behind a stubbed `fetch`: a lower bound. */
export const stub = (answer: string): void => {
  axios.defaults.adapter = async (config): Promise<AxiosResponse> => ({
    data: answer,
    status: 202,
    statusText: "Accepted",
    headers: { "content-type": "application/json" },
    config,
  });
};
