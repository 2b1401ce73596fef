import { holdsLookAlikes } from "../format/look-alike.ts";

/** Beside a name that is not the one that it looks like. */
export function LookAlike({ name }: { readonly name: string }) {
  if (!holdsLookAlikes(name)) return null;
  return (
    <>
      {" "}
      <span className="rounded-small bg-hold-wash px-1 text-tiny text-hold">look-alike letters</span>
    </>
  );
}
