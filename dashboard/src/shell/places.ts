/**
 * Every page of the menu, in its order, and the scope that shows it. A page that lists streams of one kind needs no entry
 * here: `npm run generate` finds `pages/nodes/nodes-page.tsx` for the list `nodes`, and takes the icon of that name and a free letter.
 */
import type { IconName } from "../ui/icon.tsx";
import { LISTED_PAGES } from "./listed-pages.ts";

export type Place = {
  readonly to: string;
  readonly name: string;
  readonly icon: IconName;
  readonly scope: string;
  /** Stays in reach of a thumb. */
  readonly isMain?: true;
  /** The key that goes there after `g`. Empty: none. */
  readonly key: string;
  /** The kind of stream that the page lists. An entry of that kind makes queries whose key begins with it stale. */
  readonly of?: string;
};

export const PLACES: readonly Place[] = [
  { to: "/", name: "Today", icon: "home", scope: "approvals:read", isMain: true, key: "t" },
  { to: "/approvals", name: "Approvals", icon: "inbox", scope: "approvals:read", isMain: true, key: "a" },
  { to: "/workflows", name: "Workflows", icon: "flow", scope: "workflows:read", isMain: true, key: "w" },
  { to: "/in-doubt", name: "In doubt", icon: "doubt", scope: "actions:read", isMain: true, key: "d" },
  { to: "/policies", name: "Policies", icon: "policy", scope: "policies:read", key: "p" },
  { to: "/agents", name: "Agents and keys", icon: "agent", scope: "people:read", key: "k" },
  { to: "/activity", name: "Activity", icon: "chart", scope: "approvals:read", key: "y" },
  ...LISTED_PAGES,
  { to: "/kill-switch", name: "Kill switch", icon: "stop", scope: "switch:read", key: "x" },
  { to: "/settings", name: "Settings", icon: "settings", scope: "approvals:read", key: "s" },
];
