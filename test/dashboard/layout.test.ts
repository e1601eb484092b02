import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { row, theatre } from "./visit.ts";

// What rings goes on ringing while a busy machine looks at it.
const show = theatre("--ring", "600");

const viewports = { narrow: { width: 360, height: 740 }, wide: { width: 1280, height: 740 } };

/** Where each heading and each row of a call is, in pixels from the top of the page. */
const positions = (page: Page): Promise<Readonly<Record<string, number>>> =>
  page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll("section h2, #calls > li, #place button")].map((element) => [
        element.textContent,
        element.getBoundingClientRect().top + window.scrollY,
      ]),
    ),
  );

describe.each(Object.entries(viewports))("%s", (name, viewport) => {
  it("an empty page starts with placing a call, in view without scrolling", async () => {
    const page = await show.signIn({ viewport });
    const headings = page.getByRole("main").getByRole("heading");
    expect((await headings.allTextContents())[0]).toBe("Place a call");
    const box = await page.getByRole("button", { name: "Call", exact: true }).boundingBox();
    expect(box && box.y + box.height).toBeLessThan(viewport.height / 2);
  });

  it(`the key and the telephones are folded only where there is little room`, async () => {
    const page = await show.signIn({ viewport });
    const isFolded = name === "narrow";
    for (const control of [
      page.getByRole("button", { name: "Reveal" }),
      page.getByRole("switch"),
    ]) {
      expect(await control.isVisible()).toBe(!isFolded);
    }
    if (!isFolded) return;
    await page.getByRole("heading", { name: "API key" }).press("Enter");
    await page.getByRole("heading", { name: "API key" }).click();
    await page.getByRole("button", { name: "Reveal" }).click();
    await page.getByText(show.stage.key).waitFor();
  });

  it("nothing moves when telephones ring, and when they stop", async () => {
    const page = await show.signIn({ viewport });
    await show.stage.place({ to_number: "+12025550101" });
    await row(page, "failed · busy").waitFor();
    const { "Calls 1": count, ...before } = await positions(page);
    expect(count).toBeGreaterThan(0);
    await show.stage.place({ to_number: "+12025550102" });
    const answer = page.getByRole("button", { name: "Answer" });
    await answer.waitFor();
    expect(await answer.evaluate((button) => button.getBoundingClientRect().bottom)).toBeLessThan(
      viewport.height,
    );
    // The list itself has one row more, above the other: all else is where it was.
    const after = await positions(page);
    const head = Object.entries(before).filter(([text]) => !text.includes("+12025550101"));
    for (const [text, top] of head) expect(after[text], text).toBe(top);
    expect(after["Calls 2"]).toBe(count);
    await page.getByRole("button", { name: "Reject" }).click();
    await row(page, "failed · rejected").waitFor();
    const ended = await positions(page);
    for (const [text, top] of head) expect(ended[text], text).toBe(top);
  });

  it("the ring of a focused row is whole: it lies within what is painted", async () => {
    const page = await show.signIn({ viewport });
    await show.stage.place({ to_number: "+12025550101" });
    await row(page, "failed · busy").press("Tab");
    await page.keyboard.press("Shift+Tab");
    const ring = await row(page, "failed · busy").evaluate((head) => {
      const { outlineOffset, outlineWidth, outlineStyle } = getComputedStyle(head);
      return {
        outside: Number.parseFloat(outlineOffset) + Number.parseFloat(outlineWidth),
        outlineStyle,
      };
    });
    expect(ring).toEqual({ outside: 0, outlineStyle: "solid" });
  });
});
