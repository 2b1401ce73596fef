/** What stands around a value that may be nothing, and around one that has any names. */
import { type KeyboardEvent, type ReactNode, useState } from "react";
import { visible } from "../../../../src/kernel/text.ts";
import { Button } from "../button.tsx";
import { TextField } from "../field.tsx";
import { Unseen } from "./unseen.tsx";

type MaybeProps = {
  readonly label: string;
  readonly isNothing: boolean;
  readonly fault: string | undefined;
  readonly onToggle: (isNothing: boolean) => void;
  /** Where it is written; not there while it is nothing. */
  readonly children: ReactNode;
};

export function Maybe({ label, isNothing, fault, onToggle, children }: MaybeProps) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      {isNothing ? <p className="text-small font-semibold">{label}</p> : children}
      <label className="flex min-h-9 items-center gap-2 self-start text-small text-soft">
        <input
          type="checkbox"
          checked={isNothing}
          onChange={({ target }) => onToggle(target.checked)}
          className="size-5 accent-current"
        />
        <span>
          <span className="sr-only">{label}: </span>nothing (null)
        </span>
      </label>
      {fault === undefined ? null : <p className="text-small text-stop">{fault}</p>}
    </div>
  );
}

type AddProps = {
  readonly label: string;
  readonly taken: readonly string[];
  readonly onAdd: (name: string) => void;
};

/** A name as it is typed: blanks belong to it. */
export function AddName({ label, taken, onAdd }: AddProps) {
  const [name, setName] = useState("");
  const isTaken = taken.includes(name);
  const add = () => {
    if (name === "" || isTaken) return;
    onAdd(name);
    setName("");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    add();
  };
  return (
    <div className="flex items-end gap-2">
      <div className="min-w-0 grow">
        <TextField
          label={`Another name in ${label}`}
          fault={isTaken ? `There is ${visible(name)} already.` : undefined}
          autoComplete="off"
          spellCheck={false}
          value={name}
          onChange={({ target }) => setName(target.value)}
          onKeyDown={onKeyDown}
        />
        <Unseen text={name} />
      </div>
      <Button disabled={name === "" || isTaken} onClick={add}>
        Add <span className="sr-only">to {label}</span>
      </Button>
    </div>
  );
}
