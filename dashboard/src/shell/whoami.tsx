import { useClaimedName } from "../api/claimed-name.ts";
import { nameOf, useSession } from "../api/session.ts";
import { Icon } from "../ui/icon.tsx";
import { Strange } from "../ui/strange.tsx";

/** Whose decisions these would be. */
export function Whoami() {
  const { principal, roles, tenant, isOpen } = useSession();
  const claimed = useClaimedName();
  return (
    <p className="flex items-center gap-2 text-small text-soft">
      <Icon name="person" className="size-4" />
      <span className="min-w-0">
        <span className="font-semibold text-ink">
          <Strange text={isOpen ? claimed : nameOf(principal)} />
        </span>
        <span className="block text-tiny">
          {isOpen
            ? "nobody is authenticated here"
            : `${roles.join(", ")}${tenant === "default" ? "" : ` · ${tenant}`}`}
        </span>
      </span>
    </p>
  );
}
