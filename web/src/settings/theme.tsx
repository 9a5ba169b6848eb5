import { Monitor, Moon, Sun } from "lucide-react";
import { useState } from "react";

import { setTheme, theme, type Theme } from "../shell/theme";
import { Part } from "./part";

const CHOICES = [
  { name: "system", words: "Use system setting", Icon: Monitor },
  { name: "light", words: "Light", Icon: Sun },
  { name: "dark", words: "Dark", Icon: Moon },
] as const;

export function ThemePart() {
  const [chosen, setChosen] = useState<Theme>(theme);
  const choose = (wanted: Theme) => {
    setTheme(wanted);
    setChosen(wanted);
  };
  return (
    <Part title="Theme">
      <fieldset className="mt-2 flex flex-wrap gap-2">
        <legend className="sr-only">Theme</legend>
        {CHOICES.map(({ name, words, Icon }) => (
          <label
            key={name}
            className={`flex cursor-pointer items-center gap-2 rounded-md border px-3 py-1.5 has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent ${chosen === name ? "border-accent bg-raised" : "border-line hover:bg-raised"}`}
          >
            <input type="radio" name="theme" className="accent-(--accent)" checked={chosen === name} onChange={() => choose(name)} />
            <Icon size={15} className="text-soft" aria-hidden />
            {words}
          </label>
        ))}
      </fieldset>
    </Part>
  );
}
