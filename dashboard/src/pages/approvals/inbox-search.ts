/** What the inbox shows, as it stands in the address: so that it can be linked to, and gone back to. */
import type { Asked, Summary } from "../../api/approvals.ts";

export const TABS = ["mine", "waiting", "decided"] as const;
export type TabName = (typeof TABS)[number];
export const ORDERS = ["newest", "deadline"] as const;
export type Search = {
  readonly tab: TabName;
  readonly q: string;
  readonly about: Summary["about"] | "";
  readonly agent: string;
  readonly name: string;
  /** Of what waits: the oldest is first, unless somebody wants to see what came last, or what runs out soonest. */
  readonly order: "" | (typeof ORDERS)[number];
};

export const KINDS: readonly Summary["about"][] = ["action", "checkpoint", "question", "intent"];

export function searchOf(search: { readonly [name: string]: string | undefined }): Search {
  const { tab, q = "", about, agent = "", name = "", order } = search;
  return {
    tab: TABS.find((one) => one === tab) ?? "mine",
    about: KINDS.find((one) => one === about) ?? "",
    order: ORDERS.find((one) => one === order) ?? "",
    ...{ q, agent, name },
  };
}

/** Only what is not as usual stands in the address. */
export function addressOf({ tab, ...filters }: Search): { readonly [name: string]: string } {
  const said = Object.entries(filters).filter(([, value]) => value !== "");
  return { ...(tab === "mine" ? {} : { tab }), ...Object.fromEntries(said) };
}

export const isFiltered = ({ q, about, agent, name }: Search): boolean =>
  q !== "" || about !== "" || agent !== "" || name !== "";

/** Whatever it is filtered by. */
export const allOf = ({ tab }: Pick<Search, "tab">): Asked =>
  tab === "decided"
    ? { status: "decided", order: "decided" }
    : { status: "pending", ...(tab === "mine" ? { mine: "true" } : {}) };

export function askedOf(search: Search): Asked {
  const { tab, q, about, agent, name } = search;
  return {
    order: search.order || "oldest",
    ...allOf({ tab }),
    ...(q.trim() === "" ? {} : { q: q.trim() }),
    ...(about === "" ? {} : { about }),
    ...(agent === "" ? {} : { agent }),
    ...(name === "" ? {} : { name }),
  };
}
