import type { Writer } from "./group-commit.ts";

/** Writes something in the next batch; answers after its commit. */
export function inTransaction<Answer>(writer: Writer, write: () => Answer): Promise<Answer> {
  return new Promise((resolve, refuse) => {
    let answer: Answer;
    const prepare = () => ({
      write: () => {
        answer = write();
      },
      answer: () => resolve(answer),
    });
    writer.submit({ prepare, refuse });
  });
}
