/** Which tab of a page is open: it stands in the address, so it can be sent to somebody. */
import { useNavigate, useSearch } from "@tanstack/react-router";

type Tabbed = "/policies" | "/agents" | "/settings";

export function useTab(page: Tabbed, tabs: readonly string[]): readonly [string, (tab: string) => void] {
  const search = useSearch({ from: page });
  const navigate = useNavigate();
  const first = tabs[0] ?? "";
  const wanted = search["tab"] ?? first;
  const open = (tab: string) => void navigate({ to: page, search: { tab } });
  return [tabs.includes(wanted) ? wanted : first, open];
}
