import { type SigningKey, signingKeyFromPkcs8 } from "../../journal/jws.ts";
import { sha256 } from "../../kernel/canonical-json.ts";

/** Made from a public text: it protects nothing and is the same in every run. */
const KEY_DER = Buffer.concat([
  Buffer.from("302e020100300506032b657004220420", "hex"),
  Buffer.from(sha256("the simulator's signing key"), "hex"),
]);
const KEY_PEM = `-----BEGIN PRIVATE ${"KEY"}-----\n${KEY_DER.toString("base64")}\n-----END PRIVATE ${"KEY"}-----`;
export const SIGNING_KEY: SigningKey = signingKeyFromPkcs8(KEY_PEM);
