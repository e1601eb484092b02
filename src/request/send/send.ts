/**
 * What stands between a POST and `fetch`: through ky, or nothing. It gets no key, header or body: those
 * are in the function that sends, so that nothing of its own that is thrown or logged can contain them.
 */
export type Send = (url: string, fetch: () => Promise<Response>) => Promise<Response>;
