/** What somebody else's code has thrown, in words: it may be anything, and throw when it is looked at. */
export const wordsOf = (thrown: unknown): string => {
  try {
    return String(Object(thrown).message ?? thrown);
  } catch {
    return "something that can't be put in words";
  }
};

/** The same of its innermost cause, which knows best. */
export const rootOf = (thrown: unknown): string => {
  try {
    let { message = String(thrown), cause } = Object(thrown);
    for (let depth = 0; cause && depth < 5; depth++) {
      ({ message = message, cause } = Object(cause));
    }
    return String(message);
  } catch {
    return wordsOf(thrown);
  }
};
