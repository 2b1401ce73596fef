/** The journal read back: by id, as an export, and verified. */

import { readPublicJwk } from "../journal/jws.ts";
import { checkFields, checkListener, rejectInput } from "../kernel/fields.ts";

export function checkVerification<Given extends object>(options: Given): Given {
  const given: { keys?: unknown; savedSeal?: unknown; progress?: unknown; requireSealed?: unknown } =
    checkFields("A verification", options, ["keys", "savedSeal", "requireSealed", "progress"]);
  const { keys, savedSeal, progress, requireSealed } = given;
  if (requireSealed !== undefined && typeof requireSealed !== "boolean")
    rejectInput("requireSealed is true or false.");
  const isKey = (key: unknown) => readPublicJwk(key) !== undefined;
  if (keys !== undefined && !(Array.isArray(keys) && keys.every(isKey)))
    rejectInput("Keys are a list of public Ed25519 keys as JWK.");
  const saved = savedSeal as { jws?: unknown; key?: unknown } | null | undefined;
  if (saved !== undefined && !(typeof saved?.jws === "string" && isKey(saved.key)))
    rejectInput("A saved seal is { jws, key }, as journal.savedSeal() answered it.");
  checkListener(progress);
  return options;
}
