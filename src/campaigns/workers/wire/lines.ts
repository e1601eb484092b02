/** Values as lines of JSON, made as they are taken. */
export const toLines = (values: Iterable<unknown>, page: number): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  const rest = values[Symbol.iterator]();
  return new ReadableStream({
    pull: (controller) => {
      let text = "";
      for (let count = 0; count < page; count++) {
        const { done, value } = rest.next();
        if (done) {
          if (text) controller.enqueue(encoder.encode(text));
          return controller.close();
        }
        text += `${JSON.stringify(value)}\n`;
      }
      controller.enqueue(encoder.encode(text));
    },
  });
};

/** The values in an answer of lines of JSON, read as they are taken. */
export async function* linesIn<T>({ body }: Response): AsyncGenerator<T, void> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let kept = ""; reader; ) {
      const { done, value = "" } = await reader.read();
      if (done) return;
      const lines = (kept + value).split("\n");
      kept = lines.pop() ?? "";
      for (const line of lines) yield JSON.parse(line);
    }
  } finally {
    await reader?.cancel();
  }
}
