import type { Command } from "./command.ts";

export const login: Command = {
  name: "login",
  words: [],
  summary: "use a server from this machine: by an API key, or by a link that works once",
  details: [
    "Asks for the key or the link without showing it, checks it, and keeps it for this user alone. In a pipe it reads one line of standard input.",
    "From then on commands are for that server wherever there is no store here and nothing else says where it is.",
  ],
  flags: {},
  storeless: true,
  placeless: true,
  run: async (context) => (await import("./remote/log-in.ts")).runLogIn(context),
};
