/** What stands around every page: where one can go, who one is, and whether what is shown is live. */
import { Link, Outlet } from "@tanstack/react-router";
import { Suspense, useState } from "react";
import { may, useSession } from "../api/session.ts";
import { Icon } from "../ui/icon.tsx";
import { Mark } from "../ui/mark.tsx";
import { Loading } from "../ui/states.tsx";
import { Toaster } from "../ui/toaster.tsx";
import { ConnectionState } from "./connection-state.tsx";
import { KeysHelp } from "./keys-help.tsx";
import { PlaceCount } from "./place-count.tsx";
import { PLACES, type Place } from "./places.ts";
import { StoppedBar } from "./stopped-bar.tsx";
import { useGlobalKeys } from "./use-global-keys.ts";
import { Whoami } from "./whoami.tsx";

function SideLink({ place: { to, name, icon } }: { readonly place: Place }) {
  return (
    <Link
      to={to}
      activeOptions={{ exact: to === "/" }}
      className="flex min-h-10 items-center gap-3 rounded-base px-3 text-soft hover:bg-sunken hover:text-ink aria-[current=page]:bg-sunken aria-[current=page]:font-semibold aria-[current=page]:text-ink"
    >
      <Icon name={icon} />
      <span className="grow">{name}</span>
      <PlaceCount to={to} />
    </Link>
  );
}

function ThumbLink({ place: { to, name, icon } }: { readonly place: Place }) {
  return (
    <Link
      to={to}
      activeOptions={{ exact: to === "/" }}
      className="relative flex min-h-14 flex-col items-center justify-center gap-0.5 text-tiny text-soft aria-[current=page]:font-semibold aria-[current=page]:text-ink"
    >
      <Icon name={icon} />
      {name}
      <span className="absolute top-1 left-1/2 ml-2">
        <PlaceCount to={to} />
      </span>
    </Link>
  );
}

type SideProps = { readonly places: readonly Place[]; readonly onKeys: () => void };

function Side({ places, onKeys }: SideProps) {
  return (
    <aside className="sticky top-0 hidden h-dvh w-60 shrink-0 flex-col gap-6 border-r border-line p-4 md:flex">
      <Link to="/" className="flex items-center gap-2.5 px-2 pt-1 text-large font-semibold tracking-tight">
        <Mark />
        Holdpoint
      </Link>
      <nav aria-label="Pages" className="flex grow flex-col gap-0.5 overflow-y-auto">
        {places.map((place) => (
          <SideLink key={place.to} place={place} />
        ))}
      </nav>
      <div className="flex flex-col gap-3 px-3">
        <ConnectionState />
        <Whoami />
        <button
          type="button"
          onClick={onKeys}
          className="flex items-center gap-2 text-left text-tiny text-faint hover:text-ink"
        >
          <kbd className="rounded-small border border-line px-1.5 font-mono">?</kbd>
          all keys
        </button>
      </div>
    </aside>
  );
}

function PhoneTop() {
  return (
    <header className="sticky top-0 z-20 flex min-h-14 items-center justify-between gap-3 border-b border-line bg-ground px-4 md:hidden">
      <Link to="/" className="flex items-center gap-2 font-semibold">
        <Mark className="size-5" />
        Holdpoint
      </Link>
      <ConnectionState />
    </header>
  );
}

function ThumbBar({ places }: { readonly places: readonly Place[] }) {
  const main = places.filter(({ isMain }) => isMain === true);
  const more: Place = { to: "/more", name: "More", icon: "more", scope: "", key: "" };
  return (
    <nav
      aria-label="Main pages"
      className="fixed inset-x-0 bottom-0 z-20 grid auto-cols-fr grid-flow-col border-t border-line bg-ground pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      {[...main, more].map((place) => (
        <ThumbLink key={place.to} place={place} />
      ))}
    </nav>
  );
}

export function Shell() {
  const session = useSession();
  const places = PLACES.filter(({ scope }) => may(session, scope));
  const [isHelping, setHelping] = useState(false);
  useGlobalKeys(places, () => setHelping(true));
  return (
    <div className="flex min-h-dvh">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:bg-surface focus:p-3"
      >
        To the content
      </a>
      <Side places={places} onKeys={() => setHelping(true)} />
      <div className="flex min-w-0 grow flex-col pb-20 md:pb-0">
        <PhoneTop />
        <StoppedBar />
        <main id="main" tabIndex={-1} className="grow focus:outline-none">
          <Suspense fallback={<Loading />}>
            <Outlet />
          </Suspense>
        </main>
      </div>
      <ThumbBar places={places} />
      <Toaster />
      <KeysHelp places={places} isOpen={isHelping} onClose={() => setHelping(false)} />
    </div>
  );
}
