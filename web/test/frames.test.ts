import { expect, test } from "vitest";

import { Frames } from "../src/api/frames";

const TOLD = ': handrail 1\nid: 7\nretry: 1000\n\nid: 8\nevent: tool.status\ndata: {"a": "x: y"}\n\n: ping\n\nevent: chat.delta\ndata: 1\ndata: 2\n\n';

test("events come out whole, however the text was cut", () => {
  for (let size = 1; size < TOLD.length; size += 1) {
    const frames = new Frames();
    const found = [];
    for (let at = 0; at < TOLD.length; at += size) found.push(...frames.take(TOLD.slice(at, at + size)));
    expect(found).toEqual([
      { name: "tool.status", data: '{"a": "x: y"}' },
      { name: "chat.delta", data: "1\n2" },
    ]);
    expect(frames.lastId).toBe("8");
  }
});

test("what was half told when the line ended is not glued to what comes next", () => {
  const frames = new Frames();
  frames.take("id: 8\nevent: half\nda");

  frames.begin();

  expect(frames.take("id: 9\nevent: whole\ndata: 1\n\n")).toEqual([{ name: "whole", data: "1" }]);
  expect(frames.lastId).toBe("9");
});
