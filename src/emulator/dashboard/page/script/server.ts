/** Talks to the emulator. */
export const server: string = `
const ask = async (path, method = "GET", body = undefined) => {
  let response;
  try {
    response = await fetch("/dashboard/" + path, { method, body: body && JSON.stringify(body) });
  } catch {
    lose("The emulator does not answer. What is shown here is of before.");
    throw new Error("The emulator does not answer.");
  }
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.detail);
  return answer;
};
`;
