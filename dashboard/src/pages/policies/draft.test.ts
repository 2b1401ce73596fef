import assert from "node:assert/strict";
import { test } from "node:test";
import { beginDraft, chooseAnew, draftNow, setDraft } from "./draft.ts";

test("a version that is asked for anew leaves what was written since; another one, or the same chosen again, does not", () => {
  beginDraft("one", "default: block");
  assert.equal(draftNow(), "default: block");
  setDraft("default: escalate");
  beginDraft("one", "default: block");
  assert.equal(draftNow(), "default: escalate");
  beginDraft("two", "default: approve");
  assert.equal(draftNow(), "default: approve");
  setDraft("default: escalate");
  chooseAnew();
  beginDraft("two", "default: approve");
  assert.equal(draftNow(), "default: approve");
});
