import type { MessageView } from "../api/types";
import { moment } from "../words/time";
import { visible } from "../words/visible";
import { Markdown } from "./markdown";

/** What a person has typed stays as it was typed; what the model says is markdown. */
export function Said({ by, text, at }: { by: MessageView["role"]; text: string; at: string }) {
  if (by === "user") {
    return (
      <div className="ml-auto w-fit max-w-[85%] rounded-xl rounded-br-sm bg-raised px-3.5 py-2" title={moment(at)}>
        <h3 className="sr-only">You said</h3>
        <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{visible(text, "\n\t")}</p>
      </div>
    );
  }
  return (
    <div>
      <h3 className="sr-only">The agent said</h3>
      <Markdown text={text} />
    </div>
  );
}
