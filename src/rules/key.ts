/** Printable ASCII without space at its ends: what every runtime sends just as it is. */
const headerValue = /^[!-~]([ -~]*[!-~])?$/;

/** Whether fetch takes a key as a header: a value that it refuses is echoed in its error. */
export const isKey = (key: unknown): key is string =>
  typeof key === "string" && headerValue.test(key);
