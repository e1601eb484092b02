import { type Disposition, dispositions, LedgerException, ListException } from "outdial/campaigns";
import {
  campaignOf,
  createCampaign,
  type ShardedCampaign,
  type ShardNamespace,
  statusHandler,
} from "outdial/campaigns/workers";
import { BadParametersException } from "outdial/fetch";
import { authenticate } from "../bridge/callers.ts";
import type { Caller, Config } from "./config.ts";
import { uploadOf } from "./contacts.ts";
import { type Campaigns, campaignsOf, type Entry, type Objects } from "./directory.ts";
import { createFlow } from "./flow.ts";
import { page } from "./page/page.ts";
import { PlanError, planOf } from "./plan.ts";
import { json, refuse, text } from "./response.ts";
import { csvOf } from "./results.ts";
import { createMedia } from "./talk.ts";

/** Bytes of a plan, pretty-printed or not. */
const maxBody = 8_192;

/** How many refused rows are in a response. */
const maxLines = 100;

const report = (error: unknown): void => {
  const { name, message = error } = Object(error);
  console.error(name, message);
};

/** The object in a JSON body. */
const bodyOf = async (request: Request): Promise<Readonly<Record<string, unknown>>> => {
  const body = await request.text();
  if (body.length > maxBody) throw new PlanError("The body is too large");
  try {
    return { ...JSON.parse(body || "{}") };
  } catch {
    throw new PlanError("The body is no JSON");
  }
};

/** A request for one campaign. */
interface Found {
  readonly request: Request;
  readonly campaign: ShardedCampaign;
  readonly entry: Entry;
}

const view = ({ id, name, created, plan, recorded }: Entry) => ({
  id,
  name,
  created: new Date(created).toISOString(),
  plan: JSON.parse(plan),
  recorded: Boolean(recorded),
});

const isDisposition = (name: string): name is Disposition => Object.hasOwn(dispositions, name);

/** The requests for one campaign, by method and the last part of the path. */
const actions: Readonly<Record<string, (found: Found) => Promise<Response>>> = {
  "GET ": async ({ campaign, entry }) =>
    json(200, { ...view(entry), shards: campaign.shards, progress: await campaign.progress() }),
  "GET progress": async ({ campaign }) => json(200, await campaign.progress()),
  "GET history": async ({ campaign }) => json(200, await campaign.history()),
  "GET results": async ({ campaign, request }) => {
    const only = new URL(request.url).searchParams.get("only") ?? undefined;
    if (only !== undefined && !isDisposition(only)) return refuse(400, "unknown_disposition");
    const body = csvOf(campaign.results(only), await campaign.answerNames());
    return text(body, "text/csv; charset=utf-8", {
      "Content-Disposition": `attachment; filename="${only ?? "results"}.csv"`,
    });
  },
  "PUT contacts": async ({ campaign, request }) => {
    if (!request.body) return refuse(400, "no_list");
    const { contacts, refused, failure } = uploadOf(
      request.body,
      new URL(request.url).searchParams,
    );
    const { added, duplicate, refused: others } = await campaign.add(contacts);
    const lines = [...refused, ...others].sort((one, other) => one.line - other.line);
    const counts = {
      added,
      duplicate,
      refused: lines.length,
      lines: lines.slice(0, maxLines),
    };
    const error = failure();
    if (error === undefined) return json(200, counts);
    if (!(error instanceof ListException)) throw error;
    return json(400, { error: "bad_list", message: error.message, ...counts });
  },
  "POST start": async ({ campaign }) => {
    await campaign.resume();
    return json(200, await campaign.progress());
  },
  "POST pause": async ({ campaign }) => {
    await campaign.pause();
    return json(200, await campaign.progress());
  },
  "POST cancel": async ({ campaign }) => {
    await campaign.cancel();
    return json(200, await campaign.progress());
  },
  "POST stop": async ({ campaign }) => json(200, await campaign.endCalls()),
  "POST call_back": async ({ campaign, request }) => {
    const { to_number, at } = await bodyOf(request);
    return json(200, { agreed: await campaign.callBack(String(to_number), String(at)) });
  },
  "GET figures": async ({ campaign, request }) => {
    const from = Number(new URL(request.url).searchParams.get("from")) || 0;
    return json(200, await campaign.figures({ from }));
  },
  "POST block": async ({ campaign, request }) => {
    const { to_number } = await bodyOf(request);
    return json(200, { blocked: await campaign.block(String(to_number)) });
  },
  "POST unblock": async ({ campaign, request }) => {
    const { to_number, reason = "" } = await bodyOf(request);
    return json(200, { unblocked: await campaign.unblock(String(to_number), String(reason)) });
  },
};

const aliases: ReadonlyMap<string, string> = new Map([["POST resume", "POST start"]]);

/** 4xx for errors of the caller, 500 for others. */
const refusalOf = (error: unknown): Response => {
  if (error instanceof BadParametersException) {
    const { message, issues } = error;
    return json(400, { error: "bad_parameters", message, issues });
  }
  if (error instanceof PlanError) {
    const { message, issues } = error;
    return json(400, { error: "bad_plan", message, issues });
  }
  if (error instanceof LedgerException) return refuse(409, error.reason);
  report(error);
  return refuse(500, "failed");
};

/** The Durable Objects of the Worker. */
interface AppObjects {
  readonly SHARDS: ShardNamespace;
  readonly DIRECTORY: Objects;
  readonly TALKS: Objects;
}

/** The whole Worker, as a fetch function. */
export const createApp = (config: Config, objects: AppObjects) => {
  const { SHARDS: shards, DIRECTORY: directory, TALKS: talks } = objects;
  const { secret, webhookSecret, callers } = config;
  const media = createMedia(config, talks);
  const flow = createFlow(config, shards);
  const status = statusHandler(shards, {
    secret,
    ...(webhookSecret && { webhookSecret }),
    onError: report,
  });

  const begin = async (request: Request, caller: Caller, campaigns: Campaigns) => {
    const asked = await bodyOf(request);
    const plan = planOf(asked, caller, config);
    if (!(await campaigns.spend(caller.campaigns))) return refuse(429, "too_many_campaigns");
    const count = asked.shards === undefined ? undefined : Number(asked.shards);
    const { id } = await createCampaign(shards, plan, { shards: count }).catch(async (error) => {
      // Nothing was created, so it does not count.
      if (error instanceof BadParametersException) await campaigns.giveBack();
      throw error;
    });
    const name = String(asked.name ?? "").slice(0, 100) || "Campaign";
    await campaigns.add({
      id,
      name,
      created: Date.now(),
      plan: JSON.stringify(asked),
      recorded: config.record,
    });
    return json(
      201,
      { id, name, shards: campaignOf(shards, id).shards },
      {
        Location: `/campaigns/${id}`,
      },
    );
  };

  /** Only the caller who created a campaign can see it. */
  const campaign = async (request: Request, path: string): Promise<Response> => {
    const caller = await authenticate(request, callers);
    if (!caller) return refuse(401, "unauthorized", { "WWW-Authenticate": "Bearer" });
    const campaigns = campaignsOf(directory, caller.name);
    const [id = "", what = ""] = path.split("/");
    if (!id && request.method === "POST") return begin(request, caller, campaigns);
    if (!id && request.method === "GET") return json(200, (await campaigns.list()).map(view));
    if (!id) return refuse(405, "no_such_method", { Allow: "GET, POST" });
    const asked = `${request.method} ${what}`;
    const action = actions[aliases.get(asked) ?? asked];
    const entry = await campaigns.find(id);
    if (!entry || !action) return refuse(404, "unknown_campaign");
    return action({ request, entry, campaign: campaignOf(shards, id) });
  };

  return async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const [, path] = /^\/campaigns\/?([\w-]*(?:\/\w+)?)$/.exec(pathname) ?? [];
    try {
      if (pathname === "/flow") return await flow(request);
      if (pathname === "/media") return await media(request);
      if (pathname.startsWith("/status/")) return await status(request);
      if (path !== undefined) return await campaign(request, path);
      return page(request) ?? refuse(404, "no_such_page");
    } catch (error) {
      return refusalOf(error);
    }
  };
};
