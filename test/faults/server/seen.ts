/** What the server saw of one call. */
export interface Seen {
  /** POSTs of which the head arrived. */
  posts: number;
  /** POSTs that arrived whole, and that no refusal follows: each may be a ringing telephone. */
  dialled: number;
  /** The protocols by which they came. */
  readonly protocols: string[];
  /** Whether the key was anywhere but in its header. */
  strayKey: boolean;
  /** Requests to the host that a redirect names. */
  elsewhere: number;
  /** Heads of answers that the client says it has. */
  heads: number;
  /** Whether the server has done all that it does before it stalls or ends the connection. */
  acted: boolean;
  /** Connections, or streams of HTTP/2, that the client still holds long after its end. */
  open: number;
}

export const nothingSeen = (): Seen => ({
  posts: 0,
  dialled: 0,
  protocols: [],
  strayKey: false,
  elsewhere: 0,
  heads: 0,
  acted: false,
  open: 0,
});
