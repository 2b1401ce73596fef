/**
 * The end of a session, wherever it is noticed: the page is left for the one behind login links, which leads back to it.
 *
 * L1. Whatever is answered with 401 ends the session for this page: nobody goes on reading or deciding in it.
 * L2. Other tabs are told, and ask for themselves whether they are still logged in.
 */
const CHANNEL = "holdpoint.session";
const others = "BroadcastChannel" in window ? new BroadcastChannel(CHANNEL) : null;

let wasLoggedIn = false;
let isLeaving = false;

/** Whoever is sent to log in again is told why. */
export function rememberLogin(): void {
  wasLoggedIn = true;
}

/** Whoever has written something may be asked by the browser, and stay: then they see what is answered, and are led there again later. */
const LEAVING_MS = 2_000;
const AGAIN_MS = 60_000;

const after = (ms: number) => new Promise((resolve) => window.setTimeout(resolve, ms));

/** To the page behind login links, and back to where one wanted to go. */
export function goToLogin(): void {
  if (isLeaving) return;
  isLeaving = true;
  void after(AGAIN_MS).then(() => {
    isLeaving = false;
  });
  others?.postMessage("left");
  const { pathname, search } = window.location;
  const why = wasLoggedIn ? "out=1&" : "";
  window.location.assign(`/login?${why}to=${encodeURIComponent(`${pathname}${search}`)}`);
}

/** Another tab has left. */
export function onLeft(ask: () => void): void {
  others?.addEventListener("message", ask);
}

/** The browser is on its way to another page: nothing more is shown of this one, nor of the answer, unless it stays. */
export const leavingOn401 =
  (ask: typeof fetch): typeof fetch =>
  async (...asked) => {
    const answer = await ask(...asked);
    if (answer.status !== 401) return answer;
    goToLogin();
    await after(LEAVING_MS);
    return answer;
  };
