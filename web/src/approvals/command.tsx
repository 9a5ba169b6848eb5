import { visible } from "../words/visible";

/** A plan as the survey tells it: what runs, which files it is bound to, and what it can do at most. */
export function CommandPlan({ text }: { text: string }) {
  return (
    <div className="overflow-x-auto rounded-lg border border-line bg-panel p-4 font-mono text-[13px] leading-6">
      {text.split("\n").map((line, index) => (
        <PlanLine key={index} line={line} />
      ))}
    </div>
  );
}

const LABELLED = /^(runs|bound|unbound|remote|box)( +)(.*)$/s;

function PlanLine({ line }: { line: string }) {
  const labelled = LABELLED.exec(line);
  if (!labelled) return <div className="overflow-clip whitespace-pre-wrap [overflow-wrap:anywhere]">{visible(line, "\t")}</div>;
  const [, label, , rest] = labelled as unknown as [string, string, string, string];
  const colour = { runs: "font-medium", bound: "text-soft", unbound: "text-medium", remote: "font-medium", box: "text-soft" }[label];
  return (
    <div className={`flex gap-3 overflow-clip ${colour}`}>
      <span className="w-16 shrink-0 text-soft select-none">{label}</span>
      <span className="whitespace-pre-wrap [overflow-wrap:anywhere]">{label === "runs" ? <Words text={rest} /> : visible(rest)}</span>
    </div>
  );
}

/** The program, its options, and the rest, each in its own look. */
function Words({ text }: { text: string }) {
  return text.split(/( +)/).map((word, index) => {
    const look = index === 0 ? "text-accent" : word.startsWith("-") ? "text-medium" : "";
    return (
      <span key={index} className={look}>
        {visible(word)}
      </span>
    );
  });
}
