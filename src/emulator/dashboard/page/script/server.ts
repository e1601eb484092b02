/** Talks to the emulator. */
export const server: string = `
const ask = async (path, method = "GET") => {
  const response = await fetch("/dashboard/" + path, { method });
  const body = await response.json();
  if (!response.ok) throw new Error(body.detail);
  return body;
};
`;
