import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { useAutonomy } from "../api/autonomy";
import { ask } from "../api/client";
import { usePath } from "../api/session";
import { AUTONOMIES, type Autonomy, type AutonomyResponse } from "../api/types";
import { AUTONOMY } from "../policy/autonomy";
import { Answer } from "../ui/answer";
import { visible } from "../words/visible";
import { Part } from "./part";

/** What agents of the project may do without asking. It counts as soon as the server has stored it. */
export function AutonomyPart() {
  const path = usePath();
  const queries = useQueryClient();
  const present = useAutonomy();
  const [said, setSaid] = useState("");
  const [trouble, setTrouble] = useState("");
  const choose = async (autonomy: Autonomy) => {
    setSaid("");
    setTrouble("");
    try {
      queries.setQueryData(["autonomy", path("")], await ask<AutonomyResponse>("PUT", path("/autonomy"), { autonomy }));
      setSaid(`Saved: ${AUTONOMY[autonomy].words}. It counts for calls from now on.`);
    } catch (error) {
      setTrouble(error instanceof Error ? visible(error.message) : String(error));
    }
    await queries.invalidateQueries({ queryKey: ["policy"] });
  };
  return (
    <Part title="Autonomy" about="What agents of this project may do without asking. A conversation can have its own setting, and policy files can only lower it.">
      <Answer to={present}>
        {({ autonomy }) => (
          <fieldset className="mt-2 space-y-1">
            <legend className="sr-only">Autonomy</legend>
            {AUTONOMIES.map(([name, means]) => (
              <label key={name} className={`flex cursor-pointer gap-2 rounded-md border px-3 py-1.5 ${autonomy === name ? "border-accent bg-raised" : "border-line hover:bg-raised"}`}>
                <input type="radio" name="autonomy" className="accent-(--accent)" checked={autonomy === name} onChange={() => void choose(name)} />
                <span>
                  <span className="block font-medium">{AUTONOMY[name].words}</span>
                  <span className="block text-soft">{means}</span>
                </span>
              </label>
            ))}
          </fieldset>
        )}
      </Answer>
      <p role="status" className={said ? "mt-2 text-soft" : "sr-only"}>
        {said}
      </p>
      {trouble && (
        <p role="alert" className="mt-2 text-critical">
          {trouble}
        </p>
      )}
    </Part>
  );
}
