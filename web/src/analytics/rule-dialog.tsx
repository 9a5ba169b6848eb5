import { Check, Copy } from "lucide-react";
import { useRef, useState } from "react";

import type { AskedView, RuleTextView } from "../api/types";
import { Button } from "../ui/button";
import { Code } from "../ui/code";
import { Dialog } from "../ui/dialog";
import { visible } from "../words/visible";
import { summary } from "./asked";

/** The rule that ends the asking, written out. Nothing is changed here: policy files are a person's own. */
export function RuleDialog({ asked, onClose }: { asked: AskedView | undefined; onClose: () => void }) {
  return (
    <Dialog open={asked !== undefined} onClose={onClose} title="Make this a rule" wide>
      {asked && (
        <>
          <p className="mt-2 text-soft [overflow-wrap:anywhere]">
            <span className="text-ink">{visible(asked.class_words ?? `${asked.tool_name}, without a class`)}</span>, {summary(asked)}.
          </p>
          <h3 className="mt-5 font-medium">Refuse it without asking</h3>
          {asked.refusal ? <Refusal rule={asked.refusal} /> : <p className="mt-1 text-soft">No rule can say just this; refuse it when it is asked again.</p>}
          <h3 className="mt-5 font-medium">Let it pass without asking</h3>
          <p className="mt-1 text-soft">{waysToLetPass(asked)}</p>
        </>
      )}
      <div className="mt-5 flex justify-end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

/** Rules do not loosen by themselves, and no row can call low what changes something. */
function waysToLetPass(asked: AskedView): string {
  const never = "No rule does that: one can only let pass what cannot change anything.";
  if (asked.class_words === null) return `${never} And these have no class: their words say too little of what would happen, so each is looked at.`;
  const session = `${never} When it is asked again, “Approve more” lets its class pass for the rest of the session`;
  return asked.risk_level === "MEDIUM" ? `${session}; and in a conversation that begins with full autonomy, nobody is asked about medium risk.` : `${session}.`;
}

function Refusal({ rule }: { rule: RuleTextView }) {
  const text = useRef<HTMLPreElement>(null);
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(rule.text);
      setCopied(true);
    } catch {
      // Not every page may write there; then the text is chosen, and the person copies it.
      if (text.current) getSelection()?.selectAllChildren(text.current);
    }
  };
  return (
    <>
      <p className="mt-1 text-soft [overflow-wrap:anywhere]">
        {visible(rule.covers)} Add this to <Code>{rule.file}</Code> in the workspace:
      </p>
      <div className="relative mt-2">
        <pre ref={text} tabIndex={0} aria-label="The rule" className="overflow-auto rounded-md border border-line bg-bg p-3 pr-24 font-mono text-xs leading-5">
          {visible(rule.text, "\n")}
        </pre>
        <Button className="absolute top-2 right-2 px-2 py-1 text-xs" icon={copied ? <Check size={13} aria-hidden /> : <Copy size={13} aria-hidden />} onClick={() => void copy()}>
          {copied ? "Copied" : "Copy"}
        </Button>
      </div>
      <p className="mt-2 text-soft">
        It holds within a second of being saved; <Code>handrail policy check</Code> says whether the file is good.
      </p>
    </>
  );
}
