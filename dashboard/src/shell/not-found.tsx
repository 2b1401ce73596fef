import { Link } from "@tanstack/react-router";
import { Empty } from "../ui/states.tsx";

export function NotFound() {
  return (
    <Empty icon="search" title="There is no such page">
      <Link to="/" className="underline">
        Go to what waits today
      </Link>
    </Empty>
  );
}
