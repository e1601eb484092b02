import type { CallRecord } from "../../../server/history.ts";
import type { PlacedCall } from "../placing.ts";
import type { Voices } from "../updates.ts";
import { box, setText } from "./elements.ts";

/** What answers the page's script. */
const program: string | undefined = document.documentElement.dataset.program;

let isConnected = false;
let focusedBefore: Element | null = null;

const controls = (): NodeListOf<HTMLButtonElement | HTMLInputElement> =>
  document.querySelectorAll<HTMLButtonElement | HTMLInputElement>(".acts");

const updateControls = (): void => {
  for (const control of controls()) control.disabled = !isConnected;
};

/** Whether the server responds: without it, every control that needs it is disabled. */
export const connected = (): boolean => isConnected;

export const connect = (): void => {
  if (isConnected) return;
  isConnected = true;
  setText(box("live"), "live");
  box("lost").hidden = true;
  updateControls();
  const isFocusLost = document.activeElement === document.body;
  if (isFocusLost && focusedBefore instanceof HTMLElement) focusedBefore.focus();
};

/** @param reason - shown until the connection is back */
export const disconnect = (reason: string): void => {
  if (isConnected) focusedBefore = document.activeElement;
  isConnected = false;
  setText(box("live"), "not connected");
  setText(box("lost"), reason);
  box("lost").hidden = false;
  updateControls();
};

/** @throws {Error} with the server's reason, or because it does not respond */
export const request = async <T>(path: string, method = "GET", body?: unknown): Promise<T> => {
  const sent = fetch(`/dashboard/${path}`, {
    method,
    body: body === undefined ? null : JSON.stringify(body),
  });
  const { ok, answer } = await sent
    .then(async (response) => ({ ok: response.ok, answer: await response.json() }))
    .catch(() => {
      disconnect(`The ${program} does not respond. This page shows an earlier state.`);
      throw new Error(`The ${program} does not respond.`);
    });
  if (!ok) throw new Error(answer.detail);
  return answer;
};

/** Calls a function with each message of the stream of events. */
export const follow = <T>(onUpdate: (update: T) => void): void => {
  const events = new EventSource("/dashboard/events");
  events.addEventListener("message", ({ data }) => onUpdate(JSON.parse(data)));
  events.addEventListener("error", () =>
    disconnect(
      events.readyState === EventSource.CLOSED
        ? `The ${program} has ended. Open the link of the new run.`
        : `The connection to the ${program} is lost. Trying again …`,
    ),
  );
};

/** The requests of the page to its own emulator. */
export const server = {
  key: (): Promise<{ readonly key: string }> => request("key"),
  regenerateKey: (): Promise<{ readonly key: string }> => request("key", "POST"),
  call: (id: string): Promise<CallRecord> => request(`calls/${id}`),
  voices: (id: string): Promise<Voices> => request(`calls/${id}/voices`),
  place: (params: object): Promise<PlacedCall> => request("calls", "POST", params),
  command: (params: object): Promise<{ readonly command: string }> =>
    request("command", "POST", params),
  act: (id: string, action: "answer" | "reject" | "hangup"): Promise<unknown> =>
    request(`calls/${id}/${action}`, "POST"),
  press: (id: string, digit: string): Promise<unknown> =>
    request(`calls/${id}/press/${encodeURIComponent(digit)}`, "POST"),
  setAttendant: (isPresent: boolean): Promise<unknown> =>
    request(`attendant/${isPresent ? "present" : "absent"}`, "POST"),
} as const;
