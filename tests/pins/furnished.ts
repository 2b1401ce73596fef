/** A server with one of everything in a tenant (`tests/http/world.ts`), in which nothing happens by itself any more. */
import type { TestContext } from "node:test";
import { tickingTime } from "../browser/time.ts";
import { issueApiKey } from "../fixtures/people.ts";
import { bearer, by, openSite, type Site } from "../http/site.ts";
import type { World } from "../http/world.ts";
import type { Names } from "./normalise.ts";

/** When the tenant is furnished. Time goes on by a millisecond at each reading, so nothing falls due by waiting. */
export const NOW = Date.UTC(2026, 0, 14, 11, 40, 20);

export type Furnished = {
  readonly site: Site;
  /** The ids of the tenant's things by their names in the world. */
  readonly names: Names;
  /** The headers of a person with every role. */
  readonly root: { readonly authorization: string };
};

type Listing = {
  readonly messages: readonly {
    readonly message_id: string;
    readonly type: string;
    readonly attempts: number;
  }[];
};

function nameIds(world: World): Names {
  const ids = Object.entries(world).filter(([, value]) => /_[0-9A-Z]{26}$/.test(value));
  return Object.fromEntries(ids.map(([name, value]) => [value, `<${name}>`]));
}

/** The message about the alert, once every message was tried: it is the last thing that is announced. */
async function lastMessage({ bench }: Site, headers: Furnished["root"]): Promise<string> {
  for (;;) {
    const { messages } = (await bench.ask("/api/messages", { headers })).body as unknown as Listing;
    const last = messages.find(({ type }) => type === "alert.raised");
    if (last !== undefined && messages.every(({ attempts }) => attempts > 0)) return last.message_id;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
}

export async function furnishedSite(t: Pick<TestContext, "after">): Promise<Furnished> {
  const time = tickingTime();
  time.at(NOW);
  t.after(() => time.restore());
  const opened = await openSite(t);
  const root = bearer((await issueApiKey(opened.own, { principal: by, name: "root", by })).text);
  const world = { ...opened.world, message: await lastMessage(opened, root) };
  return { site: { ...opened, world }, names: nameIds(world), root };
}
