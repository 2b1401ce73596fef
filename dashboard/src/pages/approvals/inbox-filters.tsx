/** Search and filters; all of it stands in the address. */
import { useQuery } from "@tanstack/react-query";
import { type RefObject, useCallback } from "react";
import { visible } from "../../../../src/kernel/text.ts";
import { choicesQuery } from "../../api/approvals.ts";
import { SearchBox } from "../../ui/search-box.tsx";
import { allOf, isFiltered, KINDS, ORDERS, type Search } from "./inbox-search.ts";
import { kindWord, personName } from "./words.ts";

type Props = {
  readonly search: Search;
  readonly onChange: (search: Search) => void;
  readonly box: RefObject<HTMLInputElement | null>;
};

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
  const names = distinct(rows.map(({ tool }) => tool)).map((name) => [name, name] as const);
  const kinds = KINDS.map((kind) => [kind, kindWord(kind)] as const);
  const setText = useCallback((q: string) => onChange({ ...search, q }), [search, onChange]);
  return (
    <search className="flex flex-wrap gap-2">
      <SearchBox
        label="Search"
        value={search.q}
        onChange={setText}
        box={box}
        hint="/"
        className="sm:max-w-80"
      />
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
