/** Where one plain value is written. What is typed is never held back: what does not fit is told beside it. */
import { type ReactNode, useState } from "react";
import { visibleJson } from "../../../../src/kernel/text.ts";
import { LONG_LINE, optionTexts, placeOf, rowsFor } from "../../format/box-text.ts";
import type { Json } from "../../format/json.ts";
import { holdsRightToLeft } from "../../format/right-to-left.ts";
import { typedJson, typedNumber } from "../../format/typed-json.ts";
import { Choice, TextArea, TextField } from "../field.tsx";
import { Unseen } from "./unseen.tsx";

export type BoxProps<Value extends Json = Json> = {
  readonly label: ReactNode;
  readonly hint: string | undefined;
  readonly fault: string | undefined;
  readonly value: Value;
  readonly onChange: (value: Json) => void;
};

type TextProps = BoxProps<string> & { readonly isLong: boolean };

export function TextBox({ value, onChange, isLong: isLongAtFirst, ...around }: TextProps) {
  // A box that becomes another one while somebody types would lose their place.
  const [isLong] = useState(isLongAtFirst);
  const Box = isLong ? TextArea : TextField;
  return (
    <div>
      <Box
        {...around}
        rows={isLong ? rowsFor(value) : undefined}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
      <Unseen text={value} />
    </div>
  );
}

type NumberProps = BoxProps<number | string> & { readonly isWhole: boolean };

export function NumberBox({ value, onChange, isWhole, ...around }: NumberProps) {
  const [text, setText] = useState(String(value));
  const type = (next: string) => {
    setText(next);
    onChange(typedNumber(next));
  };
  return (
    <div>
      <TextField
        {...around}
        inputMode={isWhole ? "numeric" : "decimal"}
        value={text}
        onChange={({ target }) => type(target.value)}
      />
      <Unseen text={text} />
    </div>
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

type ChoiceProps = BoxProps & { readonly options: readonly Json[] };

export function ChoiceBox({ value, onChange, options, ...around }: ChoiceProps) {
  const at = placeOf(options, value);
  const texts = optionTexts(options);
  const chosen = texts[at] ?? "";
  return (
    <div>
      <Choice
        {...around}
        value={at}
        onChange={({ target }) => onChange(options[Number(target.value)] ?? null)}
      >
        {texts.map((text, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an option is named by its place.
          <option key={index} value={index}>
            {text}
          </option>
        ))}
      </Choice>
      {chosen.length > LONG_LINE || holdsRightToLeft(chosen) ? (
        <p className="strange mt-1 text-small">{chosen}</p>
      ) : null}
    </div>
  );
}

type JsonProps = BoxProps & { readonly onFault: (isWrong: boolean) => void };

export function JsonBox({ value, onChange, onFault, fault, hint, label }: JsonProps) {
  const [text, setText] = useState(() => visibleJson(JSON.stringify(value, null, 2)));
  const [isWrong, setWrong] = useState(false);
  const type = (next: string) => {
    setText(next);
    const read = typedJson(next);
    setWrong(read === undefined);
    onFault(read === undefined);
    if (read !== undefined) onChange(read.value);
  };
  const wrong = isWrong ? "This is no JSON yet, or has a number that is too large." : fault;
  return (
    <div>
      <TextArea
        label={<>{label} (JSON)</>}
        hint={hint}
        fault={wrong}
        rows={rowsFor(text)}
        isMono
        spellCheck={false}
        value={text}
        onChange={({ target }) => type(target.value)}
      />
      <Unseen text={text} />
    </div>
  );
}
