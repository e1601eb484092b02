// By name: so the bundler leaves the rest of the file out.
export { version } from "../../package.json";
