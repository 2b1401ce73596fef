/** The pages that a phone's bar has no room for. */
import { Link } from "@tanstack/react-router";
import { may, useSession } from "../../api/session.ts";
import { PLACES } from "../../shell/places.ts";
import { Whoami } from "../../shell/whoami.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Page } from "../../ui/page.tsx";
import { Panel } from "../../ui/panel.tsx";

export function MorePage() {
  const session = useSession();
  const places = PLACES.filter(({ scope, isMain }) => isMain !== true && may(session, scope));
  return (
    <Page title="More" aside={<Whoami />}>
      <Panel isFlush>
        <nav aria-label="More pages">
          {places.map(({ to, name, icon }) => (
            <Link
              key={to}
              to={to}
              className="flex min-h-14 items-center gap-3 border-b border-line px-4 last:border-0"
            >
              <Icon name={icon} className="size-5 text-soft" />
              <span className="grow">{name}</span>
              <Icon name="next" className="size-4 text-faint" />
            </Link>
          ))}
        </nav>
      </Panel>
    </Page>
  );
}
