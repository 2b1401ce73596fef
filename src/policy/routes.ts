/** What a server limits of the verbs of policies: their scopes, texts of people only, and how many are under way. */
import { checkIsPerson } from "../api/authenticate.ts";
import { createConcurrencyQuota } from "../api/guards/quotas.ts";
import { checkHasScopes, type Guard } from "../api/route.ts";
import { canonicalJson } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json.ts";
import { cacheRecent } from "../runtime/expensive-answers.ts";
import type { Runtime } from "../runtime/runtime.ts";

/** They show actions. A text is parsed and run by the server, so it is taken from people only. */
const readsActions: Guard = (asked, input, serve) => {
  checkHasScopes(asked, ["policies:read", "actions:read"]);
  if ((input as { readonly text?: string }).text !== undefined) checkIsPerson(asked.who);
  return serve();
};

/** Reading a text and evaluating every rule block the event loop, so concurrent requests are limited. */
const withinQuota = createConcurrencyQuota({ each: 2, all: 4 });
const limited: Guard = (asked, input, serve) =>
  readsActions(asked, input, () => withinQuota(`${asked.who.tenant} ${asked.who.principal}`, serve));

type Search = { readonly answer: unknown; readonly position: number };
const SUGGESTED_MS = 60_000;
const LOOK_AGAIN_SECONDS = 5;
const suggested = cacheRecent<Search>(SUGGESTED_MS);
const searching = new WeakSet<Runtime>();

/** One search at a time per instance: each reads the whole journal. */
async function search(runtime: Runtime, serve: () => Promise<unknown>): Promise<Search> {
  if (searching.has(runtime))
    throw new HoldpointError("rate_limited", "Suggestions are being looked for already.", {
      details: { retry_after: LOOK_AGAIN_SECONDS },
    });
  searching.add(runtime);
  try {
    const position = await runtime.store.position();
    return { answer: await serve(), position };
  } finally {
    searching.delete(runtime);
  }
}

/** One percent more journal may change the result. */
const MOVED_SHARE = 100;
const isFresh = async ({ store }: Runtime, { position }: Search): Promise<boolean> =>
  ((await store.position()) - position) * MOVED_SHARE <= position;

const searched: Guard = (asked, input, serve) =>
  readsActions(asked, input, async () => {
    const { runtime } = asked;
    const making = {
      make: () => search(runtime, serve),
      isStill: (found: Search) => isFresh(runtime, found),
    };
    return (await suggested(runtime, canonicalJson(input as JsonObject), making)).answer;
  });

export const policyGuards = {
  check: limited,
  explain: limited,
  beginTrial: readsActions,
  trial: readsActions,
  suggest: searched,
};
