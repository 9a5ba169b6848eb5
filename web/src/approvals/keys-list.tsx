import { Kbd } from "../ui/button";

const KEYS = [
  ["a", "Approve this call once"],
  ["c", "Approve its class…"],
  ["p", "Always approve its class in this project…"],
  ["e", "Change what this call does, then decide…"],
  ["r", "Refuse, with a reason"],
  ["y", "Confirm the second step of a risky call"],
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
        A key decides only if no other key is pressed right before or after it. Keys are off while you type in a field, and until a card has been on
        screen for a moment, so that text meant for something else never decides.
      </p>
    </>
  );
}
