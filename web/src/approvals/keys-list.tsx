import { Kbd } from "../ui/button";

const KEYS = [
  ["a", "Approve this call, once"],
  ["c", "Approve its class…"],
  ["r", "Refuse, with a reason"],
  ["y", "Confirm, where a second step is asked for"],
  ["d", "Decide several together"],
  ["j", "Next"],
  ["k", "Previous"],
  ["?", "This list"],
] as const;

export function KeysList() {
  return (
    <>
      <dl className="mt-3 grid grid-cols-[3rem_1fr] gap-y-2">
        {KEYS.map(([key, words]) => (
          <div key={key} className="contents">
            <dt>
              <Kbd>{key}</Kbd>
              <span className="sr-only">{key}</span>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <p className="mt-4 text-soft">
        Keys that decide count only when they stand alone, with no other key right before or after; they are dead while you type, and until a card
        has been on the screen for a moment: what you typed for something else never decides.
      </p>
    </>
  );
}
