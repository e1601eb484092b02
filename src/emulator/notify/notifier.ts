import type { Call, Message } from "../line/call.ts";
import type { NotificationEntry } from "../line/history.ts";
import { iso } from "../line/iso.ts";
import type { Ask, Outcome, Rules } from "../outgoing.ts";
import type { NewId, Random } from "../random.ts";
import { fateOf, type Mishaps } from "./mishaps.ts";
import { notificationOf } from "./notification.ts";
import type { Sign } from "./signature.ts";

/** What the notifier needs of the rest of the emulator. */
export interface NotifierParts {
  readonly accountId: string;
  readonly ask: Ask;
  readonly random: Random;
  readonly newId: NewId;
  readonly sign: Sign;
  /** What goes wrong on purpose. */
  readonly mishaps?: Mishaps | undefined;
}

const tries = 6;

/** Milliseconds before the second try; each further wait is twice as long. */
const firstWait = 1_000;

/** What a receiver says that it will not change its mind about. */
const final: ReadonlySet<number> = /* @__PURE__ */ new Set([400, 401, 403, 404, 410]);

/** Bytes of an answer that the history keeps. */
const kept = 2_048;

const decoder = /* @__PURE__ */ new TextDecoder();

type Result = Pick<NotificationEntry, "ms" | "status" | "error" | "response">;

/** What the history says of a try, apart from what was sent. */
const resultOf = ({ ms, response, body, error }: Outcome): Result => {
  if (!response) return { ms, error: error ?? "no answer" };
  const { status, ok, type } = response;
  const redirects = (status >= 300 && status < 400) || type === "opaqueredirect";
  return {
    ms,
    status,
    ...(!ok && { error: redirects ? "redirects, which is refused" : `HTTP ${status}` }),
    ...(body && { response: { body: decoder.decode(body.bytes) } }),
  };
};

/** Tells the application what happens: per call in order, at least once, however slow others are. */
export class Notifier {
  readonly #parts: NotifierParts;

  constructor(parts: NotifierParts) {
    this.#parts = parts;
  }

  /** Tells of the state that the call is in, after all that was told before. */
  tell(call: Call): void {
    const { accountId, newId } = this.#parts;
    const now = call.timeline.now();
    const id = `evt_${newId(now)}`;
    const event = notificationOf(id, accountId, call.facts, now);
    call.mail.push({ id, event: event.type, body: JSON.stringify(event) });
    if (call.mail.length > 1) return;
    const { mishaps } = this.#parts;
    call.delivered = mishaps
      ? this.#deliverSomehow(call, mishaps, call.delivered)
      : call.post.run(() => this.#inOrder(call, (message) => this.#deliver(call, message)));
  }

  async #inOrder(call: Call, deliver: (message: Message) => Promise<void>): Promise<void> {
    for (let message = call.mail[0]; message; message = call.mail[0]) {
      await deliver(message);
      call.mail.shift();
    }
  }

  /** Delivers what comes in order, but for what goes wrong; and waits for the stragglers too. */
  async #deliverSomehow(call: Call, mishaps: Mishaps, before: Promise<void>): Promise<void> {
    const stragglers = [before];
    const straggle = (message: Message, after: number) =>
      call.post.run(async () => {
        await call.post.wait(after);
        await this.#deliver(call, message);
      });
    await call.post.run(() =>
      this.#inOrder(call, async (message) => {
        const { isLost, doubledAfter, lateBy } = fateOf(mishaps, this.#parts.random);
        if (isLost) return this.#lose(call, message);
        if (lateBy === undefined) await this.#deliver(call, message);
        else stragglers.push(straggle(message, lateBy));
        if (doubledAfter !== undefined) {
          stragglers.push(straggle(message, (lateBy ?? 0) + doubledAfter));
        }
      }),
    );
    await Promise.all(stragglers);
  }

  #lose(call: Call, { id, event, body }: Message): void {
    call.note({
      type: "notification",
      id,
      event,
      try: 1,
      outcome: "given_up",
      ms: 0,
      error: "lost on its way, as the option `notifications` says",
      request: { url: call.params.status_callback_url, headers: {}, body },
    });
  }

  async #deliver(call: Call, message: Message): Promise<void> {
    const { id, event } = message;
    const { signal } = call.forgotten;
    for (let count = 1; !signal.aborted; count++) {
      const result = await this.#try(call, message);
      if (signal.aborted) return;
      const isFinal = count === tries || final.has(result.status ?? 0);
      const outcome = !result.error ? "delivered" : isFinal ? "given_up" : "retrying";
      const note = { type: "notification", id, event, try: count, outcome, ...result } as const;
      if (outcome !== "retrying") return call.note(note);
      // From half to one and a half of it, so that not all calls hit a receiver at once.
      const wait = firstWait * 2 ** (count - 1) * (0.5 + this.#parts.random());
      call.note({ ...note, next_at: iso(call.post.now() + wait) });
      await call.post.wait(wait);
    }
  }

  async #try(
    call: Call,
    { id, body }: Message,
  ): Promise<Result & Pick<NotificationEntry, "request">> {
    const { ask, sign } = this.#parts;
    const url = call.params.status_callback_url;
    // The receiver's tolerance is in real minutes, so this is the wall's time.
    const timestamp = String(Math.floor(Date.now() / 1000));
    const headers = {
      "Content-Type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": sign(`${id}.${timestamp}.${body}`),
    };
    const { signal } = call.forgotten;
    const rules: Rules = { largest: kept, redirects: "none", local: call.local, signal };
    const outcome = await ask(url, { method: "POST", headers, body }, rules);
    return { ...resultOf(outcome), request: { url, headers, body } };
  }
}
