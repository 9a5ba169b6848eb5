// Prints the string literals and the JSX text of TypeScript files, one JSON object per line:
// node shown-texts.mjs FILE...
import { readFileSync } from "node:fs";
import { parseSync } from "vite";

function* textsIn(node) {
  if (node.type === "ImportDeclaration") return;
  if (node.type === "JSXText" || (node.type === "Literal" && typeof node.value === "string")) {
    yield [node.start, node.value];
  } else if (node.type === "TemplateElement") {
    yield [node.start, node.value.cooked];
  }
  for (const child of Object.values(node).flat()) {
    if (typeof child?.type === "string") yield* textsIn(child);
  }
}

for (const file of process.argv.slice(2)) {
  const source = readFileSync(file, "utf-8");
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  for (const [start, raw] of textsIn(program)) {
    const text = raw.trim();
    const at = start + raw.length - raw.trimStart().length;
    const line = source.slice(0, at).split("\n").length;
    if (text !== "") console.log(JSON.stringify({ file, line, text }));
  }
}
