/** One field of a form that a JSON Schema describes, with whatever stands below it. */
import type { ReactNode } from "react";
import { visible } from "../../../../src/core/visible.ts";
import { fieldOf, isList, isObject, type Json, type Path, textIn } from "../../format/json.ts";
import { labelOf } from "../../format/labels.ts";
import {
  type Control,
  controlOf,
  type Field,
  firstValue,
  issueAt,
  resolved,
} from "../../format/schema-form.ts";
import { Button } from "../button.tsx";
import { ChoiceBox, FlagBox, JsonBox, NumberBox, TextBox } from "./boxes.tsx";
import { mayRemove, useForm } from "./form-state.ts";

type Props = { readonly schema: Json; readonly path: Path; readonly value: Json; readonly label: string };

const LIMITS = [
  ["minimum", "at least"],
  ["exclusiveMinimum", "more than"],
  ["maximum", "at most"],
  ["exclusiveMaximum", "less than"],
  ["maxLength", "at most so many characters:"],
] as const;

/** What the schema itself says of the field. It is the tool's text: hidden characters are written out. */
function hintOf(schema: Json): string | undefined {
  const limits = LIMITS.flatMap(([name, words]) => {
    const limit = fieldOf(schema, name);
    // What every whole number is below says nothing.
    return typeof limit === "number" && Math.abs(limit) < Number.MAX_SAFE_INTEGER
      ? [`${words} ${limit}`]
      : [];
  });
  const said = [textIn(schema, "description"), limits.join(", ")].filter(
    (text) => text !== undefined && text !== "",
  );
  return said.length === 0 ? undefined : visible(said.join(" · "));
}

function Plain({ control, schema, path, value, label }: Props & { readonly control: Control }) {
  const { state, issues } = useForm();
  const around = {
    label,
    hint: hintOf(schema),
    fault: issueAt(issues, path),
    onChange: (next: Json) => state.set(path, next),
  };
  if (control.kind === "text" && typeof value === "string")
    return <TextBox key={state.round} {...around} value={value} isLong={control.isLong} />;
  if (control.kind === "number" && (typeof value === "number" || typeof value === "string"))
    return <NumberBox key={state.round} {...around} value={value} isWhole={control.isWhole} />;
  if (control.kind === "flag" && typeof value === "boolean") return <FlagBox {...around} value={value} />;
  if (control.kind === "choice") return <ChoiceBox {...around} value={value} options={control.options} />;
  return (
    <JsonBox
      key={state.round}
      {...around}
      value={value}
      onFault={(isWrong) => state.setFault(path, isWrong)}
    />
  );
}

function Removable({
  path,
  label,
  children,
}: {
  readonly path: Path;
  readonly label: string;
  readonly children: ReactNode;
}) {
  const form = useForm();
  return (
    <div className="flex items-start gap-2">
      <div className="min-w-0 grow">{children}</div>
      {mayRemove(form, path) ? (
        <Button
          kind="quiet"
          size="small"
          icon="cross"
          aria-label={`Leave out ${label}`}
          onClick={() => form.state.remove(path)}
        />
      ) : null}
    </div>
  );
}

function Absent({ field, path }: { readonly field: Field; readonly path: Path }) {
  const { state, root } = useForm();
  const label = visible(labelOf(field.name));
  return (
    <p className="flex min-h-9 items-center gap-3 text-small text-faint">
      {label}: not set
      <Button size="small" onClick={() => state.set(path, firstValue(resolved(field.schema, root)))}>
        Set <span className="sr-only">{label}</span>
      </Button>
    </p>
  );
}

type EntryProps = { readonly field: Field; readonly value: Json; readonly path: Path };

function Entry({ field, value, path }: EntryProps) {
  const own = isObject(value) && Object.hasOwn(value, field.name) ? value[field.name] : undefined;
  if (own === undefined) return <Absent field={field} path={path} />;
  const label = visible(labelOf(field.name));
  const one = <SchemaField schema={field.schema} path={path} value={own} label={label} />;
  if (field.isNeeded) return one;
  return (
    <Removable path={path} label={label}>
      {one}
    </Removable>
  );
}

type GroupProps = { readonly fields: readonly Field[]; readonly value: Json; readonly path: Path };

function Group({ fields, value, path }: GroupProps) {
  return (
    <div className={path.length === 0 ? "flex flex-col gap-4" : "grid items-start gap-4 sm:grid-cols-2"}>
      {fields.map((field) => (
        <Entry key={field.name} field={field} value={value} path={[...path, field.name]} />
      ))}
    </div>
  );
}

function Items({ item, value, path, label }: Props & { readonly item: Json }) {
  const { state, root } = useForm();
  const items = isList(value) ? value : [];
  const add = () => state.set(path, [...items, firstValue(resolved(item, root))]);
  return (
    <div className="flex flex-col gap-3">
      {items.map((one, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an item has no other name than its place; boxes begin anew when one goes.
        <Removable key={`${state.round}/${at}`} path={[...path, at]} label={`${label} ${at + 1}`}>
          <SchemaField schema={item} path={[...path, at]} value={one} label={`${label} ${at + 1}`} />
        </Removable>
      ))}
      <Button size="small" className="self-start" onClick={add}>
        Add to {label}
      </Button>
    </div>
  );
}

export function SchemaField({ schema: given, path, value, label }: Props) {
  const { root, issues } = useForm();
  const schema = resolved(given, root);
  const control = controlOf(schema, value);
  if (control.kind !== "group" && control.kind !== "list")
    return <Plain control={control} schema={schema} path={path} value={value} label={label} />;
  const inner =
    control.kind === "group" ? (
      <Group fields={control.fields} value={value} path={path} />
    ) : (
      <Items schema={schema} item={control.item} value={value} path={path} label={label} />
    );
  if (path.length === 0) return inner;
  const fault = issueAt(issues, path);
  return (
    <fieldset className="rounded-base border border-line p-3">
      <legend className="px-1 text-small font-semibold">{label}</legend>
      {fault === undefined ? null : <p className="mb-2 text-small text-stop">{fault}</p>}
      {inner}
    </fieldset>
  );
}
