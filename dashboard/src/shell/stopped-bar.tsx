/** While the kill switch of the tenant is on, every page says so. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { switchQuery } from "../api/switch.ts";
import { Icon } from "../ui/icon.tsx";

export function StoppedBar() {
  const { data } = useQuery(switchQuery);
  if (data?.paused !== true) return null;
  return (
    <p
      role="alert"
      className="flex flex-wrap items-center gap-2 bg-stop px-4 py-2 text-small font-semibold text-on-solid"
    >
      <Icon name="stop" className="size-4" />
      Everything is stopped: no new effect starts.
      <Link to="/kill-switch" className="underline">
        Kill switch
      </Link>
    </p>
  );
}
