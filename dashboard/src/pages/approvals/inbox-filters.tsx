/** Search and filters; all of it stands in the address. */
import { useQuery } from "@tanstack/react-query";
import { type RefObject, useEffect, useState } from "react";
import { visible } from "../../../../src/core/visible.ts";
import { choicesQuery, type Summary } from "../../api/approvals.ts";
import { Icon } from "../../ui/icon.tsx";
import { allOf, isFiltered, ORDERS, type Search } from "./inbox-search.ts";
import { kindWord, personName } from "./words.ts";

const PAUSE_MS = 250;
const KINDS: readonly Summary["about"][] = ["action", "checkpoint", "question", "intent"];

type Props = {
  readonly search: Search;
  readonly onChange: (search: Search) => void;
  readonly box: RefObject<HTMLInputElement | null>;
};

function SearchBox({ search, onChange, box }: Props) {
  const [text, setText] = useState(search.q);
  useEffect(() => setText(search.q), [search.q]);
  useEffect(() => {
    if (text === search.q) return;
    const timer = window.setTimeout(() => onChange({ ...search, q: text }), PAUSE_MS);
    return () => window.clearTimeout(timer);
  }, [text, search, onChange]);
  return (
    <label className="flex min-h-11 grow items-center gap-2 rounded-base border border-edge bg-surface px-3 focus-within:outline-2 focus-within:outline-offset-2 sm:max-w-80">
      <Icon name="search" className="size-4 text-faint" />
      <span className="sr-only">Search</span>
      <input
        ref={box}
        type="search"
        maxLength={200}
        value={text}
        placeholder="Search"
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
        }}
        className="min-w-0 grow bg-transparent outline-none placeholder:text-faint"
      />
      <span
        aria-hidden="true"
        className="rounded-small border border-line px-1.5 text-tiny text-faint max-md:hidden font-mono"
      >
        /
      </span>
    </label>
  );
}

type SelectProps = {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string) => void;
};

function Select({ label, value, options, onChange }: SelectProps) {
  const isKnown = value === "" || options.some(([one]) => one === value);
  return (
    <label className="min-w-0">
      <span className="sr-only">{label}</span>
      <select
        value={value}
        onChange={({ target }) => onChange(target.value)}
        className="min-h-11 w-full max-w-48 rounded-base border border-edge bg-surface px-2 text-small"
      >
        <option value="">{label}: all</option>
        {isKnown ? null : <option value={value}>{visible(value)}</option>}
        {options.map(([one, title]) => (
          <option key={one} value={one}>
            {visible(title)}
          </option>
        ))}
      </select>
    </label>
  );
}

const distinct = (values: readonly string[]): readonly string[] => [...new Set(values)].sort();

const ORDER_WORDS: { readonly [order in Search["order"]]: string } = {
  "": "Oldest first",
  newest: "Newest first",
  deadline: "Soonest deadline first",
};

function OrderChoice({ search, onChange }: Pick<Props, "search" | "onChange">) {
  return (
    <select
      aria-label="Order"
      value={search.order}
      onChange={({ target }) =>
        onChange({ ...search, order: ORDERS.find((one) => one === target.value) ?? "" })
      }
      className="min-h-11 rounded-base border border-edge bg-surface px-2 text-small"
    >
      {(["", ...ORDERS] as const).map((order) => (
        <option key={order} value={order}>
          {ORDER_WORDS[order]}
        </option>
      ))}
    </select>
  );
}

/** Agents and tools are offered as they occur in the first of the list; another one can stand in the address. */
export function InboxFilters({ search, onChange, box }: Props) {
  const rows = useQuery(choicesQuery(allOf(search))).data?.approvals ?? [];
  const agents = distinct(rows.map(({ agent }) => agent)).map((agent) => [agent, personName(agent)] as const);
  const names = distinct(rows.map(({ name }) => name)).map((name) => [name, name] as const);
  const kinds = KINDS.map((kind) => [kind, kindWord(kind)] as const);
  return (
    <search className="flex flex-wrap gap-2">
      <SearchBox search={search} onChange={onChange} box={box} />
      <div className="grid w-full grid-cols-3 gap-2 sm:flex sm:w-auto">
        <Select
          label="Kind"
          value={search.about}
          options={kinds}
          onChange={(about) => onChange({ ...search, about: KINDS.find((kind) => kind === about) ?? "" })}
        />
        <Select
          label="Agent"
          value={search.agent}
          options={agents}
          onChange={(agent) => onChange({ ...search, agent })}
        />
        <Select
          label="Tool"
          value={search.name}
          options={names}
          onChange={(name) => onChange({ ...search, name })}
        />
      </div>
      {search.tab === "decided" ? null : <OrderChoice search={search} onChange={onChange} />}
      {isFiltered(search) ? (
        <button
          type="button"
          className="min-h-11 px-2 text-small font-semibold text-soft underline"
          onClick={() => onChange({ ...search, q: "", about: "", agent: "", name: "" })}
        >
          Clear
        </button>
      ) : null}
    </search>
  );
}
