/** Made by `npm run generate`: pages of lists that `places.ts` does not name. */
import { lazyPage } from "./lazy-page.ts";

export const LISTED_PAGES = [
  {
    to: "/nodes",
    name: "Nodes",
    icon: "nodes",
    scope: "journal:read",
    key: "n",
    of: "epoch",
    page: lazyPage(() => import("../pages/nodes/nodes-page.tsx"), "NodesPage"),
  },
] as const;
