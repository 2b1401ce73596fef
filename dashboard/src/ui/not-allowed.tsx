/** Said where a part of a page is not for whoever looks: nothing is broken, and somebody else may. */
import { Icon } from "./icon.tsx";

export function NotAllowed({ what, scope }: { readonly what: string; readonly scope: string }) {
  return (
    <p className="flex items-start gap-2 py-2 text-small text-soft">
      <Icon name="lock" className="mt-0.5 size-4" />
      <span>
        {what} is not part of what you may do here. It takes <code className="font-mono">{scope}</code>; an
        admin can give you a role that brings it.
      </span>
    </p>
  );
}
