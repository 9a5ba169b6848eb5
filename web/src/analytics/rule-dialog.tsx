import { Check, Copy } from "lucide-react";
import { useRef, useState } from "react";

import type { AskedView, RuleTextView } from "../api/types";
import { Button } from "../ui/button";
import { Code } from "../ui/code";
import { Dialog } from "../ui/dialog";
import { visible } from "../words/visible";
import { summary } from "./asked";
import { wayOut } from "./way-out";

/** How to stop being asked about a kind of call. Shows text to copy and changes nothing. */
export function RuleDialog({ asked, onClose }: { asked: AskedView | undefined; onClose: () => void }) {
  return (
    <Dialog open={asked !== undefined} onClose={onClose} title={asked && !wayOut(asked)?.refuses ? "Stop being asked" : "Always refuse this"} wide>
      {asked && (
        <>
          <p className="mt-2 text-soft [overflow-wrap:anywhere]">
            <span className="text-ink">{visible(asked.class_words ?? `Other calls of ${asked.tool_name}`)}</span>, {summary(asked)}.
          </p>
          {asked.refused > 0 && asked.refusal && (
            <>
              <h3 className="mt-5 font-medium">Refuse without asking</h3>
              <Refusal rule={asked.refusal} />
            </>
          )}
          {asked.class_words !== null && (
            <>
              <h3 className="mt-5 font-medium">Allow without asking</h3>
              <p className="mt-1 text-soft">{waysToAllow(asked)}</p>
            </>
          )}
        </>
      )}
      <div className="mt-5 flex justify-end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

/** A project's rules can only make things stricter, so there is no rule to copy here. */
function waysToAllow(asked: AskedView): string {
  const session = "When you are asked again, choose “Approve more” to allow this kind of call for the rest of the session.";
  return asked.risk_level === "MEDIUM" ? `${session} A conversation started with full autonomy does not ask about medium risk.` : session;
}

function Refusal({ rule }: { rule: RuleTextView }) {
  const text = useRef<HTMLPreElement>(null);
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(rule.text);
      setCopied(true);
    } catch {
      // Without access to the clipboard, select the text instead.
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
        It takes effect within a second of saving. Check the file with <Code>handrail policy check</Code>.
      </p>
    </>
  );
}
