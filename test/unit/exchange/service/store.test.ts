import { readFileSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { openStore } from "../../../../src/exchange/store.ts";
import { from, newPath, openStage, to, until } from "./stage.ts";

it("one process serves a store, and its file is for this user alone", async () => {
  const path = newPath();
  const store = await openStore(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await expect(openStore(path)).rejects.toThrow("store: another process serves it");
  store.close();
  (await openStore(path)).close();
});

it("a store of a newer version is refused", async () => {
  const path = newPath();
  const database = new DatabaseSync(path);
  database.exec("pragma user_version = 1000");
  database.close();
  await expect(openStore(path)).rejects.toThrow("a newer version of outdial has written it");
});

it("the same key places one call, with another body none, and the next day it is forgotten", async () => {
  const { place, ask, asterisk, store } = await openStage(newPath());
  const id = await place("a-key");
  expect(await place("a-key")).toBe(id);
  const other = await ask("a-key", "+12025550151");
  expect([other.status, (await other.json()).code]).toEqual([409, "idempotency_conflict"]);
  await until(() => asterisk.called.length > 0);
  expect(asterisk.called).toEqual([id]);
  store.database.exec("update keys set until = until - 24 * 3600000");
  expect(await place("a-key")).not.toBe(id);
});

it("a known key is answered whatever the limits are, and a refusal keeps none", async () => {
  let isFull = false;
  const admit = () =>
    isFull
      ? ({ status: 429, reason: "calls_at_once", detail: "Too many calls." } as const)
      : undefined;
  const { place, ask, events } = await openStage(newPath(), { admit });
  const id = await place("a-key");
  isFull = true;
  expect(await place("a-key")).toBe(id);
  const refused = await ask("another");
  expect([refused.status, (await refused.json()).detail]).toEqual([429, "Too many calls."]);
  expect(events).toContainEqual({
    ...{ type: "refused", side: "outdial", status: 429, rule: "calls_at_once" },
  });
  isFull = false;
  expect(await place("another")).not.toBe(id);
});

it("while another program holds the store a request is refused as not placed, and calls nobody", async () => {
  const path = newPath();
  const { ask, asterisk, service } = await openStage(path);
  const other = new DatabaseSync(path);
  other.exec("begin immediate");
  const refused = await ask("a-key");
  expect([refused.status, refused.headers.has("Retry-After")]).toEqual([429, true]);
  other.exec("rollback");
  other.close();
  expect(asterisk.called).toEqual([]);
  expect(service.live).toEqual([]);
  expect((await ask("a-key")).status).toBe(202);
});

it("what happens to a call while the store can't be written is written as soon as it can be", async () => {
  const path = newPath();
  const { place, asterisk, told, store } = await openStage(path);
  const id = await place();
  await until(() => asterisk.called.includes(id) && told.length === 1);
  const other = new DatabaseSync(path);
  other.exec("begin immediate");
  asterisk.emit(id, { type: "ended", cause: 17, status: 486 });
  other.exec("rollback");
  other.close();
  await until(() => told.length === 2);
  expect(store.ended(1)).toMatchObject([{ facts: { state: "failed", reason: "busy" } }]);
});

it("the store has no key, and no number of a call that was erased", async () => {
  const path = newPath();
  const { place, asterisk, told, service, store } = await openStage(path);
  const key = service.regenerateKey();
  store.keyKeeper.replace("the key");
  const id = await place("a-key");
  await until(() => asterisk.called.includes(id));
  asterisk.emit(id, { type: "ended", cause: 17, status: 486 });
  await until(() => told.length === 2);
  expect(service.history(1)).toMatchObject([{ id, to_number: to, from_number: from }]);
  await until(() => store.undelivered.length === 0);
  expect(service.erase(to)).toBe(1);
  expect(service.history(1)).toEqual([]);
  // Its key is still known.
  expect(await place("a-key")).toBe(id);
  store.database.exec("pragma wal_checkpoint(truncate)");
  const file = readFileSync(path, "latin1") + readFileSync(`${path}-wal`, "latin1");
  for (const text of [key, "the key", "a-key", to.slice(1)])
    expect(file.includes(text)).toBe(false);
});
