import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { eraseNumber } from "../../../../src/cli/exchange/erase.ts";
import { serveNode } from "../../../../src/cli/serve.ts";
import { Terminal } from "../../../../src/cli/terminal.ts";
import { controlTokenOf, openOperator } from "../../../../src/exchange/operator.ts";
import {
  newSecrets,
  readSecrets,
  settingsFile,
  writeSecrets,
} from "../../../../src/exchange/settings.ts";
import { openStore, type Store } from "../../../../src/exchange/store.ts";
import { fakeService } from "../../exchange/fake-service.ts";

const [number, other] = ["+12025550150", "+12025550151"];

/** The folder of an exchange, whose pages are at a port. */
const newFolder = (port: number): string => {
  const folder = mkdtempSync(join(tmpdir(), "outdial-erase-"));
  const settings = {
    pages: { host: "127.0.0.1", port },
    asterisk: {
      url: "http://127.0.0.1:8088",
      user: "outdial",
      app: "outdial",
      command: ["asterisk"],
    },
    trunk: { host: "sip.example.net", transport: "udp", registers: false },
    numbers: ["+12025550199"],
    allow: ["+1202"],
  };
  writeFileSync(join(folder, settingsFile), JSON.stringify(settings));
  writeSecrets(folder, newSecrets());
  return folder;
};

/** Erases, and gives what is printed, with the exit code at its end. */
const erase = async (folder: string, given: string | undefined): Promise<string> => {
  let printed = "";
  const output = {
    write: (text: string, written: () => void) => {
      printed += text;
      written();
    },
  };
  const terminal = new Terminal({ stdin: undefined, stdout: output, stderr: output, env: {} });
  const exit = await eraseNumber(given, { folder }, { terminal });
  return `${printed}${exit}`;
};

/** Stores a call, which is over or live, with a recording. */
const store = async (folder: string, db: Store, id: string, to_number: string, isLive = false) => {
  const params = {
    from_number: "+12025550199",
    to_number,
    flow_url: "https://app.test/flow",
    status_callback_url: "",
  };
  const url = "https://exchange.test/";
  const facts = { ...params, id, state: "answered", record: true, initiated_at: 1 } as const;
  db.write(() => {
    db.addCall({ id, side: "outdial", params, limits: {}, kept: null, url }, facts);
    db.saveFacts(isLive ? facts : { ...facts, state: "completed", ended_at: 2 });
  });
  const recordings = { folder: join(folder, "recordings"), days: 1, megabytes: 1 };
  const { recorder, close } = await openOperator({ store: db, recordings, log: () => {} });
  recorder.begin(facts);
  recorder.frame(id, "callee", 0, new Int16Array(160));
  await close();
};

it("erases the calls of a number and their recordings while no exchange runs", async () => {
  const folder = newFolder(1);
  const db = await openStore(join(folder, "outdial-exchange.db"));
  await store(folder, db, "first", number);
  await store(folder, db, "second", other);
  db.close();
  expect(await erase(folder, number)).toBe("1 call erased\n0");
  expect(existsSync(join(folder, "recordings/first.wav"))).toBe(false);
  expect(existsSync(join(folder, "recordings/second.wav"))).toBe(true);
  const after = await openStore(join(folder, "outdial-exchange.db"));
  expect([after.call("first"), after.call("second")?.id]).toEqual([undefined, "second"]);
  after.close();
});

it("says that live calls stay", async () => {
  const folder = newFolder(1);
  const db = await openStore(join(folder, "outdial-exchange.db"));
  await store(folder, db, "live", number, true);
  db.close();
  expect(await erase(folder, number)).toBe(
    "0 calls erased; 1 live: repeat the command once they are over\n1",
  );
});

it("has the running exchange erase it", async () => {
  const service = fakeService();
  const server = await serveNode(async (request) => pages.fetch(request), {
    hostname: "127.0.0.1",
    port: 0,
  });
  const folder = newFolder(server.port);
  const db = await openStore(join(folder, "outdial-exchange.db"));
  const recordings = { folder: join(folder, "recordings"), days: 1, megabytes: 1 };
  const operator = await openOperator({ store: db, recordings, log: () => {} });
  const pages = operator.openPages({
    service,
    limits: () => [],
    isHost: () => true,
    controlToken: controlTokenOf(readSecrets(folder).recordingSecret),
    apiUrl: "",
  });
  onTestFinished(async () => {
    await operator.close();
    db.close();
    await server.stop();
  });
  expect(await erase(folder, "+1 202 555 0150")).toBe("1 call erased\n0");
  expect(service.erased).toEqual([number]);
});

it.each([[undefined], ["Ada"]])("erases nobody by %s", async (given) => {
  await expect(erase(newFolder(1), given)).rejects.toThrow("erase needs a number");
});

it("says that a running exchange does not answer", async () => {
  const folder = newFolder(1);
  const db = await openStore(join(folder, "outdial-exchange.db"));
  onTestFinished(() => db.close());
  await expect(erase(folder, number)).rejects.toThrow("the exchange runs");
});
