/** The time of this process, which tests set: a history is written on the days that it is of. Timers are not touched. */
const wall = Date.now;

export type SetTime = {
  /** From now on it is this time, and it stands still. */
  at(ms: number): void;
  /** It goes on from where it was set. */
  run(): void;
  /** What the machine's clock says. */
  restore(): void;
};

export function setTime(): SetTime {
  return {
    at(ms) {
      Date.now = () => ms;
    },
    run() {
      const offset = Date.now() - wall();
      Date.now = () => wall() + offset;
    },
    restore() {
      Date.now = wall;
    },
  };
}

/** Time that moves on by a millisecond whenever it is read, and by nothing else: ids sort in the order in which they were made. */
export function tickingTime(): SetTime {
  let last = wall();
  const tick = (): number => {
    last += 1;
    return last;
  };
  return {
    at(ms) {
      last = ms;
      Date.now = tick;
    },
    run() {
      Date.now = tick;
    },
    restore() {
      Date.now = wall;
    },
  };
}
