import { Ajv2020 } from "ajv/dist/2020.js";
import fc, { type Arbitrary } from "fast-check";
import { asyncapi, openapi } from "./documents.ts";
import type { JsonSchema, Schemas } from "./schemas.ts";

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema({ $id: "openapi.json", ...openapi() });
ajv.addSchema({ $id: "asyncapi.json", ...asyncapi() });

/** The errors of a value by a schema of a file, such as `openapi.json#/components/schemas/Play`; none if it is valid. */
export const errorsOf = (ref: string, value: unknown): string => {
  const validate = ajv.getSchema(ref) ?? ajv.compile({ $ref: ref });
  return validate(value) ? "" : ajv.errorsText(validate.errors);
};

/** Whether a value is valid by a schema that may refer to those of openapi.json. */
export const isValid = (schema: JsonSchema, value: unknown): boolean => {
  const found = compiled.get(schema) ?? ajv.compile(absolute(schema));
  compiled.set(schema, found);
  return found(value) === true;
};

const compiled = new Map<JsonSchema, ReturnType<typeof ajv.compile>>();

const absolute = (schema: JsonSchema): object =>
  JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"openapi.json#/'));

/** The objects of a schema that differ in which fields are required: each without those that only others require. */
const variantsOf = ({ oneOf = [], properties = {}, required = [], ...schema }: JsonSchema) => {
  const own = oneOf.map((one): readonly string[] => [...(Object(one).required ?? [])]);
  return own.map((names) => ({
    ...schema,
    properties: Object.fromEntries(
      Object.entries(properties).filter(
        ([name]) => names.includes(name) || !own.flat().includes(name),
      ),
    ),
    required: [...required, ...names],
  }));
};

/** Any value that a schema allows. It knows what the two files use of JSON Schema, and throws at anything else. */
export const valuesOf = (schema: JsonSchema, schemas: Schemas): Arbitrary<unknown> => {
  const {
    $ref,
    type,
    oneOf = [],
    anyOf = type === "object" ? undefined : schema.oneOf,
    properties = {},
    required = [],
    additionalProperties,
  } = schema;
  const of = (one: unknown): Arbitrary<unknown> => valuesOf(Object(one), schemas);
  if ($ref) return of(schemas[$ref.split("/").at(-1) ?? ""]);
  if (anyOf) return fc.oneof(...anyOf.map(of));
  if ("const" in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  switch (type) {
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "integer": {
      const { minimum = -1000, maximum = 100_000, multipleOf: step = 1 } = schema;
      return fc
        .integer({ min: Math.ceil(minimum / step), max: Math.floor(maximum / step) })
        .map((steps) => steps * step);
    }
    case "number":
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case "string": {
      const { pattern, minLength = 0, maxLength = 2 ** 20, format, not } = schema;
      if (format === "date-time") {
        return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
      }
      const texts = pattern
        ? fc.stringMatching(new RegExp(pattern, "u"))
        : fc.string({ minLength });
      return texts.filter((text) => text.length <= maxLength && (!not || isValid(schema, text)));
    }
    case "array":
      return fc.array(of(schema.items), { minLength: schema.minItems ?? 0, maxLength: 5 });
    case "object": {
      if (oneOf.length > 0) return fc.oneof(...variantsOf(schema).map(of));
      const fields: Record<string, Arbitrary<unknown>> = Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [name, of(one)]),
      );
      const known = fc.record(fields, { requiredKeys: [...required] });
      if (additionalProperties === false) return known;
      const others = fc.dictionary(
        fc.string().map((name) => `x_${name}`),
        fc.jsonValue(),
        { maxKeys: 2 },
      );
      return fc.tuple(others, known).map(([more, own]) => ({ ...more, ...own }));
    }
  }
  throw new TypeError(`valuesOf does not know ${JSON.stringify(schema)}`);
};

const pieces = [
  ...["http://", "https://", "ws://", "wss://", "HTTPS://", "Http://", "sip:", "SIP:", "//", "/"],
  ...["localhost", "LOCALHOST", "127.0.0.1", "127.1", "127.0.0.256", "[::1]", "[::", "app.example"],
  ...["+", "1", "0", "2025550100", "8k", ".", "..", ":", "80", "99999", "?", "#", "@", "user", "-"],
  ...["ä", "%41", "%", " ", "\t", "\n", "\\", "<", '"', "\u{1f600}", "AAAA", "=", "=="],
];

/** Texts that look like telephone numbers, URLs and base64. */
const textsLikeThese: Arbitrary<string> = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { maxLength: 7 }).map((some) => some.join("")),
  fc
    .tuple(
      fc.constantFrom(...pieces.slice(0, 4)),
      fc.constantFrom(...pieces),
      fc.constantFrom(...pieces),
    )
    .map((some) => some.join("")),
);

/** Values that a schema allows, and values that nearly are. */
export const valuesNear = (schema: JsonSchema, schemas: Schemas): Arbitrary<unknown> => {
  const allowed = valuesOf(schema, schemas);
  const other = fc.oneof(textsLikeThese, fc.integer(), fc.double(), fc.jsonValue());
  const inserted = fc
    .tuple(allowed, fc.nat(), fc.constantFrom(...pieces))
    .map(([value, at, piece]) => {
      if (typeof value !== "string") return value;
      const place = at % (value.length + 1);
      return value.slice(0, place) + piece + value.slice(place);
    });
  const changed = fc
    .tuple(allowed, fc.nat(), fc.constantFrom("drop", "add", "replace"), other)
    .map(([value, at, change, replacement]) => {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
      const names = Object.keys(value);
      const name = names[at % Math.max(1, names.length)] ?? "x";
      const copy: Record<string, unknown> = { ...value };
      if (change === "drop") delete copy[name];
      else copy[change === "add" ? "unknown" : name] = replacement;
      return copy;
    });
  return fc.oneof(allowed, inserted, changed, other).map((value) => {
    // As it comes over the wire.
    const text = JSON.stringify(value);
    return text === undefined ? null : JSON.parse(text);
  });
};
