import type { Command } from "./command.ts";

export const logout: Command = {
  name: "logout",
  words: [],
  summary: "forget the login to a server, and end its session there",
  details: ["A key goes on working elsewhere: `holdpoint keys revoke` ends it."],
  flags: {},
  storeless: true,
  placeless: true,
  run: async (context) => (await import("./remote/log-out.ts")).logOut(context),
};
