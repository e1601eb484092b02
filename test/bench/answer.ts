/** What the server answers, and the stubs: an id under every name that a client looks for. */
const id = "cs_01HZX3V5J8Q2T4W6Y8A0C2E4G6";

export const answer: string = JSON.stringify({
  message: "Call accepted.",
  data: { id, call_control_id: id, from_number: "+12025550199", to_number: "+12025550100" },
  id,
  call_id: id,
  sid: id,
  uuid: id,
  message_uuid: id,
});

/** The answer in the place of the network, with the headers that any server sends. */
export const stubbed = async (): Promise<Response> =>
  new Response(answer, {
    status: 202,
    headers: { "content-type": "application/json", "content-length": `${answer.length}` },
  });
