import { visible } from "../kernel/text.ts";
import { loginAddress } from "../people/rules/credential.ts";
import { type Command, EXIT, flag, word } from "./command.ts";
import { CommandError } from "./failure.ts";
import { personOf } from "./people.ts";
import { spanOf } from "./span-of.ts";
import { moment } from "./times.ts";

export const SERVER = "http://127.0.0.1:8000";

/** At a distance it is the server that is asked. */
export function serverOf(given: string | undefined, place: string): string {
  const text = given ?? (/^https?:\/\//.test(place) ? place : SERVER);
  const isAddress = URL.canParse(text) && /^https?:\/\//.test(text) && !/[?#\s]/.test(text);
  if (isAddress) return text;
  throw new CommandError(
    "usage",
    `--url "${visible(text)}" is not a server's address.`,
    `Such as ${SERVER}.`,
  );
}

export const loginLink: Command = {
  name: "login-link",
  words: ["<person>"],
  summary: "a link by which somebody of the list of people logs in, once",
  details: [
    "The link works once, within ten minutes unless --for says otherwise; the session lasts twelve hours.",
    "Whoever has it is that person: hand it over where nobody else reads it.",
    "At a server only an admin makes one.",
  ],
  flags: {
    url: {
      value: "<address>",
      summary: `the server's address; that of --server, else ${SERVER}, unless set`,
    },
    for: { value: "<span>", summary: "how long it can be used, such as 30m; at most a day" },
  },
  async run(context) {
    const { hp, terminal, json, person: by } = context;
    const person = personOf(word(context));
    const server = serverOf(flag(context, "url"), context.folder);
    const given = flag(context, "for");
    const time = given === undefined ? {} : { forMs: spanOf("for", given) };
    const { id, text, expiresAt } = await hp.people.loginLink(person, { by, ...time });
    const url = loginAddress(server, text);
    if (json) terminal.json({ id, person, url, expiresAt });
    else {
      terminal.note(`${visible(person)} logs in with this, once, until ${moment(expiresAt)}:`);
      terminal.line(url);
    }
    return EXIT.ok;
  },
};
