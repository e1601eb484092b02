import { expect, it } from "vitest";
import { dashboardPage } from "../../../src/emulator/dashboard/page/html.ts";

it("the dashboard shows its facts as text, never as HTML", () => {
  const accountId = `<b>&"'`;
  const facts = { accountId, speed: 1, answerTimeout: 30_000, hasAttendant: true, keyName: "" };
  const html = dashboardPage("nonce", { ...facts, origin: `http://x/${accountId}` });
  expect(html).not.toContain(accountId);
  expect(html.split("&lt;b&gt;&amp;&quot;&#39;")).toHaveLength(3);
});
