/** The flags that the next command needs to find the same store. */
import { type Context, flag } from "./command.ts";

export const quoted = (text: string): string =>
  /^[\w.,:@%+/=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** Nothing where the environment or the folder says it. An address may hold a password, and is not repeated. */
export function whereFlags(context: Pick<Context, "values">): string {
  const tenant = flag(context, "tenant");
  return `${storeFlags(context)}${tenant === undefined ? "" : ` --tenant ${quoted(tenant)}`}`;
}

function storeFlags(context: Pick<Context, "values">): string {
  const server = flag(context, "server");
  if (server !== undefined) return ` --server ${quoted(server)}`;
  const folder = flag(context, "data");
  if (folder !== undefined) return ` --data ${quoted(folder)}`;
  return flag(context, "database") === undefined ? "" : " --database …";
}
