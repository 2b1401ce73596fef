import { visible } from "../../../src/kernel/text.ts";
import { nameOf } from "../api/session.ts";
import { Strange } from "./strange.tsx";

/** People and programs by their names; what they are stands in the title. */
export function Principals({ of }: { readonly of: readonly string[] }) {
  return of
    .filter((principal) => principal !== "")
    .map((principal, index) => (
      <span key={principal} title={visible(principal)}>
        {index === 0 ? null : ", "}
        <Strange text={nameOf(principal)} className="font-semibold" />
      </span>
    ));
}
