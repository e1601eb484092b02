import { expect, it } from "vitest";
import { page } from "../../../src/emulator/dashboard/page/page.ts";

it("the dashboard shows what it is told as text, never as HTML", () => {
  const accountId = `<b>&"'`;
  const html = page("nonce", { accountId, origin: `http://x/${accountId}`, speed: 1 });
  expect(html).not.toContain(accountId);
  expect(html.split("&lt;b&gt;&amp;&quot;&#39;")).toHaveLength(3);
});
