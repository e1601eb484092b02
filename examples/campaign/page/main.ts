import type { Sample } from "outdial/campaigns/workers";
import { showProgress, showStopped, showUploaded } from "./campaign-view.ts";
import { DayChart, midnight } from "./day-chart.ts";
import { box, button, by, input, make, setText } from "./elements.ts";
import { clearFieldErrors, showAtFields } from "./field-errors.ts";
import { showFigures } from "./figures-view.ts";
import { planIn, preparePlan } from "./plan-form.ts";
import { Plot } from "./plot.ts";
import { Refusal, server, type View } from "./server.ts";

/** Milliseconds between updates. */
const interval = 1_000;

/** How many unknown contacts are listed; the download has all of them. */
const most = 200;

/** With more points than this, the plot uses the stored samples instead. */
const mostSamples = 900;

/** Milliseconds between updates of the figures, for which the Worker reads the whole list. */
const figuresInterval = (contacts: number): number => (contacts > 10_000 ? 60_000 : 3_000);

const plot = new Plot();
const day = new DayChart();
let figuresAt = 0;
let samples: readonly Sample[] = [];
let open: View | undefined;
/** Counts the campaigns that were opened, so that responses for a previous one are dropped. */
let turn = 0;

/**
 * Runs `work` and shows why it was refused.
 *
 * @param showError - shows it elsewhere than at the top of the page, if it returns true
 */
const trying = async (
  work: () => Promise<void>,
  showError: (refusal: Refusal) => boolean = () => false,
): Promise<void> => {
  try {
    await work();
    setText("announce", "");
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    setText("announce", showError(error) ? "" : error.message);
  }
};

const look = async (mine: number): Promise<void> => {
  if (!open) return;
  const view = open;
  // The stored samples first, then those of this page, which are closer together.
  const known = samples.length > 0 && samples.length < mostSamples;
  const before = known ? samples : await server.history(view.id);
  const progress = await server.progress(view.id);
  if (mine !== turn) return;
  samples = [...before, { ...progress, at: Date.now() }];
  showProgress(view, progress);
  plot.show(samples);
  if (Date.now() - figuresAt < figuresInterval(progress.contacts)) return;
  figuresAt = Date.now();
  const figures = await server.figures(view.id, midnight());
  if (mine !== turn) return;
  showFigures(figures);
  day.show(figures);
};

const follow = async (mine: number): Promise<void> => {
  while (mine === turn) {
    await new Promise((resolve) => setTimeout(resolve, interval));
    if (!document.hidden && mine === turn) await trying(() => look(mine));
  }
};

const show = async (view: View): Promise<void> => {
  open = view;
  turn++;
  samples = [];
  figuresAt = 0;
  for (const id of ["answers", "today", "call-backs"]) box(id).hidden = true;
  for (const id of ["stopped", "agreed"]) setText(id, "");
  box("added").replaceChildren();
  box("unknown-list").replaceChildren();
  box("campaign").hidden = false;
  for (const item of box("list").querySelectorAll("button")) {
    item.setAttribute("aria-pressed", String(item.dataset.id === view.id));
  }
  follow(turn);
  await look(turn);
};

const list = async (): Promise<void> => {
  const views = await server.list();
  const items = views.map((view) => {
    const item = make("button", view.name);
    item.dataset.id = view.id;
    item.setAttribute("aria-pressed", String(view.id === open?.id));
    item.addEventListener("click", () => trying(() => show(view)));
    return make("li", item);
  });
  box("list").replaceChildren(...items);
  box("sign-in").hidden = true;
  box("campaigns").hidden = false;
  by("new", HTMLDetailsElement).open ||= views.length === 0;
};

/**
 * Runs `work` instead of sending the form.
 *
 * @param field - the id of the field that a refusal is about which names none
 */
const onSubmit = (form: HTMLFormElement, work: () => Promise<void>, field?: string): void =>
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearFieldErrors();
    const sender = form.querySelector("button");
    if (sender) sender.disabled = true;
    await trying(work, (refusal) => showAtFields(refusal, field));
    if (sender) sender.disabled = false;
  });

const save = (blob: Blob, name: string): void => {
  const link = make("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};

const change = (what: "start" | "pause" | "cancel"): Promise<void> =>
  trying(async () => {
    if (open) showProgress(open, await server.change(open.id, what));
  });

preparePlan();
const signIn = async (): Promise<void> => {
  await list();
  const first = box("list").querySelector("button") ?? box("new").querySelector("summary");
  first?.focus();
};
onSubmit(by("sign-in", HTMLElement).querySelector("form") ?? make("form"), signIn, "token");
onSubmit(by("plan", HTMLFormElement), async () => {
  const { id } = await server.begin(planIn());
  await list();
  const view = (await server.list()).find((each) => each.id === id);
  by("new", HTMLDetailsElement).open = false;
  if (view) await show(view);
  input("file").focus();
});
const callBack = async (): Promise<void> => {
  if (!open) return;
  const at = new Date(input("at").value);
  const isAgreed = await server.callBack(open.id, input("to_number").value.trim(), at);
  const no =
    "No: the number isn't in the list, is blocked, has no ended call, or has been called back often enough.";
  setText("agreed", isAgreed ? "It will be called then, within the calling hours." : no);
  figuresAt = 0;
  await look(turn);
};
onSubmit(by("call-back", HTMLFormElement), callBack, "to_number");
const upload = async (): Promise<void> => {
  const [file] = input("file").files ?? [];
  if (!file || !open) return;
  box("added").replaceChildren(make("p", "Adding\u2026"));
  try {
    showUploaded(await server.add(open.id, file));
  } catch (error) {
    box("added").replaceChildren();
    throw error;
  }
  await look(turn);
};
onSubmit(by("upload", HTMLFormElement), upload, "file");
button("start").addEventListener("click", () => change("start"));
button("pause").addEventListener("click", () => change("pause"));
button("cancel").addEventListener("click", () => by("sure", HTMLDialogElement).showModal());
by("sure", HTMLDialogElement).addEventListener("close", () => {
  const sure = by("sure", HTMLDialogElement);
  if (sure.returnValue === "yes") change("cancel");
  sure.returnValue = "";
});
button("stop").addEventListener("click", () => by("stop-sure", HTMLDialogElement).showModal());
by("stop-sure", HTMLDialogElement).addEventListener("close", () => {
  const sure = by("stop-sure", HTMLDialogElement);
  const { returnValue } = sure;
  sure.returnValue = "";
  if (returnValue !== "yes") return;
  trying(async () => {
    if (!open) return;
    setText("stopped", "Ending\u2026");
    showStopped(await server.stop(open.id));
    figuresAt = 0;
    await look(turn);
  });
});
button("download").addEventListener("click", () =>
  trying(async () => {
    if (open) save(await server.results(open.id), "results.csv");
  }),
);
button("show-unknown").addEventListener("click", () =>
  trying(async () => {
    if (!open) return;
    const rows = (await (await server.results(open.id, "unknown")).text()).trim().split("\r\n");
    const numbers = rows.slice(1, most + 1).map((row) => make("li", row.split(",", 1)[0] ?? ""));
    box("unknown-list").replaceChildren(...numbers);
  }),
);
