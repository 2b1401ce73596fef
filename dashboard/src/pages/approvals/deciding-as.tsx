/** Where nobody is authenticated, whoever decides says who they are. */
import { useState } from "react";
import { claimedName, claimName } from "../../api/claimed-name.ts";
import { TextField } from "../../ui/field.tsx";

export function DecidingAs() {
  const [name, setName] = useState(claimedName);
  return (
    <TextField
      label="Deciding as"
      hint="Nobody is authenticated here: the name is kept as claimed."
      autoComplete="off"
      maxLength={100}
      value={name}
      onChange={({ target }) => {
        setName(target.value);
        claimName(target.value);
      }}
    />
  );
}
