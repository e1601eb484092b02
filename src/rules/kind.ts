/** Whether a value can be called. */
export const isFunction = (value: unknown): boolean => typeof value === "function";

/** Whether a value is a text. */
export const isText = (value: unknown): value is string => typeof value === "string";
