import { execFileSync } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A key and its certificate, in PEM. */
export interface Identity {
  readonly key: string;
  readonly cert: string;
}

/** What the certificates of one run are: made by its start, worthless after it. */
export interface Certificates {
  readonly folder: string;
  /** The file of the authority that the runtimes are made to trust. */
  readonly authority: string;
  /** The hash of the good certificate's key, by which Chromium can be made to trust it. */
  readonly spki: string;
}

const here = "DNS:localhost,IP:127.0.0.1";

/** Name, issuer, whether it names this machine, and days of each certificate that is not an authority's own. */
const wanted = [
  ["good", "authority", true, 2],
  ["expired", "authority", true, -1],
  ["misnamed", "authority", false, 2],
  ["unknown", "stranger", true, 2],
] as const;

/**
 * Makes an authority, another one that nobody knows, and their certificates. Needs `openssl`.
 *
 * @param machine - the names of this machine in them
 */
export const makeCertificates = (machine = here): Certificates => {
  const folder = mkdtempSync(join(tmpdir(), "outdial-faults-"));
  const openssl = (...args: readonly string[]) =>
    execFileSync("openssl", args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  for (const name of ["authority", "stranger"]) {
    openssl(
      ...["req", "-x509", ...newKey, "-days", "2", "-subj", `/CN=outdial test ${name}`],
      ...["-keyout", `${name}.key`, "-out", `${name}.pem`],
    );
  }
  for (const [name, issuer, isNamed, days] of wanted) {
    const names = isNamed ? machine : "DNS:elsewhere.test";
    writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${names}`);
    openssl("req", ...newKey, "-subj", `/CN=${name}`, "-keyout", `${name}.key`, "-out", "csr");
    openssl(
      ...["x509", "-req", "-in", "csr", "-days", String(days), "-extfile", `${name}.ext`],
      ...["-CA", `${issuer}.pem`, "-CAkey", `${issuer}.key`, "-CAcreateserial"],
      ...["-out", `${name}.pem`],
    );
  }
  const good = new X509Certificate(readFileSync(join(folder, "good.pem")));
  const spki = createHash("sha256")
    .update(good.publicKey.export({ type: "spki", format: "der" }))
    .digest("base64");
  return { folder, authority: join(folder, "authority.pem"), spki };
};

/** One of the identities in the folder. */
export const identityIn = (folder: string, name: string): Identity => ({
  key: readFileSync(join(folder, `${name}.key`), "utf8"),
  cert: readFileSync(join(folder, `${name}.pem`), "utf8"),
});
