/** A value of the arguments, in the form that suits it. Everything strange in it goes through `Strange`. */
import { useMemo } from "react";
import { visible } from "../../../../src/kernel/text.ts";
import { inReadingOrder } from "../../format/field-order.ts";
import { fieldOf, isObject, type Json, type JsonObject } from "../../format/json.ts";
import { labelsOf } from "../../format/labels.ts";
import { bytesText } from "../../format/numbers.ts";
import { itemTexts, needsQuotes } from "../../format/quoted.ts";
import { momentText } from "../../format/times.ts";
import { type Form, formOf, isInline } from "../../format/value-form.ts";
import { Guarded } from "../guarded.tsx";
import { Icon } from "../icon.tsx";
import { Strange } from "../strange.tsx";
import { CodeBlock } from "./code-block.tsx";
import { DiffBlock } from "./diff-block.tsx";
import { FieldName } from "./field-name.tsx";
import { Foldable } from "./foldable.tsx";
import { Rest, useMany } from "./many.tsx";
import { Share } from "./share.tsx";
import { Unshown } from "./unshown.tsx";
import { ValueTable } from "./value-table.tsx";

type Of<Kind extends Form["kind"]> = Extract<Form, { readonly kind: Kind }>;

const EMPTY = { text: "empty text", list: "an empty list", object: "an empty object" } as const;
const LONGEST_TITLE = 200;
const quiet = (text: string) => <span className="text-faint italic">{text}</span>;

type MoneyProps = Of<"money"> & { readonly isSmall?: boolean };

function Money({ money: { amount, currency, as }, isSmall = false }: MoneyProps) {
  return (
    <span className="figures">
      <span className={isSmall ? "font-semibold" : "text-large font-semibold"}>
        <Strange text={amount} />{" "}
        <Strange text={currency} className={isSmall ? "text-soft" : "text-base text-soft"} />
      </span>
      {as === null ? null : <span className="ml-2 text-small text-faint">{as}</span>}
    </span>
  );
}

function Kept({ form }: { readonly form: Of<"secret" | "artifact"> }) {
  const isSecret = form.kind === "secret";
  return (
    <span className="inline-flex max-w-full items-center gap-1.5 rounded-small bg-sunken px-2 py-0.5 text-small">
      <Icon name={isSecret ? "lock" : "link"} className="size-4 text-soft" />
      {isSecret ? "a secret, put in when it runs:" : `kept beside the journal, ${bytesText(form.bytes)}:`}
      <Strange text={isSecret ? form.handle : form.hash} className="min-w-0 font-mono text-tiny" />
    </span>
  );
}

function Words({ items }: Of<"words">) {
  const texts = useMemo(() => itemTexts(items), [items]);
  const many = useMany(items);
  return (
    <div className="flex flex-col gap-2">
      <ul className="flex flex-wrap gap-1.5">
        {many.shown.map((_, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items of a value have no other name than their place.
          <li key={at} className="min-w-0 rounded-small bg-sunken px-2 py-0.5">
            <Strange text={texts[at] ?? ""} isProse />
          </li>
        ))}
      </ul>
      <Rest many={many} what="items" asJson={(rest) => rest} />
    </div>
  );
}

function Items({ items }: Of<"list">) {
  const many = useMany(items);
  return (
    <div className="flex flex-col gap-2">
      <ol className="flex flex-col gap-2">
        {many.shown.map((item, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items of a value have no other name than their place.
          <li key={at} className="flex gap-3 border-l-2 border-line pl-3">
            <span className="figures text-tiny text-faint">{at + 1}</span>
            <div className="min-w-0 grow">
              <Share parts={many.shares[at] ?? 0}>
                <ValueView name="" value={item} />
              </Share>
            </div>
          </li>
        ))}
      </ol>
      <Rest many={many} what="items" asJson={(rest) => rest} />
    </div>
  );
}

function Text({ text }: { readonly text: string }) {
  return (
    <Foldable text={text}>
      {(shown) => (
        <p className="rounded-base border border-line bg-ground px-3 py-2">
          <Strange text={shown} as="lines" />
        </p>
      )}
    </Foldable>
  );
}

/** Blanks at its ends are to be seen, and a text that reads like a number or a flag is none. */
function Line({ text }: { readonly text: string }) {
  if (!needsQuotes(text)) return <Strange text={text} isProse />;
  return (
    <span className="whitespace-pre-wrap">
      <span className="text-faint">“</span>
      <Strange text={text} isProse />
      <span className="text-faint">”</span>
    </span>
  );
}

function Moment({ text }: { readonly text: string }) {
  return (
    <span>
      <Strange text={text} className="font-mono text-small" />
      <span className="ml-2 text-small text-faint">{momentText(text)}, your time</span>
    </span>
  );
}

function cellOf(name: string, row: JsonObject) {
  const value = fieldOf(row, name);
  if (value === undefined) return <span className="text-faint">–</span>;
  const form = formOf(name, value, row);
  return form.kind === "money" ? <Money {...form} isSmall /> : shown(form);
}

function shown(form: Form) {
  switch (form.kind) {
    case "nothing":
      return quiet("nothing (null)");
    case "empty":
      return quiet(EMPTY[form.what]);
    case "flag":
      return <span className="font-semibold">{form.isOn ? "yes" : "no"}</span>;
    case "number":
      return <span className="figures font-semibold">{form.text}</span>;
    case "money":
      return <Money {...form} />;
    case "secret":
    case "artifact":
      return <Kept form={form} />;
    case "line":
      return <Line text={form.text} />;
    case "url":
    case "path":
      return <Strange text={form.text} className="font-mono text-small" />;
    case "moment":
      return <Moment text={form.text} />;
    case "text":
      return <Text text={form.text} />;
    case "diff":
      return <DiffBlock text={form.text} />;
    case "code":
      return <CodeBlock text={form.text} language={form.language} />;
    case "words":
      return <Words {...form} />;
    case "table":
      return <ValueTable columns={form.columns} rows={form.rows} cell={cellOf} />;
    case "list":
      return <Items {...form} />;
    case "object":
      return <ValueFields fields={form.fields} isInner />;
  }
}

type Props = { readonly name: string; readonly value: Json };

export function ValueView({ name, value }: Props) {
  return shown(useMemo(() => formOf(name, value), [name, value]));
}

function FieldRow({
  name,
  value,
  siblings,
  label,
}: Props & { readonly siblings: JsonObject; readonly label: string }) {
  const form = useMemo(() => formOf(name, value, siblings), [name, value, siblings]);
  const isBeside = isInline(form);
  return (
    <div
      className={
        isBeside
          ? "grid gap-x-4 py-2 sm:grid-cols-[10rem_minmax(0,1fr)] sm:items-baseline"
          : "flex flex-col gap-1.5 py-2.5"
      }
    >
      <dt title={visible(name.slice(0, LONGEST_TITLE))} className="min-w-0 text-small text-faint">
        <FieldName label={label} />
      </dt>
      <dd className="min-w-0">{shown(form)}</dd>
    </div>
  );
}

/** More fields than anybody reads stand as they came: putting them in order takes a look at each. */
const MOST_ORDERED = 500;

function entriesOf(fields: JsonObject): readonly (readonly [string, Json])[] {
  const entries = Object.entries(fields);
  if (entries.length > MOST_ORDERED) return entries;
  return inReadingOrder(entries, {
    nameOf: ([name]) => name,
    isLong: ([name, value]) => !isInline(formOf(name, value, fields)),
  });
}

type FieldsProps = { readonly fields: JsonObject; readonly isInner?: boolean };

/** Names and values of an object, each in its form: what stands on a line before what is long. */
export function ValueFields({ fields, isInner = false }: FieldsProps) {
  const entries = useMemo(() => entriesOf(fields), [fields]);
  const labels = useMemo(() => labelsOf(entries.map(([name]) => name)), [entries]);
  const many = useMany(entries, { areFields: true });
  return (
    <>
      <dl className={isInner ? "border-l-2 border-line pl-3" : "divide-y divide-line"}>
        {many.shown.map(([name, value], at) => (
          <Share key={name} parts={many.shares[at] ?? 0}>
            <FieldRow name={name} value={value} siblings={fields} label={labels.get(name) ?? name} />
          </Share>
        ))}
      </dl>
      <Rest many={many} what="fields" asJson={(rest) => Object.fromEntries(rest)} />
    </>
  );
}

function Whole({ value }: { readonly value: Json }) {
  const form = useMemo(() => formOf("", value), [value]);
  return isObject(value) && form.kind === "object" ? (
    <ValueFields fields={value} />
  ) : (
    <div>{shown(form)}</div>
  );
}

/** Whatever it is: an object by its fields, anything else by itself. */
export function AnyValue({ value }: { readonly value: Json }) {
  return (
    <Guarded of={value} instead={<Unshown value={value} />}>
      <Whole value={value} />
    </Guarded>
  );
}
