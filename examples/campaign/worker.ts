// Cloudflare Workers: `npx wrangler deploy`. See README.md.
import { end, get } from "outdial/calls";
import { CampaignShard, type ShardContext } from "outdial/campaigns/workers";
import { calls } from "outdial/fetch";
import { createApp } from "./app.ts";
import { readConfig } from "./config.ts";
import type { Objects } from "./directory.ts";

export { Directory } from "./directory.ts";
export { Talk } from "./talk.ts";

interface Env {
  readonly SHARDS: Objects;
  readonly DIRECTORY: Objects;
  readonly TALKS: Objects;
  readonly [name: string]: unknown;
}

/** A part of a campaign's contacts: it dials them by its own alarm. */
export class Shard extends CampaignShard {
  constructor(ctx: ShardContext, env: Env) {
    const { apiKey, baseUrl, secret } = readConfig(env);
    super(ctx, {
      secret,
      service: baseUrl,
      create: (params, options) => calls.create(params, { ...options, apiKey, baseUrl }),
      get: (id) => get(id, { apiKey, baseUrl }),
      end: (id) => end(id, { apiKey, baseUrl }),
    });
  }
}

export default {
  fetch: (request: Request, env: Env): Promise<Response> =>
    createApp(readConfig(env), env)(request),
};
