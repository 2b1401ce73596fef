/** The inbox: what waits for whoever looks, all that waits, and what was decided. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type RefObject, useCallback, useEffect, useRef } from "react";
import { attentionQuery } from "../../api/attention.ts";
import { may, useSession } from "../../api/session.ts";
import { countText } from "../../format/amounts.ts";
import { useKeys } from "../../shell/use-keys.ts";
import { classes } from "../../ui/classes.ts";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { Arrivals } from "./arrivals.tsx";
import { BatchBar } from "./batch-bar.tsx";
import { FirstRun } from "./first-run.tsx";
import { InboxFilters } from "./inbox-filters.tsx";
import { InboxList } from "./inbox-list.tsx";
import { addressOf, askedOf, isFiltered, type Search, searchOf, TABS, type TabName } from "./inbox-search.ts";
import { INBOX_KEYS } from "./keys.ts";
import { type LookedAt, MINE, rememberInbox } from "./last-inbox.ts";
import { useArrivals } from "./use-arrivals.ts";
import { useInbox } from "./use-inbox.ts";
import { type RowCursor, type Selection, useRowCursor, useSelection } from "./use-row-cursor.ts";

const TITLES: { readonly [tab in TabName]: string } = {
  mine: "For you",
  waiting: "All waiting",
  decided: "Decided",
};

function TabLinks({ search }: { readonly search: Search }) {
  const { data } = useQuery(attentionQuery);
  const counts = { mine: data?.mine, waiting: data?.pending, decided: undefined };
  const isPart = data?.is_all === false;
  return (
    <nav aria-label="Which approvals" className="-mb-px flex gap-1 overflow-x-auto">
      {TABS.map((tab) => (
        <Link
          key={tab}
          to="/approvals"
          search={addressOf({ ...search, tab })}
          aria-current={tab === search.tab ? "page" : undefined}
          className={classes(
            "flex min-h-11 items-center gap-2 border-b-2 px-3 font-semibold whitespace-nowrap",
            tab === search.tab ? "border-hold text-ink" : "border-transparent text-soft hover:text-ink",
          )}
        >
          {TITLES[tab]}
          {counts[tab] === undefined ? null : (
            <span className="figures rounded-full bg-sunken px-2 text-tiny">
              {countText(counts[tab])}
              {tab === "mine" && isPart ? "+" : ""}
            </span>
          )}
        </Link>
      ))}
    </nav>
  );
}

function Nothing({ search }: { readonly search: Search }) {
  const { data } = useQuery(attentionQuery);
  if (isFiltered(search))
    return (
      <Empty icon="search" title="Nothing fits">
        Nothing among these is like what you look for.
      </Empty>
    );
  if (data?.is_empty === true) return <FirstRun />;
  if (search.tab === "decided") return <Empty icon="check" title="Nothing was decided yet" />;
  return (
    <Empty icon="check" title={search.tab === "mine" ? "Nothing waits for you" : "Nothing waits"}>
      What an agent asks next appears here by itself.
      {search.tab === "mine" && (data?.pending ?? 0) > 0 ? (
        <>
          {" "}
          <Link to="/approvals" search={{ tab: "waiting" }} className="underline">
            See what waits for others
          </Link>
        </>
      ) : null}
    </Empty>
  );
}

function useInboxKeys(cursor: RowCursor, selection: Selection, focusSearch: () => void): void {
  const navigate = useNavigate();
  useKeys(
    {
      j: () => cursor.step(1),
      k: () => cursor.step(-1),
      ArrowDown: () => cursor.step(1),
      ArrowUp: () => cursor.step(-1),
      x: () => (cursor.at === null ? undefined : selection.toggle(cursor.at)),
      "/": focusSearch,
      Escape: selection.clear,
      // A row that has the focus is a link, and opens by itself.
      Enter: () =>
        cursor.at === null ? undefined : void navigate({ to: "/approvals/$id", params: { id: cursor.at } }),
    },
    INBOX_KEYS,
  );
}

type ListProps = {
  readonly search: Search;
  readonly onChange: (search: Search) => void;
  readonly box: RefObject<HTMLInputElement | null>;
};

/** One list; another search is another one. */
function Inbox({ search, onChange, box }: ListProps) {
  const session = useSession();
  const { items, hasMore, more, head, isLooking, failed } = useInbox(search);
  const { told, onSight } = useArrivals(search, { items, isPart: head.data?.next != null });
  const revealing = useRef<(index: number) => void>(() => {});
  const reveal = useCallback((index: number) => revealing.current(index), []);
  const onReady = useCallback((way: (index: number) => void) => {
    revealing.current = way;
  }, []);
  const cursor = useRowCursor(items, reveal);
  const selection = useSelection(items);
  useInboxKeys(cursor, selection, () => box.current?.focus());
  const canSelect = search.tab !== "decided" && may(session, "approvals:decide");
  const showNew = () => {
    window.scrollTo(0, 0);
    onChange({ ...search, order: "newest" });
  };
  return (
    <>
      <Arrivals told={told} onShow={showNew} />
      {failed === null ? null : <Failure error={failed} onRetry={() => void head.refetch()} />}
      {isLooking && failed === null ? <Loading /> : null}
      {items.length === 0 ? null : (
        <div className="overflow-clip rounded-large border border-line bg-surface">
          <InboxList {...{ items, canSelect, cursor, selection, hasMore, onReady, onSight }} onMore={more} />
        </div>
      )}
      {items.length === 0 && head.isSuccess && !isLooking ? <Nothing search={search} /> : null}
      <BatchBar selection={selection} />
    </>
  );
}

/** Of what was decided nobody goes on to the next: that is of what waits. */
function lookedAt(search: Search): LookedAt {
  const isMine = search.tab === "mine" && !isFiltered(search);
  const list =
    search.tab === "decided" ? { asked: MINE, isWhole: true } : { asked: askedOf(search), isWhole: isMine };
  return { address: addressOf(search), ...list };
}

export function InboxPage() {
  const navigate = useNavigate();
  const search = searchOf(useSearch({ from: "/approvals" }));
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => rememberInbox(lookedAt(search)));
  const onChange = useCallback(
    (next: Search) => void navigate({ to: "/approvals", search: addressOf(next), replace: true }),
    [navigate],
  );
  return (
    <Page title="Approvals">
      <div className="border-b border-line">
        <TabLinks search={search} />
      </div>
      <InboxFilters search={search} onChange={onChange} box={box} />
      <Inbox key={JSON.stringify(search)} {...{ search, onChange, box }} />
    </Page>
  );
}
