import { Link, useCanGoBack, useRouter } from "@tanstack/react-router";
import { Icon } from "./icon.tsx";

const LOOK = "flex min-h-6 items-center gap-1 self-start text-small text-soft hover:text-ink";

/** To where one came from; for a page that many others lead to. */
export function WayBack() {
  const router = useRouter();
  const canGoBack = useCanGoBack();
  if (!canGoBack)
    return (
      <Link to="/" className={LOOK}>
        <Icon name="back" className="size-4" />
        Today
      </Link>
    );
  return (
    <button type="button" onClick={() => router.history.back()} className={LOOK}>
      <Icon name="back" className="size-4" />
      Back
    </button>
  );
}
