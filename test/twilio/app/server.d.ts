import type { Server } from "node:http";

export function voiceApplication(options: {
  readonly accountSid: string;
  readonly authToken: string;
  readonly baseUrl: string;
  readonly from: string;
  readonly agent: string;
}): {
  readonly server: Server;
  readonly calls: ReadonlyMap<string, readonly string[]>;
  readonly log: readonly string[];
};
