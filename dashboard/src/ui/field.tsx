import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import { classes } from "./classes.ts";

const BOX =
  "w-full rounded-base border border-edge bg-surface px-3 py-2 text-base text-ink placeholder:text-faint aria-invalid:border-stop";

type Around = {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  /** What is wrong with it; told to readers too. */
  readonly fault?: string | undefined;
  readonly className?: string;
};
type Ids = { readonly id: string; readonly "aria-describedby"?: string; readonly "aria-invalid"?: true };

function Labelled({
  label,
  hint,
  fault,
  className,
  control,
}: Around & { readonly control: (ids: Ids) => ReactNode }) {
  const id = useId();
  const hasMore = hint !== undefined || fault !== undefined;
  const ids: Ids = {
    id,
    ...(hasMore ? { "aria-describedby": `${id}-more` } : {}),
    ...(fault === undefined ? {} : { "aria-invalid": true }),
  };
  return (
    <div className={classes("flex min-w-0 flex-col gap-1", className)}>
      <label htmlFor={id} className="text-small font-semibold">
        {label}
      </label>
      {control(ids)}
      {hasMore ? (
        <p
          id={`${id}-more`}
          className={classes("text-small", fault === undefined ? "text-soft" : "text-stop")}
        >
          {fault ?? hint}
        </p>
      ) : null}
    </div>
  );
}

type Of<Attributes> = Around & Omit<Attributes, "className" | "id">;

export function TextField({
  label,
  hint,
  fault,
  className,
  ...rest
}: Of<InputHTMLAttributes<HTMLInputElement>>) {
  const around = { label, hint, fault, ...(className === undefined ? {} : { className }) };
  return <Labelled {...around} control={(ids) => <input type="text" {...rest} {...ids} className={BOX} />} />;
}

type AreaProps = Of<TextareaHTMLAttributes<HTMLTextAreaElement>> & { readonly isMono?: boolean };

export function TextArea({ label, hint, fault, className, isMono, ...rest }: AreaProps) {
  const around = { label, hint, fault, ...(className === undefined ? {} : { className }) };
  const look = classes(BOX, isMono === true && "font-mono");
  return (
    <Labelled {...around} control={(ids) => <textarea rows={3} {...rest} {...ids} className={look} />} />
  );
}

export function Choice({
  label,
  hint,
  fault,
  className,
  ...rest
}: Of<SelectHTMLAttributes<HTMLSelectElement>>) {
  const around = { label, hint, fault, ...(className === undefined ? {} : { className }) };
  return (
    <Labelled {...around} control={(ids) => <select {...rest} {...ids} className={classes(BOX, "pr-8")} />} />
  );
}
