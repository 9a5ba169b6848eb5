import { linesOf } from "../words/diff";
import { visible } from "../words/visible";

/** A plan of commands: what runs, which file states the approval depends on, and what the sandbox allows. Any other text is drawn as it is. */
export function CommandPlan({ text }: { text: string }) {
  return (
    <div className="overflow-x-auto rounded-lg border border-line bg-panel p-4 font-mono text-[13px] leading-6">
      {linesOf(text).map((line, index) => (
        <PlanLine key={index} line={line} />
      ))}
    </div>
  );
}

const LABELLED = /^((runs|step|script|pinned|unpinned|requires|remote|box) +)(.*)$/s;
const COLOURS: Record<string, string> = { runs: "font-medium", step: "font-medium", script: "font-medium", pinned: "text-soft", unpinned: "text-medium", requires: "text-soft", remote: "font-medium", box: "text-soft" };

/** The line as it is. A long line continues below its text, not below the label. */
function PlanLine({ line }: { line: string }) {
  const [, label, name = "", rest = line] = LABELLED.exec(line) ?? [];
  return (
    <div data-line className={`min-h-6 overflow-clip pl-[9ch] -indent-[9ch] whitespace-pre-wrap [overflow-wrap:anywhere] ${COLOURS[name] ?? ""}`}>
      {label && <span className="text-soft select-none">{label}</span>}
      {name === "runs" ? <Words text={rest} /> : visible(rest, "\t")}
    </div>
  );
}

/** The program, its options, and the rest, each in its own look. */
function Words({ text }: { text: string }) {
  return text.split(/( +)/).map((word, index) => {
    const look = index === 0 ? "text-accent" : word.startsWith("-") ? "text-medium" : "";
    return (
      <span key={index} className={look}>
        {visible(word, "\t")}
      </span>
    );
  });
}
