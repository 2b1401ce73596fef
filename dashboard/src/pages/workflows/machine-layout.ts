/** Where the seven states and the moves between them stand in the drawing. */
import type { WorkflowStatus } from "../../api/workflows.ts";

export const SIZE = { width: 840, height: 268 } as const;
export const BOX = { width: 148, height: 44 } as const;

type Point = { readonly x: number; readonly y: number };

/** Middles of the boxes. */
export const PLACES: { readonly [status in WorkflowStatus]: Point } = {
  initialized: { x: 82, y: 52 },
  executing: { x: 316, y: 52 },
  settling: { x: 550, y: 52 },
  completed: { x: 758, y: 52 },
  awaiting_approval: { x: 200, y: 168 },
  rolling_back: { x: 432, y: 168 },
  failed: { x: 758, y: 168 },
};

export type Move = { readonly from: WorkflowStatus; readonly to: WorkflowStatus; readonly path: string };

const move = (from: WorkflowStatus, to: WorkflowStatus, path: string): Move => ({ from, to, path });

/** Every move that exists. Those that go both ways stand side by side. */
export const MOVES: readonly Move[] = [
  move("initialized", "executing", "M156 52 H240"),
  move("executing", "settling", "M390 52 H474"),
  move("settling", "completed", "M624 52 H682"),
  move("executing", "awaiting_approval", "M266 74 C252 104 236 116 226 144"),
  move("awaiting_approval", "executing", "M254 146 C264 124 280 110 294 76"),
  move("executing", "rolling_back", "M338 74 C352 110 368 124 378 144"),
  move("rolling_back", "executing", "M406 146 C396 116 380 104 366 76"),
  move("awaiting_approval", "rolling_back", "M274 168 H356"),
  move("rolling_back", "failed", "M506 168 H682"),
  move("executing", "failed", "M390 62 C470 92 590 128 684 154"),
  move("settling", "failed", "M596 74 C630 100 690 116 722 144"),
  move("initialized", "failed", "M82 74 V222 C82 244 96 246 120 246 H720 C750 246 758 232 758 194"),
  move("awaiting_approval", "failed", "M200 190 V206 C200 222 210 226 230 226 H700 C728 226 736 214 738 194"),
];
