/**
 * A form as the clients of Twilio and Telnyx spell it. The request for a call has one of its own, as sharing this one
 * costs a bundle some bytes.
 */
export const formOf = (fields: Readonly<Record<string, string>>): string =>
  `${new URLSearchParams(fields)}`.replaceAll("*", "%2A").replaceAll("%7E", "~");
