import { useQuery } from "@tanstack/react-query";
import { GraduationCap, TriangleAlert } from "lucide-react";
import { useState } from "react";

import { ask } from "../api/client";
import { usePath } from "../api/session";
import type { SkillsResponse, SkillView } from "../api/types";
import { Answer } from "../ui/answer";
import { Empty } from "../ui/empty";
import { Page } from "../ui/page";
import { Search } from "../ui/search";
import { matches } from "../words/matches";
import { visible } from "../words/visible";

export default function SkillsPage() {
  const path = usePath();
  const [search, setSearch] = useState("");
  const skills = useQuery({ queryKey: ["skills", path("")], queryFn: () => ask<SkillsResponse>("GET", path("/skills")) });
  return (
    <Page
      title="Skills"
      about="Instructions an agent loads when a task calls for them."
      tools={<Search label="Search skills" value={search} onChange={setSearch} className="w-full sm:w-64" />}
    >
      <Answer to={skills}>{(told) => <Skills told={told} search={search} />}</Answer>
    </Page>
  );
}

function Skills({ told, search }: { told: SkillsResponse; search: string }) {
  const found = told.skills.filter((one) => matches(search, one.name, one.description));
  return (
    <>
      {told.warnings.map((warning) => (
        <p key={warning} className="mb-3 flex gap-2 rounded-md border border-medium/40 bg-medium/10 px-3 py-2 [overflow-wrap:anywhere]">
          <TriangleAlert size={16} className="mt-0.5 shrink-0 text-medium" aria-hidden />
          {visible(warning)}
        </p>
      ))}
      {found.length === 0 ? (
        <Empty icon={<GraduationCap size={20} />} title={search ? "No skill has these words" : "No skills yet"} />
      ) : (
        <ul className="divide-y divide-line rounded-lg border border-line bg-panel">
          {found.map((one) => (
            <Skill key={one.name} skill={one} />
          ))}
        </ul>
      )}
    </>
  );
}

function Skill({ skill }: { skill: SkillView }) {
  return (
    <li className="px-4 py-3">
      <h2 className="font-medium">{visible(skill.name)}</h2>
      <p className="text-soft [overflow-wrap:anywhere]">{visible(skill.description)}</p>
    </li>
  );
}
