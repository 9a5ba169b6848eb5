import { CircleStop, SendHorizontal } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { useSession } from "../api/session";
import { Button } from "../ui/button";

const MOST_CHARS = 100_000;

interface Props {
  /** The conversation whose draft it is; drafts are kept until the tab is closed. */
  draftOf: string;
  placeholder?: string;
  disabled: boolean;
  isRunning: boolean;
  onSend: (text: string) => Promise<boolean>;
  onStop: () => void;
}

export function Composer({ draftOf, placeholder = "Describe the next step", disabled, isRunning, onSend, onStop }: Props) {
  const { project } = useSession();
  const key = `handrail.draft.${project.project_id}.${draftOf}`;
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? "");
  const [busy, setBusy] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (text) sessionStorage.setItem(key, text);
    else sessionStorage.removeItem(key);
  }, [key, text]);
  useEffect(() => {
    // On a touch screen this would open the keyboard over the page.
    if (matchMedia("(hover: hover)").matches) box.current?.focus();
  }, []);
  const ready = !disabled && !busy && text.trim() !== "";
  const send = async () => {
    if (!ready) return;
    setBusy(true);
    if (await onSend(text.trim())) {
      setText("");
      // Also where sending has led to another page, and nothing is drawn here any more.
      sessionStorage.removeItem(key);
    }
    setBusy(false);
    box.current?.focus();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      className="rounded-xl border border-line bg-panel p-2 focus-within:border-accent"
    >
      <label>
        <span className="sr-only">Message to the agent</span>
        <textarea
          ref={box}
          rows={2}
          maxLength={MOST_CHARS}
          value={text}
          placeholder={isRunning ? "Add a message; the agent reads it while it works" : placeholder}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            void send();
          }}
          className="field-sizing-content max-h-56 min-h-12 w-full resize-none bg-transparent px-2 py-1 outline-none placeholder:text-soft"
        />
      </label>
      <div className="flex items-center gap-2">
        <p className="px-2 text-xs text-soft max-sm:hidden">Enter sends, Shift+Enter starts a new line</p>
        <div className="ml-auto flex gap-2">
          {isRunning && (
            <Button look="danger" icon={<CircleStop size={15} aria-hidden />} onClick={onStop}>
              Stop
            </Button>
          )}
          <Button look="primary" type="submit" disabled={!ready} icon={<SendHorizontal size={15} aria-hidden />}>
            Send
          </Button>
        </div>
      </div>
    </form>
  );
}
