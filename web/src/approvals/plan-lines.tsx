import { Link } from "../router";
import type { Extent } from "../words/diff";
import { fileOf, stepsIn, type Step } from "../words/evidence";
import { visible } from "../words/visible";
import { Extents } from "./diff";

/** Where the diff of a file is drawn, and how much it changes. */
export interface Drawn {
  path: string;
  id: string;
  extent: Extent;
}

interface Props {
  lines: string[];
  /** By the path of the file. */
  drawn: ReadonlyMap<string, Drawn>;
}

/** What runs or changes, line by line: commands and what they depend on, the steps of a draft, the list of changes. Any other text is drawn as it is. */
export function PlanLines({ lines, drawn }: Props) {
  const paths = [...drawn.keys()];
  const steps = stepsIn(lines);
  return (
    <div className="overflow-x-auto rounded-lg border border-line bg-panel p-4 font-mono text-[13px] leading-6">
      {lines.map((line, index) => (
        <div key={index} data-line className="min-h-6 overflow-clip pl-[9ch] -indent-[9ch] whitespace-pre-wrap [overflow-wrap:anywhere]">
          <Content line={line} step={steps.get(line)} file={drawn.get(fileOf(line, paths) ?? "")} />
        </div>
      ))}
    </div>
  );
}

function Content({ line, step, file }: { line: string; step: Step | undefined; file: Drawn | undefined }) {
  if (step) return <StepLine step={step} />;
  return file ? <ChangedFile line={line} file={file} /> : <Labelled line={line} />;
}

function StepLine({ step: { number, label, title, ending, toolId } }: { step: Step }) {
  return (
    <>
      <span className="text-soft select-none">{label}</span>
      {toolId === null ? (
        <span className="font-medium">{visible(title, "\t")}</span>
      ) : (
        <Link href={`/activity/${toolId}`} title={`Output of step ${number}`} className={`font-medium ${LINK}`}>
          {visible(title, "\t")}
        </Link>
      )}
      {ending && <span className="font-medium text-critical">{ending}</span>}
    </>
  );
}

const LINK = "rounded-xs underline decoration-soft underline-offset-2 hover:text-accent";
const KINDS: Record<string, string> = { added: "text-low", deleted: "text-critical" };

function ChangedFile({ line, file }: { line: string; file: Drawn }) {
  const at = line.indexOf("] ") + 2;
  const jump = () => {
    const diff = document.getElementById(file.id);
    diff?.scrollIntoView({ block: "start" });
    diff?.focus({ preventScroll: true });
  };
  return (
    <>
      <span data-text className={KINDS[line.slice(1, at - 2)] ?? "text-soft"}>
        {line.slice(0, at)}
      </span>
      <button type="button" data-text onClick={jump} className={`text-left indent-0 [overflow-wrap:anywhere] whitespace-pre-wrap ${LINK}`}>
        {visible(file.path)}
      </button>
      <span data-text>{visible(line.slice(at + file.path.length), "\t")}</span>{" "}
      <span className="ml-2 text-xs">
        <Extents extent={file.extent} />
      </span>
    </>
  );
}

const LABELLED = /^((runs|script|calls|pinned|unpinned|requires|remote|account|box) +|\[(git|git, \w[\w ]*)\] )(.*)$/s;
const LOOKS: Record<string, string> = {
  runs: "font-medium",
  script: "font-medium",
  calls: "text-soft",
  pinned: "text-soft",
  unpinned: "text-medium",
  requires: "text-soft",
  remote: "font-medium",
  account: "font-medium",
  box: "text-soft",
  git: "font-medium",
  "git, setting": "font-medium text-medium",
  "git, LOST": "font-medium text-critical",
  "git, never applied": "font-medium text-critical",
};

/** The line as it is. A long line continues below its text, not below the label. */
function Labelled({ line }: { line: string }) {
  const [, label, plan, git, rest = line] = LABELLED.exec(line) ?? [];
  const name = plan ?? git ?? "";
  return (
    <span className={LOOKS[name] ?? ""}>
      {label && <span className="text-soft select-none">{label}</span>}
      {name === "runs" ? <Words text={rest} /> : visible(rest, "\t")}
    </span>
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
