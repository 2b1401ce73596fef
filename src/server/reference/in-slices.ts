/** Work that takes long, a step at a time: between two of them everybody else's requests have their turn. */
export async function inSlices<Result>(steps: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
