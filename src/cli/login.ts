/** Commands for logging in: `login`, `logout`, `whoami` and `login-link`. */

import { visible } from "../kernel/text.ts";
import { loginAddress } from "../people/rules/credential.ts";
import { type Command, CommandError, EXIT, flag, word } from "./shell/command.ts";
import { parseSpan } from "./shell/parse.ts";
import { sectionsOn } from "./shell/sections.ts";
import { formatMoment } from "./shell/terminal.ts";

/** `ann` and `person:ann` are the same person. */
export function readPerson(given: string): string {
  if (given === "")
    throw new CommandError(
      "usage",
      "Whom? A person's name is needed.",
      "Such as: holdpoint people add ann --role admin",
    );
  return given.startsWith("person:") ? given : `person:${given}`;
}

export const login: Command = {
  name: "login",
  words: [],
  summary: "Log in to a server with an API key or a login link",
  details: [
    "Asks for the key or the link without showing it, checks it, and keeps it for this user alone. In a pipe it reads one line of standard input.",
    "From then on commands are for that server wherever there is no store here and nothing else says where it is.",
  ],
  examples: ["holdpoint login --server https://holdpoint.example.com"],
  flags: {},
  storeless: true,
  placeless: true,
  run: async (context) => (await import("./remote/server.ts")).runLogIn(context),
};

export const logout: Command = {
  name: "logout",
  words: [],
  summary: "End the session at a server and forget its login",
  details: ["A key goes on working elsewhere: `holdpoint keys revoke` ends it."],
  flags: {},
  storeless: true,
  placeless: true,
  run: async (context) => (await import("./remote/server.ts")).logOut(context),
};

export const whoami: Command = {
  name: "whoami",
  words: [],
  summary: "Show who you are at a server, and your permissions",
  flags: {},
  storeless: true,
  placeless: true,
  async run({ terminal, json, values }) {
    const { clientFor, whoAmIAt: knownAt, serverForLogin: serverAsked } = await import("./remote/server.ts");
    const server = serverAsked(values);
    const { csrf_token: _own, ...who } = await knownAt(clientFor(server));
    if (json) {
      terminal.json({ server, ...who });
      return EXIT.ok;
    }
    const sections = sectionsOn(terminal, true);
    sections.field("server", visible(server));
    sections.field("you", visible(who.principal ?? "none: this server does not authenticate callers"));
    sections.field("tenant", visible(who.tenant));
    sections.field("roles", who.roles.join(", ") || "none");
    sections.field("scopes", who.scopes.join(", ") || "none");
    sections.field("by", who.via.replace("_", " "));
    return EXIT.ok;
  },
};

export const SERVER_FLAG = "http://127.0.0.1:8000";

/** For a remote store, the default is its server. */
export function linkServer(given: string | undefined, place: string): string {
  const text = given ?? (/^https?:\/\//.test(place) ? place : SERVER_FLAG);
  const isAddress = URL.canParse(text) && /^https?:\/\//.test(text) && !/[?#\s]/.test(text);
  if (isAddress) return text;
  throw new CommandError(
    "usage",
    `--url "${visible(text)}" is not a server's address.`,
    `Such as ${SERVER_FLAG}.`,
  );
}

export const loginLink: Command = {
  name: "login-link",
  words: ["<person>"],
  summary: "Create a login link for a person; it works once",
  details: [
    "The link works once, within ten minutes unless --for says otherwise; the session lasts twelve hours.",
    "Anyone who has it is that person: send it over a private channel.",
    "At a server only an admin makes one.",
  ],
  examples: ["holdpoint login-link ann"],
  flags: {
    url: {
      value: "<address>",
      summary: `the server's address; that of --server, else ${SERVER_FLAG}, unless set`,
    },
    for: { value: "<span>", summary: "how long it can be used, such as 30m; at most a day" },
  },
  async run(context) {
    const { hp, terminal, json, person: by } = context;
    const person = readPerson(word(context));
    const server = linkServer(flag(context, "url"), context.folder);
    const given = flag(context, "for");
    const time = given === undefined ? {} : { forMs: parseSpan("for", given) };
    const { id, link, expiresAt } = await hp.people.loginLink(person, { by, ...time });
    const url = loginAddress(server, link);
    if (json) terminal.json({ id, person, url, expiresAt });
    else {
      terminal.note(`${visible(person)} logs in with this, once, until ${formatMoment(expiresAt)}:`);
      terminal.line(url);
    }
    return EXIT.ok;
  },
};
