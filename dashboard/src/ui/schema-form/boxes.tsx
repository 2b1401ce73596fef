/** Where one plain value is written. What is typed is never held back: what does not fit is told beside it. */
import { useState } from "react";
import { isSame, type Json } from "../../format/json.ts";
import { Choice, TextArea, TextField } from "../field.tsx";

export type BoxProps<Value extends Json = Json> = {
  readonly label: string;
  readonly hint: string | undefined;
  readonly fault: string | undefined;
  readonly value: Value;
  readonly onChange: (value: Json) => void;
};

export function TextBox({
  value,
  onChange,
  isLong,
  ...around
}: BoxProps<string> & { readonly isLong: boolean }) {
  const Box = isLong ? TextArea : TextField;
  return (
    <Box
      {...around}
      rows={isLong ? 8 : undefined}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** Half a number is kept as the text that it is until it is one: the server says so too. */
export function NumberBox({
  value,
  onChange,
  isWhole,
  ...around
}: BoxProps<number | string> & { readonly isWhole: boolean }) {
  const [text, setText] = useState(String(value));
  const type = (next: string) => {
    setText(next);
    onChange(NUMBER.test(next.trim()) ? Number(next) : next);
  };
  return (
    <TextField
      {...around}
      inputMode={isWhole ? "numeric" : "decimal"}
      value={text}
      onChange={({ target }) => type(target.value)}
    />
  );
}

export function FlagBox({ label, hint, fault, value, onChange }: BoxProps<boolean>) {
  return (
    <label className="flex min-h-11 items-center gap-3">
      <input
        type="checkbox"
        checked={value}
        onChange={({ target }) => onChange(target.checked)}
        className="size-5 accent-current"
      />
      <span className="text-small font-semibold">{label}</span>
      <span className="text-small text-soft">{fault ?? hint}</span>
    </label>
  );
}

const optionText = (option: Json): string => (typeof option === "string" ? option : JSON.stringify(option));

export function ChoiceBox({
  value,
  onChange,
  options,
  ...around
}: BoxProps & { readonly options: readonly Json[] }) {
  const at = options.findIndex((option) => isSame(option, value));
  return (
    <Choice {...around} value={at} onChange={({ target }) => onChange(options[Number(target.value)] ?? null)}>
      {options.map((option, index) => (
        <option key={optionText(option)} value={index}>
          {optionText(option)}
        </option>
      ))}
    </Choice>
  );
}

type JsonProps = BoxProps & { readonly onFault: (isWrong: boolean) => void };

export function JsonBox({ value, onChange, onFault, fault, hint, label }: JsonProps) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  const [isWrong, setWrong] = useState(false);
  const type = (next: string) => {
    setText(next);
    const read = parsed(next);
    setWrong(read === undefined);
    onFault(read === undefined);
    if (read !== undefined) onChange(read.value);
  };
  const wrong = isWrong ? "This is no JSON yet." : fault;
  return (
    <TextArea
      label={`${label} (JSON)`}
      hint={hint}
      fault={wrong}
      rows={Math.min(12, text.split("\n").length + 1)}
      spellCheck={false}
      value={text}
      onChange={({ target }) => type(target.value)}
    />
  );
}

function parsed(text: string): { readonly value: Json } | undefined {
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return undefined;
  }
}
