import { Link } from "../router";
import { List } from "../ui/list";
import { several } from "../words/number";
import { moment } from "../words/time";
import { visible } from "../words/visible";

const MOST_FILES = 5;
// How the id of a step begins that a program has made: its output is on the person's terminal.
const PROGRAM_RUN = "run-";

/** A step as `show_draft` tells it. */
export interface ShownStep {
  number: number;
  tool_id: string;
  title: string;
  at: string;
  exit_code: number | null;
  changes: { path: string; what: string }[];
  change_count: number;
  git: string[];
  merged: string[];
}

export function endingOf({ exit_code }: ShownStep): string {
  return exit_code ? ` (exit code ${exit_code})` : "";
}

/** The steps in their order, each with what it changed and the way to its output. */
export function History({ steps }: { steps: ShownStep[] }) {
  return (
    <List label="Steps">
      {steps.map((step) => (
        <li key={step.number} className="flex gap-3 px-4 py-2">
          <span className="min-w-6 text-right text-soft tabular-nums">{step.number}</span>
          <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
            <p>
              <span className="as-code">{visible(step.title)}</span>
              <span className="font-medium text-critical">{endingOf(step)}</span>
            </p>
            {[...step.git, told(step)].filter(Boolean).map((line) => (
              <p key={line} className="text-xs text-soft">
                {visible(line)}
              </p>
            ))}
          </div>
          <span className="shrink-0 text-right text-xs text-soft">
            {moment(step.at)}
            {!step.tool_id.startsWith(PROGRAM_RUN) && (
              <Link href={`/activity/${step.tool_id}`} aria-label={`Output of step ${step.number}`} className="block text-accent underline underline-offset-2">
                Output
              </Link>
            )}
          </span>
        </li>
      ))}
    </List>
  );
}

/** `changed src/a.py, created b.py and 3 more` */
function told({ changes, change_count }: ShownStep): string {
  const first = changes.slice(0, MOST_FILES).map(({ path, what }) => `${what} ${path}`);
  const more = change_count - first.length;
  return more > 0 ? `${first.join(", ")} and ${several(more, "more", "more")}` : first.join(", ");
}
