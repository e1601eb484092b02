/** A file as it is, as text: read by `tsup.config.ts` when the package is built. */
declare module "*?text" {
  const text: string;
  export default text;
}

/** A script or a style sheet with all its imports, minified, as text: made by `tsup.config.ts`. */
declare module "*?bundle" {
  const text: string;
  export default text;
}
