import { visible } from "../kernel/text.ts";
import { type Command, EXIT } from "./command.ts";
import { sectionsOn } from "./sections.ts";

export const whoami: Command = {
  name: "whoami",
  words: [],
  summary: "who you are at a server, and what you may do there",
  flags: {},
  storeless: true,
  placeless: true,
  async run({ terminal, json, values }) {
    const { clientFor, knownAt, serverAsked } = await import("./remote/server-place.ts");
    const server = serverAsked(values);
    const { csrf_token: _own, ...who } = await knownAt(clientFor(server));
    if (json) {
      terminal.json({ server, ...who });
      return EXIT.ok;
    }
    const sections = sectionsOn(terminal, true);
    sections.field("server", visible(server));
    sections.field("you", visible(who.principal ?? "nobody: this server authenticates nobody"));
    sections.field("tenant", visible(who.tenant));
    sections.field("roles", who.roles.join(", ") || "none");
    sections.field("scopes", who.scopes.join(", ") || "none");
    sections.field("by", who.via.replace("_", " "));
    return EXIT.ok;
  },
};
