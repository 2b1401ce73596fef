/** Runs something while a page is awake, and again whenever it wakes. */
type Run = (signal: AbortSignal) => void;

export type Spells = { readonly begin: () => void; readonly end: () => void };

function spellsOf(run: Run, signal: AbortSignal): Spells {
  let spell: AbortController | undefined;
  return {
    begin() {
      if (spell !== undefined || signal.aborted) return;
      spell = new AbortController();
      run(AbortSignal.any([signal, spell.signal]));
    },
    end() {
      spell?.abort();
      spell = undefined;
    },
  };
}

/** Not while the browser keeps the page aside, or has put it to sleep. */
export function whileAwake(run: Run, signal: AbortSignal): void {
  const { begin, end } = spellsOf(run, signal);
  window.addEventListener("pagehide", end, { signal });
  window.addEventListener("pageshow", begin, { signal });
  document.addEventListener("freeze", end, { signal });
  document.addEventListener("resume", begin, { signal });
  begin();
}

/** Only while somebody can see it. */
export function whileShown(run: Run, signal: AbortSignal): void {
  const { begin, end } = spellsOf(run, signal);
  const turn = () => (document.hidden ? end() : begin());
  document.addEventListener("visibilitychange", turn, { signal });
  turn();
}
