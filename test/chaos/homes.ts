import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  type Campaign,
  type CampaignOptions,
  type EndedCalls,
  openCampaign,
  type Progress,
  type Result,
  type ServicesOptions,
} from "../../src/campaigns/index.ts";
import {
  type CampaignPlan,
  CampaignShard,
  campaignOf,
  createCampaign,
  type ServicesPlan,
  type ShardedCampaign,
  type ShardNamespace,
  type ShardOptions,
  type ShardServices,
} from "../../src/campaigns/workers/index.ts";
import { namespaceOf, objectOf, type TestObject } from "../unit/campaigns/objects.ts";

/** A campaign that can be killed, wherever it lives. */
export interface Engine {
  readonly isDead: boolean;
  readonly add: (people: readonly { readonly to_number: string }[]) => Promise<unknown>;
  readonly note: Campaign["note"];
  readonly callBack: Campaign["callBack"];
  readonly endCalls: () => Promise<EndedCalls>;
  readonly resume: () => Promise<void>;
  readonly progress: () => Promise<Progress> | Progress;
  readonly results: () => Iterable<Result> | AsyncIterable<Result>;
  /** Does what is due, and returns when to come back; at its death, too. */
  readonly step: () => Promise<number | undefined>;
  /** Ends it as a power cut would. */
  readonly kill: () => Promise<void> | void;
  readonly reopen: () => Promise<Engine>;
  readonly close: () => Promise<void> | void;
}

/** What a campaign does wherever it lives. */
const methodsOf = <Home extends Campaign | ShardedCampaign>({
  add,
  note,
  callBack,
  endCalls,
  resume,
  progress,
  results,
}: Home) => ({ add, note, callBack, endCalls, resume, progress, results });

export type Home = "file" | "objects";

type Functions = ShardOptions | ShardServices;

type Plan = CampaignPlan | ServicesPlan;

type Open = (folder: string, options: Functions, plan: Plan) => Promise<Engine>;

/** The options of a campaign in a file: a plan, and the functions of its services. */
const wholeOf = (options: Functions, plan: Plan): CampaignOptions | ServicesOptions => {
  if (!("services" in options)) return { ...options, ...(plan as CampaignPlan) };
  const { services, ...list } = plan as ServicesPlan;
  const own = services.map((each) => ({
    ...each,
    ...(options.services[each.name] as ShardServices["services"][string]),
  }));
  return { ...list, secret: options.secret, services: own };
};

/** What ends when the engine does. */
const deathOf = () => {
  let die = (): void => {};
  const death = new Promise<undefined>((resolve) => {
    die = () => resolve(undefined);
  });
  const state = { isDead: false };
  return {
    state,
    death,
    die: () => {
      state.isDead = true;
      die();
    },
  };
};

const file: Open = async (folder, options, plan) => {
  const opened: DatabaseSync[] = [];
  /** Its connections end with it, that of the lock too. */
  class Mortal extends DatabaseSync {
    constructor(path: string) {
      super(path);
      opened.push(this);
    }
  }
  const { state, death, die } = deathOf();
  const database = new Mortal(join(folder, "people.outdial"));
  const campaign = await openCampaign(database as never, wholeOf(options, plan));
  const closeAll = (): void => {
    for (const each of opened) if (each.isOpen) each.close();
  };
  return {
    get isDead() {
      return state.isDead;
    },
    ...methodsOf(campaign),
    step: () => {
      const work = campaign.step();
      work.catch(() => {});
      return Promise.race([death, work]);
    },
    kill: () => {
      die();
      closeAll();
    },
    reopen: () => file(folder, options, plan),
    close: async () => {
      if (!state.isDead) await campaign.close();
      closeAll();
    },
  };
};

const shards = 3;

/** The objects outlive their runtime, as what they have stored does. */
const engineOf = (
  objects: Map<string, TestObject>,
  options: Functions,
  find: (namespace: ShardNamespace) => Promise<ShardedCampaign>,
): Promise<Engine> => {
  const { state, death, die } = deathOf();
  const running = new Map<string, CampaignShard>();
  const objectAt = (name: string): TestObject => {
    const known = objects.get(name) ?? objectOf();
    objects.set(name, known);
    return known;
  };
  const alive = <Args extends readonly unknown[], T>(work: (...args: Args) => T) => {
    return (...args: Args): T => {
      if (state.isDead) throw new Error("the runtime is dead");
      return work(...args);
    };
  };
  const shardAt = (name: string): CampaignShard => {
    const object = objectAt(name);
    const { storage } = object;
    const context = {
      blockConcurrencyWhile: object.blockConcurrencyWhile,
      storage: {
        sql: { exec: alive(storage.sql.exec) },
        transactionSync: <T>(work: () => T): T => alive(() => storage.transactionSync(work))(),
        getAlarm: alive(storage.getAlarm),
        setAlarm: alive(storage.setAlarm),
        deleteAlarm: alive(storage.deleteAlarm),
      },
    };
    const shard = running.get(name) ?? new CampaignShard(context, options);
    running.set(name, shard);
    return shard;
  };
  return find(namespaceOf(shardAt, objectAt)).then((campaign) => ({
    get isDead() {
      return state.isDead;
    },
    ...methodsOf(campaign),
    step: async () => {
      const fire = async (name: string, object: TestObject): Promise<void> => {
        if ((object.alarm ?? Number.POSITIVE_INFINITY) > Date.now()) return;
        const shard = shardAt(name);
        await object.ready();
        await object.storage.deleteAlarm();
        await shard.alarm();
      };
      const work = Promise.all([...objects].map(([name, object]) => fire(name, object)));
      work.catch(() => {});
      await Promise.race([death, work]);
      const alarms = [...objects.values()].map(({ alarm }) => alarm ?? Number.POSITIVE_INFINITY);
      return Math.min(...alarms);
    },
    kill: async () => {
      die();
      // An alarm that was killed is delivered again.
      for (const { storage } of objects.values()) await storage.setAlarm(Date.now());
    },
    reopen: () => engineOf(objects, options, async (other) => campaignOf(other, campaign.id)),
    close: die,
  }));
};

const objects: Open = (_, options, plan) =>
  engineOf(new Map(), options, (namespace) => createCampaign(namespace, plan, { shards }));

export const homes: Readonly<Record<Home, Open>> = { file, objects };
