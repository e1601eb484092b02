import { createApp } from "./app.ts";

const env = Deno.env.toObject();
const { HOST = "127.0.0.1", PORT = "3000" } = env;
Deno.serve({ hostname: HOST, port: Number(PORT) }, createApp(env));
