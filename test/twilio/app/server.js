// A voice application as many are: Express, Twilio's builder and client, and Media Streams over ws. It was not written
// for the emulator. Only the base URL of the client may be another.
import { createServer } from "node:http";
import express from "express";
import twilio from "twilio";
import { WebSocketServer } from "ws";

const { VoiceResponse } = twilio.twiml;

export const voiceApplication = ({ accountSid, authToken, baseUrl, from, agent }) => {
  const client = twilio(accountSid, authToken);
  if (baseUrl) client.api.baseUrl = baseUrl;

  const app = express();
  const calls = new Map();
  const log = [];
  app.use(express.urlencoded({ extended: true }));

  const send = (response, twiml) => response.type("text/xml").send(twiml.toString());
  const signed = twilio.webhook(authToken);

  app.post("/call", async (request, response) => {
    const origin = `${request.protocol}://${request.get("host")}`;
    const call = await client.calls.create({
      to: request.body.to,
      from,
      url: `${origin}/voice`,
      statusCallback: `${origin}/status`,
      statusCallbackEvent: ["initiated", "ringing", "answered", "completed"],
      record: true,
      recordingStatusCallback: `${origin}/recording`,
    });
    response.status(201).json({ sid: call.sid });
  });

  app.post("/status", signed, (request, response) => {
    const { CallSid, CallStatus } = request.body;
    calls.set(CallSid, [...(calls.get(CallSid) ?? []), CallStatus]);
    response.sendStatus(204);
  });

  app.post("/recording", signed, (request, response) => {
    log.push(`recording ${request.body.RecordingStatus} ${request.body.RecordingDuration}`);
    response.sendStatus(200);
  });

  app.post("/voice", signed, (_request, response) => {
    const twiml = new VoiceResponse();
    const gather = twiml.gather({ numDigits: 1, action: "/menu", timeout: 3 });
    gather.say({ voice: "alice" }, "For sales, press 1. To hear yourself, press 2.");
    twiml.redirect("/voice");
    send(response, twiml);
  });

  app.post("/menu", signed, (request, response) => {
    const twiml = new VoiceResponse();
    log.push(`pressed ${request.body.Digits}`);
    switch (request.body.Digits) {
      case "1":
        twiml.say("Connecting you to an agent");
        twiml.dial({ action: "/dialled", timeout: 10 }).number(agent);
        break;
      case "2": {
        const stream = twiml.connect().stream({ url: `ws://${request.get("host")}/media` });
        stream.parameter({ name: "language", value: "en" });
        twiml.say("That was you");
        break;
      }
      default:
        twiml.redirect("/voice");
    }
    send(response, twiml);
  });

  app.post("/dialled", signed, (request, response) => {
    const twiml = new VoiceResponse();
    log.push(`dialled ${request.body.DialCallStatus}`);
    if (request.body.DialCallStatus === "completed") twiml.hangup();
    else {
      twiml.say("Nobody is there. Press 2 instead.");
      twiml.redirect("/voice");
    }
    send(response, twiml);
  });

  const server = createServer(app);
  new WebSocketServer({ server, path: "/media" }).on("connection", (socket) => {
    let streamSid;
    let sent = 0;
    socket.on("message", (data) => {
      const message = JSON.parse(data);
      switch (message.event) {
        case "start":
          streamSid = message.start.streamSid;
          log.push(`stream in ${message.start.customParameters.language}`);
          break;
        case "media":
          if (sent === 25) break;
          socket.send(
            JSON.stringify({
              event: "media",
              streamSid,
              media: { payload: message.media.payload },
            }),
          );
          if (++sent === 25)
            socket.send(JSON.stringify({ event: "mark", streamSid, mark: { name: "echo" } }));
          break;
        case "mark":
          log.push(`mark ${message.mark.name}`);
          socket.close();
          break;
      }
    });
  });
  return { server, calls, log };
};
