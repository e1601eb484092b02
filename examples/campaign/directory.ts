import type { ShardNamespace, ShardStorage } from "outdial/campaigns/workers";

/** The namespace of the objects, as a binding gives it. */
export type Objects = ShardNamespace;

/** A campaign of a caller. */
export interface Entry {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  /** The plan as requested, in JSON. */
  readonly plan: string;
  readonly recorded: boolean;
}

/** The campaigns of a caller. */
export interface Campaigns {
  /** The latest first. */
  readonly list: () => Promise<readonly Entry[]>;
  readonly find: (id: string) => Promise<Entry | undefined>;
  /** Counts one more campaign, unless there were too many in 24 hours. */
  readonly spend: (most: number) => Promise<boolean>;
  /** Undoes the last `spend`: that campaign was refused. */
  readonly giveBack: () => Promise<void>;
  readonly add: (entry: Entry) => Promise<void>;
}

const day = 86_400_000;

/** The object with the campaigns of a caller. Only the Worker can reach it. */
export class Directory {
  readonly #sql: ShardStorage["sql"];

  constructor({ storage }: { readonly storage: ShardStorage }) {
    this.#sql = storage.sql;
    this.#sql.exec(
      `create table if not exists campaign
       (id text primary key, name text not null, created integer not null, plan text not null,
        recorded integer not null)`,
    );
    this.#sql.exec("create table if not exists begun (at integer not null)");
  }

  async fetch(request: Request): Promise<Response> {
    const what = new URL(request.url).pathname.slice(1);
    const body = await request.json();
    return Response.json(this.#does[what]?.(body) ?? null);
  }

  #rows(): unknown[] {
    return this.#sql.exec("select * from campaign order by created desc limit 100").toArray();
  }

  // biome-ignore lint/suspicious/noExplicitAny: each takes what its name was asked with
  readonly #does: Readonly<Record<string, (body: any) => unknown>> = {
    list: () => this.#rows(),
    find: (id: string) => this.#sql.exec("select * from campaign where id = ?", id).toArray()[0],
    spend: (most: number) => {
      const now = Date.now();
      this.#sql.exec("delete from begun where at <= ?", now - day);
      const [{ count } = {}] = this.#sql.exec("select count(*) as count from begun").toArray();
      if (Number(count) >= most) return false;
      this.#sql.exec("insert into begun values (?)", now);
      return true;
    },
    giveBack: () => {
      this.#sql.exec("delete from begun where rowid = (select max(rowid) from begun)");
    },
    add: ({ id, name, created, plan, recorded }: Entry) => {
      const values = [id, name, created, plan, Number(recorded)];
      this.#sql.exec("insert into campaign values (?, ?, ?, ?, ?)", ...values);
    },
  };
}

/** The campaigns of one caller. */
export const campaignsOf = (objects: Objects, caller: string): Campaigns => {
  const stub = objects.get(objects.idFromName(caller));
  const ask = async <T>(what: string, body: unknown = null): Promise<T> => {
    const init = { method: "POST", body: JSON.stringify(body) };
    return (await stub.fetch(new Request(`https://object/${what}`, init))).json();
  };
  return {
    list: () => ask("list"),
    find: async (id) => (await ask<Entry | null>("find", id)) ?? undefined,
    spend: (most) => ask("spend", most),
    giveBack: () => ask("giveBack"),
    add: (entry) => ask("add", entry),
  };
};
