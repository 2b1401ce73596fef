// One install or build of a kind at a time. The holder touches its lock; one that is not touched any more was left by a crash.
import fs from "node:fs";

const LOCK = ".install.lock";
const TOUCH_MS = 1_000;
const STALE_MS = 15_000;
const RETRY_MS = 200;

export async function withLock(work, lock = LOCK) {
  await acquire(lock);
  const touch = setInterval(() => fs.utimes(lock, new Date(), new Date(), () => {}), TOUCH_MS);
  const leave = () => release(lock);
  process.on("exit", leave);
  try {
    return await work();
  } finally {
    clearInterval(touch);
    process.off("exit", leave);
    leave();
  }
}

async function acquire(lock) {
  for (let attempt = 0; !tryToAcquire(lock); attempt += 1) {
    if (attempt === 0) console.log("waiting for another installation or build in this folder");
    removeIfStale(lock);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

function tryToAcquire(lock) {
  try {
    fs.mkdirSync(lock);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

function removeIfStale(lock) {
  const touched = fs.statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
  if (touched !== undefined && Date.now() - touched > STALE_MS) release(lock);
}

function release(lock) {
  fs.rmSync(lock, { recursive: true, force: true });
}
