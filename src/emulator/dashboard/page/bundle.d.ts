/** A script or a style sheet with all its imports, minified, as text: made by `tsup.config.ts`. */
declare module "*?bundle" {
  const text: string;
  export default text;
}
