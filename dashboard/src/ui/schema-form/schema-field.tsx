/** One field of a form that a JSON Schema describes, with whatever stands below it. */
import type { ReactNode } from "react";
import { visible } from "../../../../src/kernel/text.ts";
import { fieldOf, isList, isObject, isSame, type Json, type Path, textIn } from "../../format/json.ts";
import { labelOf, labelsOf } from "../../format/labels.ts";
import {
  type Control,
  controlOf,
  type Field,
  firstValue,
  issueAt,
  turnedInto,
} from "../../format/schema-form.ts";
import { sharesOf, withinShare } from "../../format/schema-form-share.ts";
import { limitsText } from "../../format/schema-limits.ts";
import { resolved } from "../../format/schema-parts.ts";
import { Button } from "../button.tsx";
import { LookAlike } from "../look-alike.tsx";
import { Share, useShare } from "../values/share.tsx";
import { AddName, Maybe } from "./alternatives.tsx";
import { ChoiceBox, FlagBox, JsonBox, NumberBox, TextBox } from "./boxes.tsx";
import { mayRemove, useForm } from "./form-state.ts";

type Props = { readonly schema: Json; readonly path: Path; readonly value: Json; readonly label: string };

/** What the schema itself says of the field. It is the tool's text: hidden characters are written out. */
function hintOf(schema: Json): string | undefined {
  const said = [textIn(schema, "description"), limitsText(schema)].filter(
    (text) => text !== undefined && text !== "",
  );
  return said.length === 0 ? undefined : visible(said.join(" · "));
}

/** What cannot be seen is written out already: a label is read out too. */
const Name = ({ text }: { readonly text: string }) => (
  <>
    <bdi className="strange">{text}</bdi>
    <LookAlike name={text} />
  </>
);

function Plain({ control, schema, path, value, label }: Props & { readonly control: Control }) {
  const { state, issues } = useForm();
  const around = {
    label: <Name text={label} />,
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

type AbsentProps = { readonly field: Field; readonly path: Path; readonly label: string };

function Absent({ field, path, label }: AbsentProps) {
  const { state, root } = useForm();
  return (
    <p className="flex min-h-9 items-center gap-3 text-small text-faint">
      <span>
        <Name text={label} />: not set
      </span>
      <Button size="small" onClick={() => state.set(path, firstValue(resolved(field.schema, root), root))}>
        Set <span className="sr-only">{label}</span>
      </Button>
    </p>
  );
}

type EntryProps = AbsentProps & { readonly value: Json };

function Entry({ field, value, path, label }: EntryProps) {
  const own = isObject(value) && Object.hasOwn(value, field.name) ? value[field.name] : undefined;
  if (own === undefined) return <Absent field={field} path={path} label={label} />;
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
  const labels = labelsOf(fields.map(({ name }) => name));
  const shares = sharesOf(fields, value, useShare());
  return (
    <div className={path.length === 0 ? "flex flex-col gap-4" : "grid items-start gap-4 sm:grid-cols-2"}>
      {fields.map((field, at) => (
        <Share key={field.name} parts={shares[at] ?? 0}>
          <Entry
            field={field}
            value={value}
            path={[...path, field.name]}
            label={visible(labels.get(field.name) ?? field.name)}
          />
        </Share>
      ))}
    </div>
  );
}

function Items({ item, value, path, label }: Props & { readonly item: Json }) {
  const { state, root } = useForm();
  const items = isList(value) ? value : [];
  const add = () => state.set(path, [...items, firstValue(resolved(item, root), root)]);
  return (
    <div className="flex flex-col gap-3">
      {items.map((one, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an item has no other name than its place; boxes begin anew when one goes.
        <Removable key={`${state.round}/${at}`} path={[...path, at]} label={`${label} ${at + 1}`}>
          <SchemaField schema={item} path={[...path, at]} value={one} label={`${label} ${at + 1}`} />
        </Removable>
      ))}
      <Button size="small" className="self-start" onClick={add}>
        Add to <Name text={label} />
      </Button>
    </div>
  );
}

function Names({ item, value, path, label }: Props & { readonly item: Json }) {
  const { state, root } = useForm();
  const names = isObject(value) ? Object.entries(value) : [];
  return (
    <div className="flex flex-col gap-3">
      {names.map(([name, one]) => {
        const own = name === "" ? "no name" : visible(name);
        return (
          <Removable key={name} path={[...path, name]} label={own}>
            <SchemaField schema={item} path={[...path, name]} value={one} label={own} />
          </Removable>
        );
      })}
      <AddName
        label={label}
        taken={names.map(([name]) => name)}
        onAdd={(name) => state.set([...path, name], firstValue(resolved(item, root), root))}
      />
    </div>
  );
}

type Of<Kind extends Control["kind"]> = Extract<Control, { readonly kind: Kind }>;

/** Which kind it is, and then the fields of that. What was proposed at the top cannot be left out, and so stays of its kind. */
function Kinds({ control, value, path }: Props & { readonly control: Of<"variants"> }) {
  const { state, root, before, issues } = useForm();
  const { by, options } = control;
  const is = fieldOf(value, by) ?? null;
  const from = options.find((option) => isSame(option.is, is))?.schema ?? null;
  const isFixed = path.length === 0 && fieldOf(before, by) !== undefined;
  const choose = (next: Json) => {
    const to = options.find((option) => isSame(option.is, next));
    if (to !== undefined) state.set(path, turnedInto(value, from, to.schema, root));
  };
  const group = controlOf(from, value, root);
  const fields = group.kind === "group" ? group.fields.filter(({ name }) => name !== by) : [];
  return (
    <div className="flex flex-col gap-4">
      <ChoiceBox
        label={visible(labelOf(by))}
        hint={isFixed ? "It stays of the kind that was proposed." : undefined}
        fault={issueAt(issues, [...path, by])}
        value={is}
        options={isFixed ? [is] : options.map((option) => option.is)}
        onChange={choose}
      />
      <Group key={JSON.stringify(is)} fields={fields} value={value} path={path} />
    </div>
  );
}

function Nothing({ of, path, value, label }: Omit<Props, "schema"> & { readonly of: Json }) {
  const { state, root, issues } = useForm();
  const isNothing = value === null;
  const toggle = (to: boolean) => state.set(path, to ? null : firstValue(resolved(of, root), root));
  return (
    <Maybe
      label={label}
      isNothing={isNothing}
      fault={isNothing ? issueAt(issues, path) : undefined}
      onToggle={toggle}
    >
      <SchemaField schema={of} path={path} value={value} label={label} />
    </Maybe>
  );
}

function Inner({ control, ...props }: Props & { readonly control: Control }) {
  switch (control.kind) {
    case "group":
      return <Group fields={control.fields} value={props.value} path={props.path} />;
    case "list":
      return <Items {...props} item={control.item} />;
    case "record":
      return <Names {...props} item={control.item} />;
    case "variants":
      return <Kinds {...props} control={control} />;
    default:
      return null;
  }
}

const FRAMED: readonly Control["kind"][] = ["group", "list", "record", "variants"];

export function SchemaField({ schema: given, path, value, label }: Props) {
  const { root, issues } = useForm();
  const schema = resolved(given, root);
  const control = withinShare(controlOf(schema, value, root), value, useShare());
  if (control.kind === "maybe") return <Nothing of={control.of} {...{ path, value, label }} />;
  if (!FRAMED.includes(control.kind)) return <Plain {...{ control, schema, path, value, label }} />;
  const inner = <Inner {...{ control, schema, path, value, label }} />;
  if (path.length === 0) return inner;
  const fault = issueAt(issues, path);
  return (
    <fieldset className="rounded-base border border-line p-3">
      <legend className="px-1 text-small font-semibold">
        <Name text={label} />
      </legend>
      {fault === undefined ? null : <p className="mb-2 text-small text-stop">{fault}</p>}
      {inner}
    </fieldset>
  );
}
