import asyncapi from "../../../docs/asyncapi.json" with { type: "json" };
import openapi from "../../../docs/openapi.json" with { type: "json" };

/** The interface as files that programs read, by their paths: OpenAPI and AsyncAPI. */
export const documents: Readonly<Record<string, object>> = {
  "/openapi.json": openapi,
  "/asyncapi.json": asyncapi,
};
