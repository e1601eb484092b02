import { expect, it } from "vitest";
import { FakeAsterisk } from "./asterisk.ts";
import { loggingAsterisk, newPath, openStage, type Stage, to, until } from "./stage.ts";

/** The types and reasons of what an application was told of a call. */
const toldOf = ({ told }: Pick<Stage, "told">, id: string): readonly string[] =>
  told
    .filter(({ call_id }) => call_id === id)
    .map(({ type, data }) => [type, "reason" in data && data.reason].filter(Boolean).join(" "));

/** Places a call, and returns the store as it is when Asterisk is asked for its telephone. */
const killedAtOriginate = async (asterisk: FakeAsterisk) => {
  const stage = await openStage(newPath(), { asterisk });
  let path = "";
  let id = "";
  asterisk.onOriginate = (channel) => {
    id = channel;
    path = stage.killed();
  };
  await stage.ask("a-key");
  await until(() => path !== "");
  return { path, id };
};

it("the call and its key are stored before Asterisk is asked for a telephone", async () => {
  const { path, id } = await killedAtOriginate(new FakeAsterisk());
  const { store } = await openStage(path);
  expect(store.call(id)).toMatchObject({ id, params: { to_number: to } });
  expect(store.notificationsOf(id)).toHaveLength(2);
});

it("killed before Asterisk has got the request: not placed, a late request rings nothing, and the key places the call anew", async () => {
  const { path, id } = await killedAtOriginate(new FakeAsterisk());
  const { asterisk, log } = loggingAsterisk();
  const again = await openStage(path, { asterisk, channelLog: log });
  const late = await asterisk.request("POST", "/channels", { channelId: id, endpoint: "PJSIP/x" });
  expect(late.status).toBe(409);
  await until(() => toldOf(again, id).includes("call.failed lost"));
  expect(toldOf(again, id)).toEqual(["call.initiated", "call.failed lost"]);
  const other = await again.place("a-key");
  expect(other).not.toBe(id);
  await until(() => asterisk.called.length > 0);
  expect(asterisk.called).toEqual([other]);
});

it("killed while the telephone rings: it stops, and the key answers with the same call, which calls nobody", async () => {
  const { path, id } = await killedAtOriginate(new FakeAsterisk());
  const { asterisk, log } = loggingAsterisk();
  asterisk.begin(id, "PJSIP/trunk-1");
  const again = await openStage(path, { asterisk, channelLog: log });
  expect(asterisk.hungUp).toEqual([id]);
  expect(await again.place("a-key")).toBe(id);
  await until(() => toldOf(again, id).includes("call.failed lost"));
  expect(asterisk.called).toEqual([]);
});

it("killed while the telephone rang, which has ended since: found in Asterisk's log, and not called again", async () => {
  const { path, id } = await killedAtOriginate(new FakeAsterisk());
  const { asterisk, log } = loggingAsterisk();
  asterisk.begin(id, "PJSIP/trunk-1");
  asterisk.channels.clear();
  const again = await openStage(path, { asterisk, channelLog: log });
  expect(await again.place("a-key")).toBe(id);
  expect(asterisk.called).toEqual([]);
});

it("where Asterisk's log says nothing the call stays in doubt: its key answers with it, and it is lost", async () => {
  const { path, id } = await killedAtOriginate(new FakeAsterisk());
  const again = await openStage(path);
  expect(await again.place("a-key")).toBe(id);
  await until(() => toldOf(again, id).includes("call.failed lost"));
  expect(again.asterisk.called).toEqual([]);
});

it("killed after the answer: the telephone is hung up, and the call has completed, once", async () => {
  const first = await openStage(newPath());
  const id = await first.place("a-key");
  await until(() => first.asterisk.called.includes(id));
  first.asterisk.emit(id, { type: "ringing" });
  first.asterisk.emit(id, { type: "entered" });
  await until(() => first.told.length === 3);
  const path = first.killed();
  const asterisk = new FakeAsterisk();
  asterisk.begin(id, "PJSIP/trunk-1");
  const again = await openStage(path, { asterisk });
  expect(asterisk.hungUp).toEqual([id]);
  await until(() => again.told.length > 0);
  expect(toldOf(again, id)).toEqual(["call.completed lost"]);
  const third = await openStage(again.killed());
  expect(third.store.undelivered).toEqual([]);
  expect(third.service.history(10)).toMatchObject([{ id, state: "completed", reason: "lost" }]);
});

it("what isn't of this store is never hung up, nor what runs; what is, and nobody runs, is", async () => {
  const first = await openStage(newPath());
  const id = await first.place();
  await until(() => first.asterisk.called.includes(id));
  first.asterisk.emit(id, { type: "entered" });
  const asterisk = new FakeAsterisk();
  const others = ["someone", "cs_00000000000000000000000000", "media_someone"];
  for (const channel of [...others, id, `media_${id}`, `${id}_1`])
    asterisk.begin(channel, "PJSIP/x");
  await openStage(first.killed(), { asterisk });
  expect([...asterisk.channels.keys()]).toEqual(others);
});

it("while Asterisk is away a known key is answered, and any other request is refused and not stored", async () => {
  const { path, id } = await killedAtOriginate(new FakeAsterisk());
  const asterisk = new FakeAsterisk();
  asterisk.isOpen = false;
  const again = await openStage(path, { asterisk });
  expect(await again.place("a-key")).toBe(id);
  const refused = await again.ask("another");
  expect([refused.status, refused.headers.get("Retry-After")]).toEqual([429, "1"]);
  expect(again.store.live.map((call) => call.id)).toEqual([id]);
  expect(again.store.keys.find("another", "")).toBeUndefined();
  asterisk.begin(id, "PJSIP/trunk-1");
  asterisk.isOpen = true;
  asterisk.onState("back");
  await until(() => toldOf(again, id).includes("call.failed lost"));
  expect(asterisk.hungUp).toEqual([id]);
});
