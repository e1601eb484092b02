import {
  box,
  button,
  byId,
  findById,
  formatDuration,
  formatTime,
  make,
  messageOf,
  setText,
} from "../../../emulator/dashboard/page/elements.ts";
import { request } from "../../../emulator/dashboard/page/server.ts";
import type { FailedNotification } from "../../parts.ts";
import type { RecordingFacts } from "../../recorder.ts";
import type { LimitUse, PageState } from "../state.ts";

/** From this share of a limit on it is shown as near. */
const near = 0.8;

const setStatus = (text: string): void => setText(box("key-status"), text);

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

const limitItem = ({ name, used, most }: LimitUse): HTMLElement => {
  const share = most === 0 ? 1 : used / most;
  return make(
    "li",
    { class: share >= near ? "limit near" : "limit" },
    make(
      "span",
      { class: "name" },
      make("span", {}, name),
      make("span", { class: share >= near ? "mono bad" : "mono" }, `${used} of ${most}`),
    ),
    make("progress", { max: String(most || 1), value: String(used), "aria-label": name }),
  );
};

const ends: Readonly<Record<NonNullable<RecordingFacts["end"]>, string>> = {
  whole: "",
  cut: " · cut by an end of the process",
  failed: " · could not be written further",
};

const recordingItem = ({ id, began_at, bytes, seconds, end }: RecordingFacts): HTMLElement => {
  const path = `/dashboard/recordings/${encodeURIComponent(id)}`;
  const time = new Date(began_at).toLocaleString();
  return make(
    "li",
    { class: "kept" },
    make(
      "span",
      { class: "name" },
      make("a", { href: path, download: `${id}.wav` }, time),
      make("span", { class: "mono" }, formatDuration(seconds * 1_000)),
    ),
    make("span", { class: "soft" }, `${mebibytes(bytes)}${end ? ends[end] : " · live"}`),
  );
};

const failedItem = (failed: FailedNotification): HTMLElement => {
  const { id, event, call_id, state, at, attempts, next_at, status, error, response } = failed;
  const isGivenUp = state === "given_up";
  const answer = status === undefined ? "no answer" : `HTTP ${status}`;
  const times = `${attempts} ${attempts === 1 ? "try" : "tries"}`;
  const next = next_at === undefined ? "" : ` · next at ${formatTime(next_at)}`;
  const again = make("button", { type: "button", class: "acts" }, "Send again");
  const result = make("span", { role: "status", class: "soft" });
  again.addEventListener("click", async () => {
    again.disabled = true;
    try {
      await request(`notifications/${encodeURIComponent(id)}/resend`, "POST");
      setText(result, "It is being sent.");
    } catch (thrown) {
      setText(result, messageOf(thrown));
      again.disabled = false;
    }
  });
  return make(
    "li",
    { "data-id": id },
    make(
      "div",
      { class: "what" },
      make("b", {}, event),
      " · ",
      make("b", { class: isGivenUp ? "bad" : "retrying" }, isGivenUp ? "given up" : "pending"),
      ` · ${times} · ${answer}${next}`,
      make("div", { class: "soft" }, `${formatTime(at)} · `, make("bdi", {}, call_id)),
      error && make("div", { class: "soft" }, make("bdi", {}, error)),
      response
        ? make(
            "details",
            {},
            make("summary", {}, "Answer"),
            make("pre", {}, make("bdi", {}, response)),
          )
        : undefined,
    ),
    result,
    again,
  );
};

/** What was drawn last: what stays the same is left alone, so that a focus or an open answer stays. */
const drawn = new Map<string, string>();

const redraw = <T>(id: string, all: readonly T[], itemOf: (each: T) => HTMLElement): void => {
  const now = JSON.stringify(all);
  if (drawn.get(id) === now) return;
  drawn.set(id, now);
  findById(id, HTMLElement)?.replaceChildren(...all.map(itemOf));
};

/** Shows limits, recordings and notifications. */
export const showState = ({ isReady, notifications, limits, recordings }: PageState): void => {
  box("away").hidden = isReady;
  redraw("limits", limits, limitItem);
  redraw("failed", notifications, failedItem);
  setText(box("failed-count"), notifications.length > 0 ? String(notifications.length) : "");
  box("none-failed").hidden = notifications.length > 0;
  if (!recordings) return;
  setText(box("recordings-bytes"), `${mebibytes(recordings.bytes)} in all; the latest:`);
  redraw("recordings", recordings.latest, recordingItem);
};

/** Connects the controls of the section "API key", and the one that signs out. */
export const startControls = (): void => {
  const dialog = byId("confirm", HTMLDialogElement);
  button("regenerate").addEventListener("click", () => {
    dialog.returnValue = "no";
    dialog.showModal();
  });
  dialog.addEventListener("close", async () => {
    button("regenerate").focus();
    if (dialog.returnValue !== "yes") return;
    try {
      const { key } = await request<{ readonly key: string }>("key", "POST");
      setText(box("key"), key);
      box("key").hidden = false;
      button("copy").hidden = false;
      setStatus("Copy it now: it is not shown again. The old key is refused from now on.");
    } catch (error) {
      setStatus(`That did not work: ${messageOf(error)}`);
    }
  });
  button("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(box("key").textContent ?? "");
      setStatus("Copied.");
    } catch (error) {
      setStatus(`That did not work: ${messageOf(error)}`);
    }
  });
  button("sign-out").addEventListener("click", async () => {
    await request("sign-out", "POST").catch(() => {});
    location.assign("/");
  });
};
