/**
 * Virtual time and the one queue of everything that may happen next. Delays are drawn by chance, so the order is too.
 *
 * Z1. One task runs at a time; before the next, a turn of the event loop lets every microtask drain.
 * Z2. A task of a process that crashed never runs; one of a frozen process runs when it thaws.
 */
export type Owner = { alive: boolean; frozenUntil: number };

type Task = {
  readonly at: number;
  readonly order: number;
  readonly owner: Owner | null;
  run: (() => void) | null;
};

export type Scheduler = {
  /** True time in milliseconds since the simulation began. */
  now(): number;
  /** Answers a function that takes the task back. */
  after(ms: number, owner: Owner | null, run: () => void): () => void;
  /** Outside any process. */
  sleep(ms: number): Promise<void>;
  /** Runs until `done` answers true, the time is over or nothing is left to do. */
  run(until: number, done: () => boolean): Promise<void>;
  steps(): number;
};

function isBefore(a: Task, b: Task): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Task[], task: Task): void {
  let at = heap.push(task) - 1;
  while (at > 0) {
    const up = (at - 1) >> 1;
    const parent = heap[up] as Task;
    if (!isBefore(task, parent)) break;
    heap[at] = parent;
    at = up;
  }
  heap[at] = task;
}

function pop(heap: Task[]): Task | undefined {
  const top = heap[0];
  const last = heap.pop();
  if (top === undefined || last === undefined || heap.length === 0) return top;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Task, heap[child] as Task)) child++;
    if (!isBefore(heap[child] as Task, last)) break;
    heap[at] = heap[child] as Task;
    at = child;
  }
  heap[at] = last;
  return top;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function createScheduler(afterStep: () => void): Scheduler {
  const heap: Task[] = [];
  let now = 0;
  let order = 0;
  let steps = 0;

  function add(at: number, owner: Owner | null, run: () => void): Task {
    const task: Task = { at, order: order++, owner, run };
    push(heap, task);
    return task;
  }

  /** Answers whether anything ran. */
  function step(task: Task): boolean {
    const { owner, run } = task;
    if (run === null || owner?.alive === false) return false;
    if (owner !== null && owner.frozenUntil > now) {
      add(owner.frozenUntil, owner, run);
      return false;
    }
    steps++;
    run();
    return true;
  }

  return {
    now: () => now,
    after(ms, owner, run) {
      const task = add(now + Math.max(0, ms), owner, run);
      return () => {
        task.run = null;
      };
    },
    sleep: (ms) => new Promise((resolve) => void add(now + ms, null, resolve)),
    async run(until, done) {
      while (!done()) {
        const next = heap[0];
        if (next === undefined || next.at > until) break;
        pop(heap);
        now = Math.max(now, next.at);
        if (!step(next)) continue;
        await turn();
        afterStep();
      }
    },
    steps: () => steps,
  };
}
