import { randomBytes } from "node:crypto";
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import type { AddressInfo } from "node:net";
import { answerOf, type Credentials } from "./registrar.ts";
import { type Faults, type Packet, Rtp } from "./rtp.ts";
import { intervalOf, SessionTimer, type SessionTimers, sessionHeaders } from "./session-timer.ts";
import {
  type Codec,
  codecs,
  type Direction,
  header,
  parseSdp,
  parseSip,
  type SipHeader,
  type SipMessage,
  writeSdp,
  writeSip,
} from "./sip.ts";

/** Who ended a call: the caller while it rang, the caller afterwards, this telephone, or its session timer. */
export type EndedBy = "cancel" | "caller" | "telephone" | "timer";

/** How a telephone answers. */
export interface Answering {
  readonly codec?: Codec;
  readonly faults?: Faults;
  /** Without them the telephone ignores session timers, and knows no UPDATE. */
  readonly timers?: SessionTimers;
}

const statusOf = ({ first }: SipMessage): number => Number(first.split(" ")[1]);

const tag = () => randomBytes(6).toString("hex");

/** A call on this telephone. Times are those of `performance.now()`. */
export class TelephoneCall {
  /** The number that was called, and the one that calls. */
  readonly to: string;
  readonly from: string;
  readonly invitedAt: number = performance.now();
  answeredAt = Number.NaN;
  endedAt = Number.NaN;
  /** Resolves once the call is over. */
  readonly ended: Promise<EndedBy>;
  /** The methods by which the session was refreshed, by either side. */
  readonly refreshes: string[] = [];
  #invite: SipMessage;
  readonly #remote: RemoteInfo;
  readonly #telephone: Telephone;
  readonly #tag = tag();
  readonly #responses = new Map<string, (message: SipMessage) => void>();
  #end: (by: EndedBy) => void = () => {};
  #isOver = false;
  #isGone = false;
  #onInvitedAgain: () => void = () => {};
  #timers: SessionTimers | undefined;
  #timer: SessionTimer | undefined;
  #rtp: Rtp | undefined;
  #codec: Codec = "PCMU";
  #last = "";
  #sequence = 1;
  #version = 1;

  constructor(telephone: Telephone, invite: SipMessage, remote: RemoteInfo) {
    this.#telephone = telephone;
    this.#invite = invite;
    this.#remote = remote;
    this.to = /sip:([^@;>]+)/.exec(invite.first)?.[1] ?? "";
    this.from = /sip:([^@;>]+)/.exec(header(invite, "from"))?.[1] ?? "";
    this.ended = new Promise((resolve) => {
      this.#end = (by) => {
        if (this.#isOver) return;
        this.#isOver = true;
        this.endedAt = performance.now();
        this.#rtp?.stop();
        this.#timer?.stop();
        resolve(by);
      };
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** What was heard, packet by packet. */
  get packets(): readonly Packet[] {
    return this.#rtp?.packets ?? [];
  }

  /** What was said, packet by packet. */
  get said(): readonly Packet[] {
    return this.#rtp?.said ?? [];
  }

  /** The keys that the caller has pressed. */
  get keys(): string {
    return this.#rtp?.keys ?? "";
  }

  /** How long a session lasts without a refresh, as the caller proposes, in seconds. */
  get sessionInterval(): number | undefined {
    return intervalOf(this.#invite);
  }

  /** Whether the caller insists on an extension of SIP. */
  requires(extension: string): boolean {
    return header(this.#invite, "require").split(/[, ]+/).includes(extension);
  }

  /** Says that it has got the call. */
  try(): void {
    this.#respond(100, "Trying");
  }

  /** Says that it rings. */
  ring(): void {
    this.#respond(180, "Ringing");
  }

  /** Sends sound before the answer, as a network does. */
  async playEarly(answering: Answering = {}): Promise<void> {
    this.#respond(183, "Session Progress", await this.#open(answering));
    this.#start();
  }

  async answer(answering: Answering = {}): Promise<void> {
    const body = await this.#open(answering);
    this.#timers = answering.timers;
    this.answeredAt = performance.now();
    this.#respond(200, "OK", body, sessionHeaders(this.#invite, this.#timers));
    this.#start();
    const interval = intervalOf(this.#invite);
    if (!this.#timers || interval === undefined) return;
    this.#timer = new SessionTimer(interval, this.#timers, {
      refresh: (method, headers) => this.#refresh(method, headers),
      onExpired: () => this.#hangUpBy("timer"),
    });
  }

  /** Finds the session's interval too short, and waits until the caller has invited it again. */
  async demandInterval(seconds: number): Promise<void> {
    const again = new Promise<void>((resolve) => {
      this.#onInvitedAgain = resolve;
    });
    this.#respond(422, "Session Interval Too Small", "", [["Min-SE", String(seconds)]]);
    await again;
  }

  /** Doesn't answer, by a status such as 486. */
  refuse(status: number, text = "Refused", headers: readonly SipHeader[] = []): void {
    this.#respond(status, text, "", headers);
    this.#end("telephone");
  }

  speak(samples: Int16Array): Promise<number> {
    return this.#audio().speak(samples);
  }

  press(keys: string): Promise<number> {
    return this.#audio().press(keys);
  }

  hush(): void {
    this.#audio().hush();
  }

  /** Sends no audio at all from now on, or sends again. */
  mute(isMuted = true): void {
    this.#audio().sends = !isMuted;
  }

  /** Calls a function with each packet that is heard. */
  onPacket(listener: (packet: Packet) => void): void {
    this.#audio().onPacket = listener;
  }

  /** Changes the direction of the audio, as a telephone does that holds a call. */
  async hold(direction: Direction): Promise<number> {
    const { port } = this.#audio();
    this.#version++;
    const body = writeSdp(this.#telephone.address, port, this.#codec, direction, this.#version);
    return this.#reinvite(body);
  }

  hangUp(): void {
    this.#hangUpBy("telephone");
  }

  /** Ends without a word, and answers nothing any more, as a telephone that lost its network. */
  vanish(): void {
    this.#isGone = true;
    this.#end("telephone");
  }

  /** Takes a message of the caller's. */
  receive(message: SipMessage): void {
    if (this.#isGone) return;
    const [method = ""] = message.first.split(" ");
    if (method === "SIP/2.0") {
      this.#responses.get(header(message, "cseq"))?.(message);
    } else if (method === "INVITE") {
      // A repeated one; one within the call keeps what was agreed.
      const isSame = header(message, "cseq") === header(this.#invite, "cseq");
      if (isSame) this.#telephone.send(this.#last, this.#remote);
      else if (this.#isOver) this.#respondTo(message, 481, "Call Does Not Exist");
      else if (header(message, "to").includes("tag=")) this.#answerRefresh(message, "INVITE");
      else {
        this.#invite = message;
        this.#onInvitedAgain();
      }
    } else if (method === "UPDATE") {
      if (this.#timers) this.#answerRefresh(message, "UPDATE");
      else this.#respondTo(message, 405, "Method Not Allowed");
    } else if (method === "CANCEL") {
      this.#respondTo(message, 200, "OK");
      this.#respond(487, "Request Terminated");
      this.#end("cancel");
    } else if (method === "BYE") {
      this.#respondTo(message, 200, "OK");
      this.#end("caller");
    } else if (method !== "ACK") this.#respondTo(message, 200, "OK");
  }

  #hangUpBy(by: EndedBy): void {
    if (this.#isOver) return;
    this.#request("BYE").catch(() => {});
    this.#end(by);
  }

  #answerRefresh(message: SipMessage, method: "INVITE" | "UPDATE"): void {
    this.refreshes.push(method);
    this.#timer?.restart();
    const body = message.body && this.#description();
    this.#respondTo(message, 200, "OK", body, sessionHeaders(message, this.#timers));
  }

  async #refresh(method: "INVITE" | "UPDATE", headers: readonly SipHeader[]): Promise<boolean> {
    const status =
      method === "INVITE"
        ? await this.#reinvite(this.#description(), headers)
        : statusOf(await this.#request("UPDATE", "", headers));
    this.refreshes.push(method);
    return status === 200;
  }

  async #reinvite(body: string, headers: readonly SipHeader[] = []): Promise<number> {
    const response = await this.#request("INVITE", body, headers);
    this.#send("ACK", Number.parseInt(header(response, "cseq"), 10));
    return statusOf(response);
  }

  #audio(): Rtp {
    if (!this.#rtp) throw new Error("The telephone has not answered");
    return this.#rtp;
  }

  async #open({ codec = "PCMU", faults }: Answering): Promise<string> {
    this.#codec = codec;
    this.#rtp ??= await Rtp.open(this.#telephone.address, codec, faults);
    return this.#description();
  }

  #description(): string {
    const { port } = this.#audio();
    return writeSdp(this.#telephone.address, port, this.#codec, "sendrecv", this.#version);
  }

  #start(): void {
    const offer = parseSdp(this.#invite.body);
    if (!offer?.types.includes(codecs[this.#codec]))
      throw new Error("The caller has no such codec");
    this.#audio().start(offer);
  }

  #respond(status: number, text: string, body = "", headers: readonly SipHeader[] = []): void {
    this.#last = this.#respondTo(this.#invite, status, text, body, headers);
  }

  #respondTo(
    message: SipMessage,
    status: number,
    text: string,
    body = "",
    headers: readonly SipHeader[] = [],
  ): string {
    const { via = [], "record-route": routes = [] } = message.headers;
    const to = header(message, "to");
    const ownContact: SipHeader = ["Contact", this.#telephone.contact];
    const response = writeSip(
      `SIP/2.0 ${status} ${text}`,
      [
        ...via.map((value): SipHeader => ["Via", value]),
        ...routes.map((value): SipHeader => ["Record-Route", value]),
        ["From", header(message, "from")],
        ["To", to.includes("tag=") ? to : `${to};tag=${this.#tag}`],
        ["Call-ID", header(message, "call-id")],
        ["CSeq", header(message, "cseq")],
        ...(headers.some(([name]) => name === "Contact") ? [] : [ownContact]),
        ...headers,
      ],
      body,
    );
    this.#telephone.send(response, this.#remote);
    return response;
  }

  #send(method: string, sequence: number, body = "", headers: readonly SipHeader[] = []): void {
    const invite = this.#invite;
    const [, target = ""] = /<([^>]+)>/.exec(header(invite, "contact")) ?? [];
    const { address, port } = this.#telephone;
    const text = writeSip(
      `${method} ${target} SIP/2.0`,
      [
        ["Via", `SIP/2.0/UDP ${address}:${port};branch=z9hG4bK${tag()}`],
        ["Max-Forwards", "70"],
        ["From", `${header(invite, "to")};tag=${this.#tag}`],
        ["To", header(invite, "from")],
        ["Call-ID", header(invite, "call-id")],
        ["CSeq", `${sequence} ${method}`],
        ["Contact", this.#telephone.contact],
        ...headers,
      ],
      body,
    );
    this.#telephone.send(text, this.#remote);
  }

  /** Sends a request, and resolves with its final response. */
  #request(method: string, body = "", headers: readonly SipHeader[] = []): Promise<SipMessage> {
    const sequence = ++this.#sequence;
    return new Promise((resolve) => {
      this.#responses.set(`${sequence} ${method}`, (message) => {
        if (!/^SIP\/2.0 1/.test(message.first)) resolve(message);
      });
      this.#send(method, sequence, body, headers);
    });
  }
}

/** A SIP telephone (UDP), with as many calls at once as come. */
export class Telephone {
  readonly address: string;
  readonly port: number;
  readonly #socket: Socket;
  readonly #calls = new Map<string, TelephoneCall>();
  readonly #waiting: ((call: TelephoneCall) => void)[] = [];
  readonly #untaken: TelephoneCall[] = [];
  #isClosed = false;
  #behave: ((call: TelephoneCall) => unknown) | undefined;
  /** Who may register, where it is a trunk. */
  credentials: Credentials | undefined;

  private constructor(socket: Socket) {
    const { address, port } = socket.address() as AddressInfo;
    this.#socket = socket;
    this.address = address;
    this.port = port;
    socket.on("message", (bytes, remote) => this.#receive(bytes.toString(), remote));
  }

  static async open(address = "127.0.0.1"): Promise<Telephone> {
    const socket = createSocket("udp4");
    await new Promise<void>((resolve) => socket.bind(0, address, resolve));
    return new Telephone(socket);
  }

  /** What other telephones reach it by. */
  get contact(): string {
    return `<sip:telephone@${this.address}:${this.port}>`;
  }

  /** All calls, the oldest first. */
  get calls(): readonly TelephoneCall[] {
    return [...this.#calls.values()];
  }

  /** Lets a function handle every call from now on. */
  behave(behave: (call: TelephoneCall) => unknown): void {
    this.#behave = behave;
  }

  /** The next call that no function handles. */
  next(): Promise<TelephoneCall> {
    const untaken = this.#untaken.shift();
    return untaken
      ? Promise.resolve(untaken)
      : new Promise((resolve) => this.#waiting.push(resolve));
  }

  send(text: string, { address, port }: Pick<RemoteInfo, "address" | "port">): void {
    this.#socket.send(text, port, address);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const call of this.calls) call.vanish();
    this.#socket.close();
  }

  #receive(text: string, remote: RemoteInfo): void {
    const message = parseSip(text);
    if (!message) return;
    const id = header(message, "call-id");
    const known = this.#calls.get(id);
    known?.receive(message);
    const answer = answerOf(message, this.credentials);
    if (!known && answer !== undefined) this.send(answer, remote);
    if (known || !message.first.startsWith("INVITE ")) return;
    const call = new TelephoneCall(this, message, remote);
    this.#calls.set(id, call);
    if (this.#behave) {
      this.#behave(call);
      return;
    }
    const waiting = this.#waiting.shift();
    if (waiting) waiting(call);
    else this.#untaken.push(call);
  }
}
