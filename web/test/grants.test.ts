import { expect, test } from "vitest";

import type { GrantView } from "../src/api/types";
import { splitByUse } from "../src/grants/idle";

const NOW = Date.parse("2026-11-18T12:00:00Z");

function grant(grant_id: string, session_id: string, created_at: string): GrantView {
  return { grant_id, session_id, created_at } as GrantView;
}

test("a grant is put aside when its session has made no call for half a day", () => {
  const given = [
    grant("fresh", "quiet", "2026-11-18T11:00:00Z"),
    grant("in use", "busy", "2026-11-01T00:00:00Z"),
    grant("left behind", "quiet", "2026-11-01T00:00:00Z"),
  ];
  const { used, idle } = splitByUse(given, new Map([["busy", { created_at: "2026-11-18T11:59:00Z" }], ["quiet", { created_at: "2026-11-01T00:01:00Z" }]]), NOW);

  expect(used.map((one) => one.grant_id)).toEqual(["fresh", "in use"]);
  expect(idle.map((one) => one.grant_id)).toEqual(["left behind"]);
});
