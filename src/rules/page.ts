/** Whether this is a web page, whose keys every visitor can read. */
export const isPage = (): boolean => "window" in globalThis && "document" in globalThis;
