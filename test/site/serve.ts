import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".json": "application/json",
};

/**
 * Serves a built site on this machine, as GitHub's Pages does, and returns the URL of its first page.
 *
 * @param base - the path below which the site is: `/`, or `/name/`
 * @param port - 0 for any free one
 */
export const serveSite = async (folder: string, base: string, port = 0): Promise<string> => {
  const server = createServer(({ url = "" }, response) => {
    const { pathname } = new URL(url, "http://site");
    const name = pathname.startsWith(base) ? decodeURIComponent(pathname.slice(base.length)) : "-";
    const file = join(folder, name.endsWith("/") || name === "" ? `${name}index.html` : name);
    if (!existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, {
      "Content-Type": types[extname(file)] ?? "text/plain; charset=utf-8",
    });
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  server.unref();
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}${base}`;
};
