import { expect, it } from "vitest";
import { page } from "../../../src/emulator/dashboard/page/page.ts";

it("the dashboard shows what it is told as text, never as HTML", () => {
  const accountId = `<b>&"'`;
  const facts = { accountId, speed: 1, answerWithin: 30_000, hasAttendant: true };
  const html = page("nonce", { ...facts, origin: `http://x/${accountId}` });
  expect(html).not.toContain(accountId);
  expect(html.split("&lt;b&gt;&amp;&quot;&#39;")).toHaveLength(3);
});
