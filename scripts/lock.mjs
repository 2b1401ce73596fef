// One install or build at a time. The holder touches its lock; one that is not touched any more was left by a crash.
import fs from "node:fs";

const LOCK = ".install.lock";
const TOUCH_MS = 1_000;
const STALE_MS = 15_000;
const RETRY_MS = 200;

export async function withLock(work) {
  await acquire();
  const touch = setInterval(() => fs.utimes(LOCK, new Date(), new Date(), () => {}), TOUCH_MS);
  process.on("exit", release);
  try {
    return await work();
  } finally {
    clearInterval(touch);
    process.off("exit", release);
    release();
  }
}

async function acquire() {
  for (let attempt = 0; !tryToAcquire(); attempt += 1) {
    if (attempt === 0) console.log("waiting for another installation or build in this folder");
    removeIfStale();
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

function tryToAcquire() {
  try {
    fs.mkdirSync(LOCK);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

function removeIfStale() {
  const touched = fs.statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs;
  if (touched !== undefined && Date.now() - touched > STALE_MS) release();
}

function release() {
  fs.rmSync(LOCK, { recursive: true, force: true });
}
