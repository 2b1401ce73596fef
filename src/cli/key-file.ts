/** `holdpoint key-file`: the key that signs, made before anything runs, so that all nodes can be given the same. */
import { resolve } from "node:path";
import { visible } from "../kernel/text.ts";
import { type Command, EXIT, word } from "./command.ts";
import { CommandError } from "./failure.ts";

export const keyFileCommand: Command = {
  name: "key-file",
  words: ["<path>"],
  summary: "make the key file that signs, for all nodes of a fleet to share",
  details: [
    "One key seals a store for good, so every node needs the same file: HOLDPOINT_KEY_FILE says where it is. Keep it as you would a password, and apart from the journal.",
    "A file that is there is never replaced.",
  ],
  flags: {},
  storeless: true,
  placeless: true,
  async run({ terminal, json, words }) {
    const [{ makeKeyFile }, { pooledRandom }] = await Promise.all([
      import("../runtime/keyring.ts"),
      import("../runtime/keyring.ts"),
    ]);
    const path = resolve(word({ words }));
    const made = makeKeyFile(path, pooledRandom());
    if (!made.isNew)
      throw new CommandError(
        "file_error",
        `There is a file ${visible(path)} already, and it was left as it is.`,
        "Name another place, or use the one that is there: HOLDPOINT_KEY_FILE.",
      );
    if (json) terminal.json({ file: path, publicKey: made.publicJwk });
    else {
      terminal.line(`Made ${visible(path)}, readable for you alone.`);
      terminal.line("Give all nodes this file (HOLDPOINT_KEY_FILE), and keep a copy apart from the journal.");
    }
    return EXIT.ok;
  },
};
